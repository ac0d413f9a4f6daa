// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::llm {

/// What is in the text of an answer. Pure functions over bytes of any kind (they are fuzzed); thread: any. Nothing here
/// fails: what is not found is empty.

/// An answer apart from the reasoning that a model or its server left in it. Known tags: think, thinking, thought,
/// thoughts, reasoning, reflection, scratchpad, analysis (also in square brackets and with a prefix, <seed:think>),
/// Kimi's triangles and the channels of gpt-oss. Any closer closes any opener; a closer without an opener ends
/// reasoning that began with the text; an opener without a closer takes the rest. Tags inside a code block of the
/// answer are code.
struct SplitAnswer {
    std::string text;      ///< the answer, trimmed
    std::string reasoning; ///< all of it, tags removed, trimmed
};
SplitAnswer splitReasoning(std::string_view text);

/// One fenced block. Blocks inside a block (a kernel inside a Markdown document) are listed after it.
struct CodeBlock {
    std::string language; ///< first word behind the fence, lower case; may be empty
    std::string text;     ///< without the fences and their indentation
    int depth = 0;        ///< 0: not inside another block
    bool closed = true;   ///< false: the answer ended, or the next block began, before its closing fence
    std::string words;    ///< the last line before the fence that is no part of a block; cut
};
std::vector<CodeBlock> codeBlocks(std::string_view text);

/// Which block of an answer is the candidate. Ranked by: defines the entry point (else names it), language tag (CUDA
/// and C++ before none before others), what is said before it ("the old one" after all others), longest, last. A block
/// of a language that is no source (a diff, JSON, a shell) is never taken. Where no fence holds the entry, other
/// wrappings are looked into (code_wrapping.h), and an answer that is itself source is the block, from its first line
/// of code to its last. A file that was given in parts (kernels in one block, the host's function in another) is put
/// together as one more block. What a compiler cannot read for its typography is read as what was meant
/// (cleanedCode()).
struct CodeChoice {
    std::vector<CodeBlock> blocks;    ///< all of them, in order; those found inside the reasoning come last
    std::optional<std::size_t> taken; ///< index into blocks; nullopt: nothing there is source
    std::string why;     ///< one sentence, for the record: "block 2 of 3: defines softmax_f32, tagged cuda"
    std::string lacking; ///< why nothing can be taken, or what was taken is no whole file, for who wrote it; else empty
    std::string_view source() const { return taken ? std::string_view(blocks[*taken].text) : std::string_view(); }
    /// The block was closed, or it is whole by what stands in it.
    bool whole = true;
};
/// `text`: a whole answer; reasoning that is still in it is split off first, and searched only when nothing else holds
/// source.
CodeChoice chooseCode(std::string_view text, std::string_view entry);

/// One idea of a list of ideas.
struct IdeaText {
    std::string title; ///< one line; made from the first words of the text where the answer gave none
    std::string text;
    bool operator==(const IdeaText&) const = default;
};
/// Ideas from structured output, from JSON inside prose or a fence (trailing commas, comments, single quotes, raw line
/// ends and a cut end are tolerated: whole entries are kept), else from the outermost list or the headings of Markdown.
/// At most 64; empty when the text is neither.
std::vector<IdeaText> parseIdeas(std::string_view text);

} // namespace espalier::llm
