// SPDX-License-Identifier: Apache-2.0
#include "core/llm/code_text.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace espalier::llm {
namespace {

bool isWordByte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_';
}

/// The next of some bytes at or behind a place that only moves forward: linear over a whole text, however often it is
/// asked.
class NextOf
{
public:
    NextOf(std::string_view text, std::string_view bytes) : m_text(text), m_bytes(bytes) {}
    std::size_t from(std::size_t place)
    {
        if (!m_known || (m_at != std::string_view::npos && m_at < place)) {
            m_at = m_text.find_first_of(m_bytes, place);
            m_known = true;
        }
        return m_at;
    }

private:
    std::string_view m_text, m_bytes;
    std::size_t m_at = 0;
    bool m_known = false;
};

/// What a byte of code is part of.
enum class Inside { Code, LineComment, BlockComment, String, Character };

/// Walks over code byte by byte and knows what each is part of.
class CodeWalk
{
public:
    explicit CodeWalk(std::string_view code) : m_code(code) {}

    bool done() const { return m_at >= m_code.size(); }
    std::size_t at() const { return m_at; }
    Inside inside() const { return m_inside; }
    std::string_view rest() const { return m_code.substr(m_at); }
    /// A quote of another kind opened a string here, or closed the one that is open.
    void setInside(Inside inside) { m_inside = inside; }
    void skip(std::size_t bytes) { m_at += bytes; }

    /// Over one byte, or a mark of two. The bytes it went over are part of what inside() was before or is after,
    /// whatever is not Code.
    std::string_view step()
    {
        const std::size_t from = m_at;
        const char byte = m_code[m_at];
        const std::string_view two = m_code.substr(m_at, 2);
        m_at += 1;
        switch (m_inside) {
        case Inside::Code:
            if (two == "//" || two == "/*") {
                m_inside = two == "//" ? Inside::LineComment : Inside::BlockComment;
                m_at += 1;
            } else if (byte == '"') {
                m_inside = Inside::String;
            } else if (byte == '\'' && !(from > 0 && isWordByte(m_code[from - 1]))) { // else 1'000
                m_inside = Inside::Character;
            }
            break;
        case Inside::LineComment:
            m_inside = byte == '\n' ? Inside::Code : m_inside;
            break;
        case Inside::BlockComment:
            if (two == "*/") {
                m_inside = Inside::Code;
                m_at += 1;
            }
            break;
        case Inside::String:
        case Inside::Character:
            if (byte == '\\' && m_at < m_code.size()) {
                m_at += 1;
            } else if (byte == '\n' || byte == (m_inside == Inside::String ? '"' : '\'')) {
                m_inside = Inside::Code; // neither goes over the end of its line
            }
            break;
        }
        return m_code.substr(from, m_at - from);
    }

private:
    std::string_view m_code;
    std::size_t m_at = 0;
    Inside m_inside = Inside::Code;
};

bool holds(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

void replaceAll(std::string& text, std::string_view what, std::string_view with)
{
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, from)) {
        out.append(text, from, at - from).append(with);
        from = at + what.size();
    }
    if (from > 0) {
        text = out.append(text, from);
    }
}

/// The name before the parameter list of a function's head; empty: it has none.
std::string functionName(std::string_view head)
{
    constexpr std::array attributes = {"__launch_bounds__", "__align__", "alignas",  "__attribute__", "decltype",
                                       "__declspec",        "noexcept",  "requires", "sizeof",        "__block_size__",
                                       "__cluster_dims__",  "explicit"};
    int depth = 0;
    std::size_t from = std::string_view::npos; ///< of the word that ended last
    std::string_view word;
    for (std::size_t at = 0; at < head.size(); ++at) {
        const char byte = head[at];
        if (isWordByte(byte)) {
            from = from == std::string_view::npos ? at : from;
            word = head.substr(from, at + 1 - from);
            continue;
        }
        from = std::string_view::npos;
        if (byte == '(') {
            const bool attribute = std::find(attributes.begin(), attributes.end(), word) != attributes.end();
            if (depth++ == 0 && !word.empty() && !attribute) {
                return std::string(word);
            }
        } else if (byte == ')') {
            depth = std::max(0, depth - 1);
        }
        if (byte != ' ' && byte != '\t' && byte != '\n') {
            word = {};
        }
    }
    return {};
}

