// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/llm/answer_text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace espalier::llm {

namespace {

constexpr std::array tagNames = {"think",     "thinking",   "thought",    "thoughts",
                                 "reasoning", "reflection", "scratchpad", "analysis"};

enum class Mark { None, Opener, Closer, Noise };

/// A tag at the start of a text: what it does and how long it is.
struct Tag {
    Mark mark = Mark::None;
    std::size_t length = 0;
};

struct FixedTag {
    std::string_view text;
    Mark mark;
};
/// The channels of gpt-oss, whose servers sometimes leave them in, and Kimi's triangles.
constexpr std::array fixedTags = {
    FixedTag{"<|channel|>analysis<|message|>", Mark::Opener},
    FixedTag{"<|channel|>commentary<|message|>", Mark::Opener},
    FixedTag{"<|channel|>final<|message|>", Mark::Closer},
    FixedTag{"<|start|>assistant", Mark::Noise},
    FixedTag{"<|end|>", Mark::Closer},
    FixedTag{"<|return|>", Mark::Noise},
    FixedTag{"\xe2\x97\x81think\xe2\x96\xb7", Mark::Opener},
    FixedTag{"\xe2\x97\x81/think\xe2\x96\xb7", Mark::Closer},
};

char lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

/// <think>, </Thinking >, [THINK], <seed:think>
Tag bracketedTag(std::string_view text)
{
    const char close = text[0] == '<' ? '>' : ']';
    const std::size_t end = text.substr(0, 40).find(close);
    if (end == std::string_view::npos || end < 2) {
        return {};
    }
    std::string name(trimmed(text.substr(1, end - 1)));
    std::transform(name.begin(), name.end(), name.begin(), lower);
    const bool closer = name.starts_with('/');
    if (closer) {
        name.erase(0, 1);
        name.erase(0, name.find_first_not_of(" \t"));
    }
    if (const auto colon = name.find(':'); colon != std::string::npos) {
        name.erase(0, colon + 1);
    }
    if (std::find(tagNames.begin(), tagNames.end(), name) == tagNames.end()) {
        return {};
    }
    if (close == ']' && name != "think" && name != "thinking") {
        return {}; // [analysis] is a word in brackets, or a subscript
    }
    return {closer ? Mark::Closer : Mark::Opener, end + 1};
}

Tag tagAt(std::string_view text)
{
    if (text.empty() || (text[0] != '<' && text[0] != '[' && text[0] != '\xe2')) {
        return {};
    }
    for (const FixedTag& tag : fixedTags) {
        if (text.starts_with(tag.text)) {
            return {tag.mark, tag.text.size()};
        }
    }
    return text[0] == '\xe2' ? Tag{} : bracketedTag(text);
}

/// Walks over an answer once. Fences matter outside reasoning only: what a model thinks may open one and not close it.
class Splitter
{
public:
    explicit Splitter(std::string_view text) : m_text(text) {}

    SplitAnswer split()
    {
        while (m_at < m_text.size()) {
            if (std::exchange(m_newLine, false)) {
                noteFence();
            }
            const bool codeHere = !m_inside && m_inFence && !m_lineStart;
            const bool quoted = !m_inside && m_at > 0 && m_text[m_at - 1] == '`';
            const Tag tag = codeHere || quoted ? Tag{} : tagAt(m_text.substr(m_at));
            if (tag.mark == Mark::None || (m_inFence && !m_inside && tag.mark == Mark::Opener)) {
                take();
            } else {
                apply(tag);
            }
        }
        return {std::string(trimmed(m_answer)), std::string(trimmed(m_reasoning))};
    }

private:
    void noteFence()
    {
        if (m_inside) {
            return;
        }
        const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
        const std::string_view line = trimmed(m_text.substr(m_at, end - m_at));
        if (line.starts_with("```") || line.starts_with("~~~")) {
            m_inFence = !m_inFence || line.find_first_not_of("`~") != std::string_view::npos;
        }
    }

    void take()
    {
        const char byte = m_text[m_at++];
        (m_inside ? m_reasoning : m_answer) += byte;
        m_newLine = byte == '\n';
        m_lineStart = m_newLine || (m_lineStart && (byte == ' ' || byte == '\t'));
    }

    void apply(Tag tag)
    {
        m_at += tag.length;
        m_newLine = true; // a fence may follow a tag on its line
        if (tag.mark == Mark::Opener) {
            m_inside = true;
        } else if (tag.mark == Mark::Closer && m_inside) {
            m_inside = false;
            m_inFence = false;
            m_reasoning += '\n';
        } else if (tag.mark == Mark::Closer && !trimmed(m_text.substr(m_at)).empty()) {
            // The opener stood in the prompt, or an inner tag was closed before: what came before was reasoning.
            m_reasoning += m_answer + '\n';
            m_answer.clear();
            m_inFence = false;
        }
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    bool m_newLine = true, m_lineStart = true, m_inside = false, m_inFence = false;
    std::string m_answer, m_reasoning;
};

} // namespace

SplitAnswer splitReasoning(std::string_view text)
{
    return Splitter(text).split();
}

} // namespace espalier::llm
