// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/llm/answer_text.h"

#include <algorithm>

namespace espalier::llm {

namespace {

constexpr std::size_t longestWords = 300;

/// A line that may open or close a block.
struct Fence {
    char character = 0; ///< 0: no fence
    std::size_t length = 0, indent = 0;
    std::string_view info;
};

Fence fenceOf(std::string_view line)
{
    const std::size_t indent = line.find_first_not_of(" \t");
    if (indent == std::string_view::npos || (line[indent] != '`' && line[indent] != '~')) {
        return {};
    }
    const char character = line[indent];
    const std::size_t end = std::min(line.find_first_not_of(character, indent), line.size());
    const std::string_view info = trimmed(line.substr(end));
    if (end - indent < 3 || (character == '`' && info.find('`') != std::string_view::npos)) {
        return {};
    }
    return {character, end - indent, indent, info};
}

bool isLanguageByte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '+' || byte == '-' || byte == '.' || byte == '_';
}

/// "Here it is: ```cuda" and "<answer>```cuda": a fence behind other words, told by the language after it.
Fence fenceBehindWords(std::string_view line)
{
    const std::size_t at = line.find("```");
    if (at == std::string_view::npos || at == 0 ||
        trimmed(line.substr(0, at)) == ">") { // a quotation is no answer's own
        return {};
    }
    const std::size_t end = std::min(line.find_first_not_of('`', at), line.size());
    const std::string_view info = trimmed(line.substr(end));
    const bool word = !info.empty() && std::all_of(info.begin(), info.end(), isLanguageByte);
    return word ? Fence{'`', end - at, 0, info} : Fence{};
}

/// "}```": how long the fence at the end of a line is; 0: there is none.
std::size_t fenceAtEnd(std::string_view line, char character)
{
    const std::size_t last = line.find_last_not_of(" \t");
    const std::size_t begin = last == std::string_view::npos ? last : line.find_last_not_of(character, last);
    if (begin == std::string_view::npos || line[last] != character || line.find(character) <= begin) {
        return 0;
    }
    return last - begin;
}

std::string languageOf(std::string_view info)
{
    info = info.substr(0, std::min(info.find_first_of(" \t,;:{"), info.size()));
    if (info.starts_with('.')) {
        info.remove_prefix(1);
    }
    std::string language(info);
    std::transform(language.begin(), language.end(), language.begin(),
                   [](char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte; });
    return language;
}

/// A block whose fence has been seen. `firstLine` counts lines of the answer.
struct Open {
    Fence fence;
    std::size_t firstLine, index;
};

/// Reads fences line by line and keeps a stack of open blocks: a fence with a language inside a block opens a nested
/// one, a bare fence closes the innermost.
class BlockReader
{
public:
    explicit BlockReader(std::string_view text) : m_lines(splitLines(text)) {}

    std::vector<CodeBlock> read()
    {
        std::string_view words; ///< the last line outside blocks
        for (std::size_t i = 0; i < m_lines.size(); ++i) {
            Fence fence = fenceOf(m_lines[i]);
            if (fence.character == 0 && m_open.empty()) {
                fence = fenceBehindWords(m_lines[i]);
                if (fence.character == 0) {
                    words = trimmed(m_lines[i]).empty() ? words : trimmed(m_lines[i]);
                    continue;
                }
                words = m_lines[i];
            }
            if (fence.character == 0) {
                const Fence& open = m_open.back().fence;
                if (const std::size_t length = fenceAtEnd(m_lines[i], open.character); length >= open.length) {
                    m_lines[i] = m_lines[i].substr(0, m_lines[i].find_last_not_of(" \t") + 1 - length);
                    finish(i + 1, true);
                }
                continue;
            }
            if (closes(fence)) {
                finish(i, true);
                words = {};
            } else if (m_open.empty() || fence.info.size() > 0 || fence.length < m_open.back().fence.length) {
                if (m_open.size() < 16) {
                    m_open.push_back({fence, i + 1, m_blocks.size()});
                    m_blocks.push_back({languageOf(fence.info), "", static_cast<int>(m_open.size()) - 1, false,
                                        std::string(words.substr(0, longestWords))});
                }
            }
        }
        endOpenBlocks();
        return std::move(m_blocks);
    }

private:
    bool closes(const Fence& fence) const
    {
        return !m_open.empty() && fence.info.empty() && fence.character == m_open.back().fence.character &&
               fence.length >= m_open.back().fence.length;
    }

    void finish(std::size_t endLine, bool closed)
    {
        const Open& open = m_open.back();
        CodeBlock& block = m_blocks[open.index];
        block.closed = closed;
        for (std::size_t i = open.firstLine; i < endLine; ++i) {
            std::string_view line = m_lines[i];
            const std::size_t blank = std::min(line.find_first_not_of(" \t"), line.size());
            line.remove_prefix(std::min(open.fence.indent, blank));
            block.text.append(line) += '\n';
        }
        m_open.pop_back();
    }

    /// A block that never closed although others began inside it had lost its closing fence: it ended where the next
    /// one began, and those stand on their own.
    void endOpenBlocks()
    {
        while (!m_open.empty()) {
            const Open open = m_open.back();
            std::size_t end = m_lines.size();
            for (std::size_t i = open.firstLine; i < end; ++i) {
                if (const Fence fence = fenceOf(m_lines[i]); fence.character != 0 && !fence.info.empty()) {
                    end = i;
                }
            }
            const bool cut = end < m_lines.size();
            finish(end, false);
            for (std::size_t i = open.index + 1; cut && i < m_blocks.size(); ++i) {
                m_blocks[i].depth = std::max(0, m_blocks[i].depth - 1);
            }
        }
    }

    std::vector<std::string_view> m_lines;
    std::vector<Open> m_open;
    std::vector<CodeBlock> m_blocks;
};

} // namespace

std::vector<CodeBlock> codeBlocks(std::string_view text)
{
    return BlockReader(text).read();
}

} // namespace espalier::llm