/// "template <…>" off the front of a head.
std::string_view withoutTemplate(std::string_view head)
{
    head = trimmed(head);
    while (head.starts_with("template")) {
        const std::size_t open = head.find('<');
        if (open == std::string_view::npos) {
            return head;
        }
        int depth = 0;
        std::size_t at = open;
        for (; at < head.size(); ++at) {
            depth += head[at] == '<' ? 1 : head[at] == '>' ? -1 : 0;
            if (depth == 0) {
                break;
            }
        }
        head = trimmed(head.substr(std::min(at + 1, head.size())));
    }
    return head;
}

/// Begins what only stands inside functions.
bool isStatement(std::string_view head)
{
    const auto words = wordsIn(head);
    constexpr std::array inner = {"for", "if", "while", "return", "do", "switch", "else", "break", "continue"};
    return holds(head, "<<<") || (!words.empty() && std::find(inner.begin(), inner.end(), words[0]) != inner.end());
}

/// A file that came as one line.
std::string withLineEnds(std::string_view code)
{
    std::string out;
    for (std::size_t i = 0; i < code.size(); ++i) {
        const char next = code[i] == '\\' && i + 1 < code.size() ? code[i + 1] : '\0';
        if (next == 'n' || next == 't' || next == '"' || next == '\\' || next == '/') {
            out += next == 'n' ? '\n' : next == 't' ? '\t' : next;
            ++i;
        } else {
            out += code[i];
        }
    }
    return out;
}

/// The number at the start of a line and what follows it; nullopt: there is none.
struct Numbered {
    long number = -1;
    std::string_view rest;
};
Numbered numberedLine(std::string_view line)
{
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) {
        return {};
    }
    std::size_t at = begin;
    long number = 0;
    while (at < line.size() && at - begin < 6 && line[at] >= '0' && line[at] <= '9') {
        number = number * 10 + (line[at++] - '0');
    }
    if (at == begin) {
        return {};
    }
    std::string_view rest = line.substr(at);
    const std::size_t sign = rest.find_first_not_of(' ');
    if (sign != std::string_view::npos && (rest[sign] == '|' || (sign == 0 && (rest[0] == ':' || rest[0] == '.')))) {
        rest.remove_prefix(sign + 1);
        rest.remove_prefix(rest.starts_with(' ') ? 1 : 0);
    } else if (rest.starts_with('\t') || rest.starts_with(' ')) {
        rest.remove_prefix(1);
    } else if (!rest.empty()) {
        return {};
    }
    return {number, rest};
}

/// The lines without the numbers before them; empty: not every line has one that follows on the one before.
std::string withoutNumbers(std::string_view code)
{
    std::string out;
    long last = -1;
    int count = 0;
    for (const std::string_view line : splitLines(code)) {
        const Numbered one = numberedLine(line);
        if (trimmed(line).empty()) {
            out += '\n';
            continue;
        }
        if (one.number < 0 || (last >= 0 && one.number <= last)) {
            return {};
        }
        last = one.number;
        ++count;
        out.append(one.rest) += '\n';
    }
    return count >= 3 ? out : std::string();
}

struct Character {
    std::string_view from;
    char to; ///< 0: it goes
};
constexpr std::array<Character, 19> typographic = {{{"\u00a0", ' '},
                                                    {"\u2002", ' '},
                                                    {"\u2003", ' '},
                                                    {"\u2007", ' '},
                                                    {"\u2009", ' '},
                                                    {"\u202f", ' '},
                                                    {"\u3000", ' '},
                                                    {"\u200b", '\0'},
                                                    {"\u200c", '\0'},
                                                    {"\u200d", '\0'},
                                                    {"\u2060", '\0'},
                                                    {"\ufeff", '\0'},
                                                    {"\u2010", '-'},
                                                    {"\u2011", '-'},
                                                    {"\u2012", '-'},
                                                    {"\u2013", '-'},
                                                    {"\u2014", '-'},
                                                    {"\u2212", '-'},
                                                    {"\u2044", '/'}}};
constexpr std::array<std::string_view, 5> doubleQuotes = {"\u201c", "\u201d", "\u201e", "\u201f", "\u2033"};
constexpr std::array<std::string_view, 4> singleQuotes = {"\u2018", "\u2019", "\u201a", "\u2032"};

