// SPDX-License-Identifier: Apache-2.0
#include "core/llm/answer_bytes.h"

#include "core/base/text.h"

#include <algorithm>
#include <cstdint>

namespace espalier::llm {
namespace {

void append(std::string& text, std::uint32_t point)
{
    const auto put = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
        point = 0xfffd;
    }
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xc0 | (point >> 6));
        put(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        put(0xe0 | (point >> 12));
        put(0x80 | ((point >> 6) & 0x3f));
        put(0x80 | (point & 0x3f));
    } else {
        put(0xf0 | (point >> 18));
        put(0x80 | ((point >> 12) & 0x3f));
        put(0x80 | ((point >> 6) & 0x3f));
        put(0x80 | (point & 0x3f));
    }
}

/// How a text's characters lie in its bytes.
struct Layout {
    std::size_t width = 1; ///< bytes of a unit
    bool bigEndian = false;
    std::size_t skip = 0; ///< of the mark
};

Layout layoutOf(std::string_view bytes)
{
    using namespace std::literals;
    if (bytes.starts_with("\xff\xfe\0\0"sv)) {
        return {4, false, 4};
    }
    if (bytes.starts_with("\0\0\xfe\xff"sv)) {
        return {4, true, 4};
    }
    if (bytes.starts_with("\xff\xfe"sv)) {
        return {2, false, 2};
    }
    if (bytes.starts_with("\xfe\xff"sv)) {
        return {2, true, 2};
    }
    if (bytes.starts_with("\xef\xbb\xbf"sv)) {
        return {1, false, 3};
    }
    // Without a mark: of English text and code nearly every other byte is zero.
    const std::string_view sample = bytes.substr(0, 512);
    std::size_t even = 0, odd = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        (i % 2 == 0 ? even : odd) += sample[i] == '\0' ? 1 : 0;
    }
    if (odd * 10 >= sample.size() * 4 && even * 10 < sample.size()) {
        return {2, false, 0};
    }
    if (even * 10 >= sample.size() * 4 && odd * 10 < sample.size()) {
        return {2, true, 0};
    }
    return {};
}

std::string fromUnits(std::string_view bytes, const Layout& layout)
{
    std::string text;
    const auto unit = [&](std::size_t at) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < layout.width; ++i) {
            const std::size_t from = layout.bigEndian ? at + i : at + layout.width - 1 - i;
            value = value << 8 | static_cast<unsigned char>(bytes[from]);
        }
        return value;
    };
    for (std::size_t at = layout.skip; at + layout.width <= bytes.size(); at += layout.width) {
        std::uint32_t point = unit(at);
        const bool high = layout.width == 2 && point >= 0xd800 && point < 0xdc00;
        if (high && at + 4 <= bytes.size()) {
            const std::uint32_t low = unit(at + 2);
            if (low >= 0xdc00 && low < 0xe000) {
                point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
                at += 2;
            }
        }
        append(text, point);
    }
    return text;
}

/// Windows-1252, of which Latin-1 is a part but for the 32 codes that nobody writes.
std::string fromLatin(std::string_view bytes)
{
    static constexpr std::uint16_t upper[32] = {0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
                                                0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0x8d,   0x17d,  0x8f,
                                                0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                                0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};
    std::string text;
    for (const char one : bytes) {
        const auto byte = static_cast<unsigned char>(one);
        append(text, byte >= 0x80 && byte < 0xa0 ? upper[byte - 0x80] : byte);
    }
    return text;
}

/// How many bytes of a text belong to no character of UTF-8, and how many of its characters take several bytes.
struct Utf8Count {
    std::size_t wrong = 0, wide = 0;
};

Utf8Count utf8In(std::string_view bytes)
{
    Utf8Count count;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto lead = static_cast<unsigned char>(bytes[i]);
        if (lead < 0x80) {
            continue;
        }
        const std::size_t more = lead >= 0xc2 && lead < 0xe0   ? 1
                                 : lead >= 0xe0 && lead < 0xf0 ? 2
                                 : lead >= 0xf0 && lead < 0xf5 ? 3
                                                               : 0;
        std::size_t found = 0;
        while (found < more && i + found + 1 < bytes.size() &&
               (static_cast<unsigned char>(bytes[i + found + 1]) & 0xc0) == 0x80) {
            ++found;
        }
        const bool whole = more > 0 && found == more;
        count.wrong += whole ? 0 : 1;
        count.wide += whole ? 1 : 0;
        i += whole ? more : 0;
    }
    return count;
}

/// Zero bytes, marks, carriage returns and the sequences by which terminals are told colours and cursor moves.
std::string plain(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char byte = text[i];
        if (byte == '\0' || text.substr(i, 3) == "\xef\xbb\xbf") {
            i += byte == '\0' ? 0 : 2;
        } else if (byte == '\r') {
            if (i + 1 == text.size() || text[i + 1] != '\n') {
                out += '\n';
            }
        } else if (byte == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
            const std::size_t end = text.find_first_not_of("0123456789;?", i + 2);
            i = end == std::string_view::npos ? text.size() : end;
        } else {
            out += byte;
        }
    }
    return out;
}

} // namespace

std::string answerTextOf(std::string_view bytes)
{
    const Layout layout = layoutOf(bytes);
    if (layout.width > 1) {
        return plain(fromUnits(bytes, layout));
    }
    const std::string_view rest = bytes.substr(layout.skip);
    const Utf8Count count = utf8In(rest);
    if (count.wrong > count.wide) {
        return plain(fromLatin(rest));
    }
    return count.wrong == 0 ? plain(rest) : printable(plain(rest), rest.size() * 3); // a character was cut somewhere
}

} // namespace espalier::llm
