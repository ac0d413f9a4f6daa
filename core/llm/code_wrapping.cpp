// SPDX-License-Identifier: Apache-2.0
#include "core/llm/code_wrapping.h"

#include "core/base/text.h"
#include "core/llm/code_text.h"
#include "core/llm/tolerant_json.h"

#include <algorithm>

namespace espalier::llm {
namespace {

constexpr int mostTries = 16; ///< places at which JSON or a tag is read
constexpr int deepest = 4;    ///< of what is wrapped in a wrapping
constexpr std::size_t mostBlocks = 256;

/// The lines of a file that came as a list; empty: it is no such list.
std::string joinedLines(const Json& list)
{
    std::string text;
    for (const Json& one : list) {
        if (!one.is_string()) {
            return {};
        }
        text += one.get<std::string>();
        text += text.ends_with('\n') ? "" : "\n";
    }
    return list.size() > 2 ? text : std::string();
}

/// What stands in r"""…""" has its backslashes, in """…""" they are escapes.
std::string unescaped(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        i += text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\\' ? 1 : 0;
        out += text[i];
    }
    return out;
}

class Unwrapper
{
public:
    std::vector<CodeBlock> read(std::string_view text)
    {
        look(text, 0);
        return std::move(m_blocks);
    }

private:
    bool full() const { return m_blocks.size() >= mostBlocks; }

    void look(std::string_view text, int depth)
    {
        if (depth <= deepest && looksLikeSource(text)) {
            json(text, depth);
            tags(text, depth);
            longStrings(text);
            hereDocuments(text);
            quotedLines(text, depth);
        }
    }

    /// A text that was inside something: its fences, else what else it holds, else all of it.
    void take(std::string_view text, int depth)
    {
        if (full() || !looksLikeSource(text)) {
            return;
        }
        const std::size_t before = m_blocks.size();
        for (CodeBlock& block : codeBlocks(text)) {
            m_blocks.push_back(std::move(block));
        }
        if (m_blocks.size() == before) {
            look(text, depth + 1);
        }
        if (m_blocks.size() == before) {
            add(text);
        }
    }

    void add(std::string_view text)
    {
        if (full() || !looksLikeSource(text)) {
            return;
        }
        CodeBlock block;
        block.text = text.substr(text.find_first_not_of("\r\n"));
        block.text += block.text.ends_with('\n') ? "" : "\n";
        m_blocks.push_back(std::move(block));
    }

    void json(std::string_view text, int depth)
    {
        int tries = 0;
        for (std::size_t at = text.find_first_of("{["); at != std::string_view::npos && tries < mostTries;) {
            const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
            std::size_t used = 1;
            if (next != std::string_view::npos && (text[next] == '"' || text[next] == '{' || text[next] == '[')) {
                ++tries; // else a brace of code
                if (const auto value = parseTolerantly(text.substr(at), &used)) {
                    strings(*value, depth);
                }
            }
            at = text.find_first_of("{[", at + std::max<std::size_t>(used, 1));
        }
    }

    void strings(const Json& value, int depth)
    {
        if (value.is_string()) {
            return take(value.get<std::string>(), depth);
        }
        if (const std::string lines = value.is_array() ? joinedLines(value) : ""; looksLikeSource(lines)) {
            return take(lines, depth);
        }
        for (const Json& one : value.is_structured() ? value : Json::array()) {
            strings(one, depth);
        }
    }