template <typename List>
std::size_t startsWithOne(std::string_view text, const List& list)
{
    const auto found =
        std::find_if(list.begin(), list.end(), [text](std::string_view one) { return text.starts_with(one); });
    return found == list.end() ? 0 : found->size();
}

/// Outside comments and strings; a string that a typographic quote opens ends with one as well.
std::string withPlainCharacters(std::string_view code)
{
    std::string out;
    bool opened = false; ///< what is open was opened by a typographic quote
    CodeWalk walk(code);
    while (!walk.done()) {
        const std::string_view rest = walk.rest();
        const Inside inside = walk.inside();
        const bool wide = (static_cast<unsigned char>(rest[0]) & 0x80) != 0;
        if (!wide || inside == Inside::LineComment || inside == Inside::BlockComment) {
            out += walk.step();
            continue;
        }
        const std::size_t twice = inside != Inside::Character ? startsWithOne(rest, doubleQuotes) : 0;
        const std::size_t once = inside != Inside::String ? startsWithOne(rest, singleQuotes) : 0;
        if ((twice > 0 || once > 0) && (inside == Inside::Code || opened)) {
            out += twice > 0 ? '"' : '\'';
            opened = inside == Inside::Code;
            walk.setInside(!opened ? Inside::Code : twice > 0 ? Inside::String : Inside::Character);
            walk.skip(std::max(twice, once));
            continue;
        }
        opened = opened && inside != Inside::Code;
        const auto plain = std::find_if(typographic.begin(), typographic.end(),
                                        [rest](const Character& one) { return rest.starts_with(one.from); });
        if (inside == Inside::Code && plain != typographic.end()) {
            out += plain->to == '\0' ? std::string() : std::string(1, plain->to);
            walk.skip(plain->from.size());
        } else {
            out += walk.step();
        }
    }
    return out;
}

} // namespace

std::string maskedCode(std::string_view code)
{
    std::string masked(code);
    CodeWalk walk(code);
    while (!walk.done()) {
        const std::size_t from = walk.at();
        const Inside before = walk.inside();
        const std::size_t length = walk.step().size();
        if (before == Inside::Code && walk.inside() == Inside::Code) {
            continue;
        }
        for (std::size_t i = from; i < from + length; ++i) {
            masked[i] = masked[i] == '\n' ? '\n' : ' ';
        }
    }
    return masked;
}

EntryUse useOf(std::string_view code, std::string_view entry)
{
    EntryUse best = EntryUse::Absent;
    NextOf bodyOrEnd(code, "{;"), close(code, ")");
    for (std::size_t at = code.find(entry); !entry.empty() && at != std::string_view::npos;
         at = code.find(entry, at + 1)) {
        const std::size_t end = at + entry.size();
        if ((at > 0 && isWordByte(code[at - 1])) || (end < code.size() && isWordByte(code[end]))) {
            continue;
        }
        best = EntryUse::Named;
        const std::size_t open = code.find_first_not_of(" \t\r\n", end);
        if (open == std::string_view::npos || code[open] != '(') {
            continue;
        }
        const std::size_t stop = bodyOrEnd.from(open);
        if (stop != std::string_view::npos && code[stop] == '{' && close.from(open) < stop) {
            return EntryUse::Defined;
        }
    }
    return best;
}

std::vector<std::string_view> wordsIn(std::string_view text)
{
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t from = at;
        while (at < text.size() && isWordByte(text[at])) {
            ++at;
        }
        if (at > from) {
            words.push_back(text.substr(from, at - from));
        } else {
            ++at;
        }
    }
    return words;
}

bool looksLikeSource(std::string_view code)
{
    return holds(code, "__global__") || holds(code, "#include") || holds(code, "extern \"C\"");
}

bool balanced(std::string_view masked)
{
    long braces = 0, brackets = 0;
    for (const char byte : masked) {
        braces += byte == '{' ? 1 : byte == '}' ? -1 : 0;
        brackets += byte == '(' ? 1 : byte == ')' ? -1 : 0;
        if (braces < 0) {
            return false;
        }
    }
    const std::string_view text = trimmed(masked);
    return braces == 0 && brackets == 0 && (text.ends_with('}') || text.ends_with(';'));
}

