// SPDX-License-Identifier: Apache-2.0
#include "core/build/ptx_lines.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace espalier {

namespace {

std::string_view nextWord(std::string_view& text)
{
    text.remove_prefix(std::min(text.find_first_not_of(" \t,"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t,"));
    text.remove_prefix(word.size());
    return word;
}

int leadingNumber(std::string_view text)
{
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

bool isOfAName(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

bool names(std::string_view line, std::string_view symbol)
{
    for (std::size_t at = line.find(symbol); at != std::string_view::npos; at = line.find(symbol, at + 1)) {
        const std::size_t end = at + symbol.size();
        if ((at == 0 || !isOfAName(line[at - 1])) && (end == line.size() || !isOfAName(line[end]))) {
            return true;
        }
    }
    return false;
}

bool beginsFunction(std::string_view line)
{
    return line.find(".entry") != std::string_view::npos || line.find(".func") != std::string_view::npos;
}

} // namespace

PtxLines::PtxLines(std::string_view ptx, std::string_view source) : m_lines(splitLines(ptx)), m_source(source) {}

std::string_view PtxLines::text(int line) const
{
    return line < 1 || static_cast<std::size_t>(line) > m_lines.size()
               ? std::string_view()
               : trimmed(m_lines[static_cast<std::size_t>(line) - 1]);
}

std::optional<PtxLines::Place> PtxLines::placeOf(int line) const
{
    if (text(line).empty()) {
        return std::nullopt;
    }
    for (int at = line; at > 0; --at) {
        const std::string_view mark = text(at);
        if (mark.starts_with(".loc")) {
            if (const auto place = marked(mark.substr(4))) {
                return place;
            }
        } else if (beginsFunction(mark)) {
            return std::nullopt; // nothing of an earlier function says anything about this one
        }
    }
    return std::nullopt;
}

/// `.const .align 4 .b8 table[80000];`, with `.visible` or `.global` marks before it or an initialiser behind it.
std::string_view PtxLines::largestConstant() const
{
    std::string_view largest;
    int most = 0;
    for (const std::string_view raw : m_lines) {
        const std::string_view line = trimmed(raw);
        const std::size_t open = line.find('[');
        if (line.starts_with("//") || line.find(".const ") == std::string_view::npos ||
            open == std::string_view::npos) {
            continue;
        }
        if (const int bytes = leadingNumber(line.substr(open + 1)); bytes > most) {
            most = bytes;
            largest = line.substr(0, open);
            largest.remove_prefix(largest.find_last_of(" \t") + 1);
        }
    }
    return largest;
}

/// "1 9 5" or "2 310 3, function_name $L__info_string0, inlined_at 1 30 2"; line 0 stands for code of no line.
std::optional<PtxLines::Place> PtxLines::marked(std::string_view mark) const
{
    std::optional<Place> found;
    while (!mark.empty()) {
        const std::string_view index = nextWord(mark), line = nextWord(mark);
        if (const int number = leadingNumber(line); number > 0) {
            Place place{fileOf(index), number};
            if (place.file == m_source) {
                return place;
            }
            found = found ? found : place;
        }
        const std::size_t at = mark.find("inlined_at");
        mark = at == std::string_view::npos ? std::string_view() : mark.substr(at + 10);
    }
    return found;
}

/// The files stand at the end: `.file 1 "/build/candidate.cu"`.
std::string PtxLines::fileOf(std::string_view index) const
{
    for (auto line = m_lines.rbegin(); line != m_lines.rend(); ++line) {
        std::string_view rest = trimmed(*line);
        if (!rest.starts_with(".file")) {
            continue;
        }
        rest.remove_prefix(5);
        if (nextWord(rest) == index) {
            const std::size_t end = rest.rfind('"');
            const std::size_t begin = rest.find('"');
            if (begin == std::string_view::npos || begin == end) {
                return {};
            }
            const std::string_view path = rest.substr(begin + 1, end - begin - 1);
            return std::string(path.substr(path.rfind('/') + 1)); // npos + 1 is 0
        }
    }
    return {};
}

std::optional<PtxLines::Place> PtxLines::placeOfFunction(std::string_view symbol) const
{
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const std::string_view line = trimmed(m_lines[i]);
        if (line.starts_with("//") || !names(line, symbol)) {
            continue;
        }
        if (!beginsFunction(line)) { // a use of it
            if (auto place = placeOf(static_cast<int>(i) + 1)) {
                return place;
            }
        } else if (auto place = firstPlaceIn(i)) {
            return place;
        }
    }
    return std::nullopt;
}

/// The first mark of the body behind the head that stands at `index`; a declaration has none.
std::optional<PtxLines::Place> PtxLines::firstPlaceIn(std::size_t index) const
{
    bool inBody = false;
    for (; index < m_lines.size(); ++index) {
        const std::string_view line = trimmed(m_lines[index]);
        if (inBody && line.starts_with(".loc")) {
            return marked(line.substr(4));
        }
        if (line.starts_with("}") || (!inBody && line.ends_with(';'))) {
            return std::nullopt;
        }
        inBody = inBody || line.ends_with('{');
    }
    return std::nullopt;
}

} // namespace espalier