    /// The innermost pair around source: <code>, <file path="…">, [code], \begin{lstlisting}.
    void tags(std::string_view text, int depth)
    {
        int tries = 0;
        std::size_t after = 0;
        for (std::size_t begin = 0; begin < text.size() && tries < mostTries;) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            const std::size_t at = text.find_first_not_of(" \t", begin);
            const std::string closer = at < end && at >= after ? closerOf(text.substr(at, end - at)) : std::string();
            const std::size_t open = closer.empty() ? 0
                                                    : text.find(closer[0] == '<'   ? '>'
                                                                : closer[0] == '[' ? ']'
                                                                                   : '}',
                                                                at);
            const std::size_t close = closer.empty() ? std::string_view::npos : text.find(closer, open);
            if (close != std::string_view::npos) {
                ++tries;
                std::string_view inner = text.substr(open + 1, close - open - 1);
                const std::string_view listing = trimmed(inner);
                if (closer[0] == '\\' &&
                    (listing.starts_with('[') || listing.starts_with('{'))) { // {cuda}, [language=C++]
                    inner = listing.substr(std::min(listing.find('\n'), listing.size()));
                }
                if (trimmed(inner).starts_with("<![CDATA[")) {
                    inner = trimmed(inner).substr(9);
                    inner = inner.substr(0, inner.rfind("]]>"));
                }
                if (looksLikeSource(inner)) {
                    take(inner, depth);
                    after = close;
                }
            }
            begin = end + 1;
        }
    }

    /// Of the tag that a line begins with; empty: it begins with none.
    static std::string closerOf(std::string_view line)
    {
        if (line.starts_with("\\begin{")) {
            const std::size_t end = line.find('}');
            return end == std::string_view::npos ? std::string()
                                                 : "\\end{" + std::string(line.substr(7, end - 7)) + "}";
        }
        if (line.size() < 3 || (line[0] != '<' && line[0] != '[')) {
            return {};
        }
        std::size_t end = 1;
        while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_' ||
                                     line[end] == '-' || line[end] == ':')) {
            ++end;
        }
        const char close = line[0] == '<' ? '>' : ']';
        if (end == 1 || !std::isalpha(static_cast<unsigned char>(line[1])) ||
            line.find(close) == std::string_view::npos) {
            return {};
        }
        return std::string(1, line[0]) + "/" + std::string(line.substr(1, end - 1)) + close;
    }

    /// source = r"""…"""
    void longStrings(std::string_view text)
    {
        for (const std::string_view quote : {"\"\"\"", "'''"}) {
            for (std::size_t open = text.find(quote); open != std::string_view::npos;) {
                const std::size_t close = text.find(quote, open + 3);
                if (close == std::string_view::npos) {
                    break;
                }
                const std::string_view inner = text.substr(open + 3, close - open - 3);
                const bool raw = open > 0 && (text[open - 1] == 'r' || text[open - 1] == 'R');
                add(raw ? std::string(inner) : unescaped(inner));
                open = text.find(quote, close + 3);
            }
        }
    }

    /// cat > kernel.cu <<'EOF'
    void hereDocuments(std::string_view text)
    {
        std::string word, document;
        for (const std::string_view line : splitLines(text)) {
            if (!word.empty() && trimmed(line) == word) {
                add(document);
                word.clear();
                document.clear();
            } else if (!word.empty()) {
                document.append(line) += '\n';
            } else if (const std::size_t at = line.find("<<");
                       at != std::string_view::npos && line.find("<<<") == line.npos) {
                std::string_view rest = line.substr(at + 2);
                rest.remove_prefix(std::min(rest.find_first_not_of("- '\"\\"), rest.size()));
                const std::size_t end = std::min(rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), rest.size());
                word = rest.substr(0, end);
            }
        }
    }

    void quotedLines(std::string_view text, int depth)
    {
        std::string inner;
        std::size_t quoted = 0, lines = 0;
        for (std::string_view line : splitLines(text)) {
            ++lines;
            if (line.starts_with('>')) {
                line.remove_prefix(line.starts_with("> ") ? 2 : 1);
                inner.append(line) += '\n';
                ++quoted;
            }
        }
        if (quoted > 2 && quoted * 2 > lines) {
            take(inner, depth);
        }
    }

    std::vector<CodeBlock> m_blocks;
};

} // namespace

std::vector<CodeBlock> wrappedBlocks(std::string_view text)
{
    return Unwrapper().read(text);
}

} // namespace espalier::llm
