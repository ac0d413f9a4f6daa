// SPDX-License-Identifier: Apache-2.0
#include "core/export/source_parts.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace espalier {
namespace {

bool isWord(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Walks over a source and blanks what is no code.
class Blanking
{
public:
    explicit Blanking(std::string_view source) : m_text(source) {}

    std::string run()
    {
        while (m_at < m_text.size()) {
            const std::string_view rest = std::string_view(m_text).substr(m_at);
            if (rest.starts_with("//")) {
                blankLine();
            } else if (rest.starts_with("/*")) {
                blankUntil("*/", 2);
            } else if (rest.starts_with("R\"") && !wordBefore()) {
                blankRaw();
            } else if (rest.front() == '"' || (rest.front() == '\'' && !wordBefore())) {
                blankLiteral(rest.front()); // a ' behind a digit parts the digits of a number
            } else {
                ++m_at;
            }
        }
        return std::move(m_text);
    }

private:
    bool wordBefore() const { return m_at > 0 && isWord(m_text[m_at - 1]); }

    void blank(std::size_t end)
    {
        for (; m_at < std::min(end, m_text.size()); ++m_at) {
            if (m_text[m_at] != '\n') {
                m_text[m_at] = ' ';
            }
        }
    }
    void blankLine()
    {
        std::size_t end = m_at;
        do { // a backslash at its end draws the next line in
            end = m_text.find('\n', end + 1);
        } while (end != std::string::npos && m_text[end - 1] == '\\');
        blank(end == std::string::npos ? m_text.size() : end);
    }
    void blankUntil(std::string_view mark, std::size_t from)
    {
        const std::size_t end = m_text.find(mark, m_at + from);
        blank(end == std::string::npos ? m_text.size() : end + mark.size());
    }
    void blankRaw()
    {
        const std::size_t open = m_text.find('(', m_at);
        if (open == std::string::npos) {
            return blank(m_text.size());
        }
        const std::string mark = ")" + m_text.substr(m_at + 2, open - m_at - 2) + "\"";
        blankUntil(mark, open - m_at);
    }
    void blankLiteral(char quote)
    {
        std::size_t end = m_at + 1;
        while (end < m_text.size() && m_text[end] != quote && m_text[end] != '\n') {
            end += m_text[end] == '\\' ? 2 : 1;
        }
        ++m_at; // the quotes stay
        blank(end);
        m_at = std::min(end + 1, m_text.size());
    }

    std::string m_text;
    std::size_t m_at = 0;
};

/// One preprocessor line, continued ones joined.
struct Directive {
    std::string name;    ///< "include", "if", …
    std::string written; ///< as the source has it, without the line's end
    std::string code;    ///< what follows the name, without comments
};

/// The directive that starts in line [begin, end); nullopt: another line.
std::optional<Directive> directiveIn(std::string_view source, std::string_view code, std::size_t begin, std::size_t end)
{
    std::string_view line = code.substr(begin, end - begin);
    const auto skip = [&line](auto keep) {
        std::size_t n = 0;
        while (n < line.size() && keep(line[n])) {
            ++n;
        }
        const std::string_view taken = line.substr(0, n);
        line.remove_prefix(n);
        return taken;
    };
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    skip(blank);
    if (!line.starts_with('#')) {
        return std::nullopt;
    }
    line.remove_prefix(1);
    skip(blank);
    Directive directive;
    directive.name = skip(isWord);
    skip(blank);
    directive.code = line;
    directive.written = source.substr(begin, end - begin);
    return directive;
}

std::vector<Directive> directivesIn(std::string_view source)
{
    const std::string code = codeOf(source);
    std::vector<Directive> all;
    for (std::size_t begin = 0; begin < code.size();) {
        std::size_t end = code.find('\n', begin);
        const auto continued = [&] {
            std::size_t last = end;
            while (last > begin && code[last - 1] == '\r') {
                --last;
            }
            return end != std::string::npos && last > begin && code[last - 1] == '\\';
        };
        while (continued()) {
            end = code.find('\n', end + 1);
        }
        end = end == std::string::npos ? code.size() : end;
        if (auto directive = directiveIn(source, code, begin, end)) {
            all.push_back(std::move(*directive));
        }
        begin = end + 1;
    }
    return all;
}

} // namespace

std::string codeOf(std::string_view source)
{
    return Blanking(source).run();
}

std::vector<std::string> macrosIn(std::string_view source)
{
    std::vector<std::string> names;
    for (const Directive& directive : directivesIn(source)) {
        const auto end = std::find_if_not(directive.code.begin(), directive.code.end(), isWord);
        std::string name(directive.code.begin(), end);
        if (directive.name == "define" && !name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(std::move(name));
        }
    }
    return names;
}

std::string includesIn(std::string_view source)
{
    struct Kept {
        std::string line;
        bool opens = false; ///< a conditional that has nothing to include yet
    };
    std::vector<Kept> kept;
    std::vector<std::size_t> open; ///< where each conditional around the line at hand begins in `kept`
    for (const Directive& directive : directivesIn(source)) {
        if (directive.name == "include") {
            kept.push_back({directive.written});
            for (const std::size_t at : open) {
                kept[at].opens = false;
            }
        } else if (directive.name.starts_with("if")) {
            open.push_back(kept.size());
            kept.push_back({directive.written, true});
        } else if (!open.empty() && directive.name.starts_with("el")) {
            kept.push_back({directive.written});
        } else if (!open.empty() && directive.name == "endif") {
            if (kept[open.back()].opens) {
                kept.resize(open.back());
            } else {
                kept.push_back({directive.written});
            }
            open.pop_back();
        }
    }
    std::string text;
    for (const Kept& one : kept) {
        text += one.line + "\n";
    }
    return open.empty() ? text : std::string(); // conditionals that do not close: nothing that the text settles
}

bool definesFunction(std::string_view source, std::string_view name)
{
    const std::string code = codeOf(source);
    for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
        std::size_t next = at + name.size();
        if ((at > 0 && isWord(code[at - 1])) || (next < code.size() && isWord(code[next]))) {
            continue;
        }
        const auto blanks = [&] {
            while (next < code.size() && std::isspace(static_cast<unsigned char>(code[next]))) {
                ++next;
            }
        };
        blanks();
        if (next >= code.size() || code[next] != '(') {
            continue;
        }
        int depth = 0;
        do {
            depth += code[next] == '(' ? 1 : code[next] == ')' ? -1 : 0;
            ++next;
        } while (next < code.size() && depth > 0);
        blanks();
        if (code.compare(next, 8, "noexcept") == 0) {
            next += 8;
            blanks();
        }
        if (code.compare(next, 2, "->") == 0) {
            next = std::min(code.find_first_of("{;", next), code.size());
        }
        if (next < code.size() && code[next] == '{') {
            return true;
        }
    }
    return false;
}

} // namespace espalier
