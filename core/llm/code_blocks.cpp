// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/llm/answer_text.h"

#include <algorithm>

namespace espalier::llm {

namespace {

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
        for (std::size_t i = 0; i < m_lines.size(); ++i) {
            const Fence fence = fenceOf(m_lines[i]);
            if (fence.character == 0) {
                continue;
            }
            if (closes(fence)) {
                finish(i, true);
            } else if (m_open.empty() || fence.info.size() > 0 || fence.length < m_open.back().fence.length) {
                if (m_open.size() < 16) {
                    m_open.push_back({fence, i + 1, m_blocks.size()});
                    m_blocks.push_back({languageOf(fence.info), "", static_cast<int>(m_open.size()) - 1, false});
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