CodeOutline outlineOf(std::string_view masked)
{
    std::string code; // without the preprocessor's lines
    bool joined = false;
    for (const std::string_view line : splitLines(masked)) {
        const bool directive = joined || trimmed(line).starts_with('#');
        joined = directive && line.ends_with('\\');
        code.append(directive ? std::string_view() : line) += '\n';
    }
    CodeOutline outline;
    std::vector<bool> open; ///< braces; true: of namespaces and extern "C", in which more of the top level stands
    int depth = 0;          ///< of the others
    std::size_t from = 0;   ///< of the head
    for (std::size_t at = 0; at < code.size(); ++at) {
        const char byte = code[at];
        if (byte == '}') {
            outline.loose = outline.loose || open.empty();
            depth -= open.empty() || open.back() ? 0 : 1;
            if (!open.empty()) {
                open.pop_back();
            }
            from = at + 1;
        } else if (depth == 0 && (byte == '{' || byte == ';')) {
            const std::string_view head = withoutTemplate(std::string_view(code).substr(from, at - from));
            const auto words = wordsIn(head);
            const auto type = std::find_if(words.begin(), words.end(), [](std::string_view word) {
                return word == "struct" || word == "class" || word == "union" || word == "enum";
            });
            const std::string function = functionName(head);
            outline.loose = outline.loose || isStatement(head) || (byte == '{' && words.empty());
            if (byte == '{' && type != words.end() && function.empty()) {
                outline.types.emplace_back(type + 1 == words.end() ? std::string_view() : *(type + 1));
            } else if (byte == '{' && !function.empty() && !holds(head, "=")) {
                outline.functions.push_back(function);
            }
            if (byte == '{') {
                const bool within = !words.empty() && function.empty() && type == words.end() &&
                                    (words[0] == "namespace" || words[0] == "inline" || words[0] == "extern");
                open.push_back(within);
                depth += within ? 0 : 1;
            }
            from = at + 1;
        } else if (byte == '{') {
            open.push_back(false);
            ++depth;
        }
    }
    outline.loose = outline.loose || !open.empty() || !trimmed(std::string_view(code).substr(from)).empty();
    return outline;
}

bool looksLikeDiff(std::string_view text)
{
    bool removed = false, added = false, hunk = false, search = false, replace = false;
    for (const std::string_view line : splitLines(text)) {
        removed = removed || line.starts_with("--- ");
        added = added || line.starts_with("+++ ");
        hunk = hunk || line.starts_with("@@ ") || line.starts_with("*** Begin Patch") || line.starts_with("*** Update");
        search = search || line.starts_with("<<<<<<<");
        replace = replace || line.starts_with(">>>>>>>");
    }
    return hunk || (removed && added) || (search && replace);
}

std::string cleanedCode(std::string_view code, std::vector<std::string>& notes)
{
    std::string out(code);
    const auto note = [&notes, &out](std::string changed, const char* words) {
        if (changed != out) {
            notes.emplace_back(words);
            out = std::move(changed);
        }
    };
    const std::string_view whole = trimmed(out);
    if (!holds(whole, "\n") && (holds(whole, "\\n#") || holds(whole, "{\\n"))) {
        note(withLineEnds(whole) + "\n", "it came as one line");
    }
    if (holds(out, "&lt;&lt;&lt;") || holds(out, "#include &lt;") || holds(out, "&quot;C&quot;")) {
        std::string plain = out;
        for (const auto& [entity, character] :
             {std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}, std::pair{"&quot;", "\""}, std::pair{"&#34;", "\""},
              std::pair{"&#39;", "'"}, std::pair{"&#x27;", "'"}, std::pair{"&apos;", "'"}, std::pair{"&nbsp;", " "},
              std::pair{"&amp;", "&"}}) {
            replaceAll(plain, entity, character);
        }
        note(std::move(plain), "HTML's entities are read as the characters they stand for");
    }
    if (std::string plain = withoutNumbers(out); !plain.empty()) {
        note(std::move(plain), "the numbers before its lines are left out");
    }
    const bool wide = std::any_of(out.begin(), out.end(), [](char byte) { return (byte & 0x80) != 0; });
    if (wide) {
        note(withPlainCharacters(out), "typographic characters in its code are read as plain ones");
    }
    return out;
}

} // namespace espalier::llm
