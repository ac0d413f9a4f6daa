// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <array>
#include <cmath>
#include <fmt/format.h>

namespace espalier {

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string shellWord(std::string_view text)
{
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
    if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) {
        return std::string(text);
    }
    std::string word = "'"; // 'it'\''s'
    for (const char c : text) {
        word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return word + "'";
}

std::vector<std::string_view> splitOn(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    for (;;) {
        const auto at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(at + 1);
    }
}

std::vector<std::string_view> splitLines(std::string_view text)
{
    std::vector<std::string_view> lines = splitOn(text, '\n');
    if (!lines.empty() && lines.back().empty()) {
        lines.pop_back();
    }
    for (std::string_view& line : lines) {
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
    }
    return lines;
}

namespace {

/// Length of the valid UTF-8 sequence at the start of `text`, 0 when there is none.
std::size_t sequenceLength(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || text.size() < length) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
    const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
    const bool tooLarge = lead == 0xf4 && byte(1) >= 0x90;
    return overlong || surrogate || tooLarge ? 0 : length;
}

} // namespace

std::string printable(std::string_view bytes, std::size_t limit)
{
    std::string text;
    text.reserve(std::min(bytes.size(), limit));
    while (!bytes.empty()) {
        if (text.size() >= limit) {
            text += fmt::format("\n[{} more bytes]", bytes.size());
            break;
        }
        const std::size_t length = sequenceLength(bytes);
        const auto byte = static_cast<unsigned char>(bytes[0]);
        const bool control = length == 1 && (byte < 0x20 || byte == 0x7f) && byte != '\n' && byte != '\t';
        if (length == 0 || control) {
            text += byte == '\r' ? "" : "\xef\xbf\xbd";
            bytes.remove_prefix(1);
        } else {
            text.append(bytes.substr(0, length));
            bytes.remove_prefix(length);
        }
    }
    return text;
}

std::string durationText(double seconds)
{
    if (!std::isfinite(seconds) || seconds < 0) {
        return "unknown";
    }
    if (seconds < 1e-6) {
        return fmt::format("{:.3g} ns", seconds * 1e9);
    }
    if (seconds < 1e-3) {
        return seconds < 999.5e-6 ? fmt::format("{:.3g} us", seconds * 1e6) : "1 ms";
    }
    if (seconds < 1) {
        return seconds < 0.9995 ? fmt::format("{:.3g} ms", seconds * 1e3) : "1 s";
    }
    if (seconds < 100) {
        return fmt::format("{:.3g} s", seconds);
    }
    return fmt::format("{:.0f} min", seconds / 60);
}

std::string bytesText(unsigned long long bytes)
{
    static constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

} // namespace espalier
