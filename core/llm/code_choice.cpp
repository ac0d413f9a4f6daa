// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/llm/answer_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <tuple>

namespace espalier::llm {

namespace {

bool isWordByte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_';
}

enum class EntryUse { Absent, Named, Defined };

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

/// Defined: the name, a parameter list, and a body. No parser: comments between them are rare, and the compiler
/// decides.
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

/// 2: CUDA or C++, 1: untagged or unknown, 0: a document that may hold source, -1: never source.
int languageRank(std::string_view language)
{
    constexpr std::array source = {"cuda", "cu",  "cpp", "c++", "c",        "cc",
                                   "cxx",  "hpp", "cuh", "h",   "cuda-cpp", "cudacpp"};
    constexpr std::array document = {"markdown", "md", "text", "txt", "plaintext", "xml", "html"};
    constexpr std::array never = {"diff",    "patch",  "json",  "jsonc", "bash", "sh",  "shell", "console",
                                  "zsh",     "python", "py",    "yaml",  "toml", "ptx", "sass",  "asm",
                                  "mermaid", "latex",  "cmake", "make",  "ini",  "csv", "log"};
    const auto in = [language](const auto& list) {
        return std::find(list.begin(), list.end(), language) != list.end();
    };
    return in(source) ? 2 : in(never) ? -1 : in(document) ? 0 : 1;
}

/// What a kernel file holds whatever else is in it.
bool looksLikeSource(std::string_view code)
{
    return code.find("__global__") != std::string_view::npos || code.find("#include") != std::string_view::npos ||
           code.find("extern \"C\"") != std::string_view::npos;
}

bool usable(const CodeBlock& block, std::string_view entry)
{
    const int rank = languageRank(block.language);
    if (rank < 0 || trimmed(block.text).empty()) {
        return false;
    }
    return rank == 2 || looksLikeSource(block.text) || useOf(block.text, entry) == EntryUse::Defined;
}

/// Picks among blocks[first…]; later ones win ties.
std::optional<std::size_t> bestOf(const std::vector<CodeBlock>& blocks, std::size_t first, std::string_view entry)
{
    using Rank = std::tuple<EntryUse, int, bool, std::size_t>;
    std::optional<std::size_t> best;
    Rank bestRank{};
    for (std::size_t i = first; i < blocks.size(); ++i) {
        if (!usable(blocks[i], entry)) {
            continue;
        }
        const Rank rank{useOf(blocks[i].text, entry), languageRank(blocks[i].language), blocks[i].closed,
                        blocks[i].text.size()};
        if (!best || rank >= bestRank) {
            best = i;
            bestRank = rank;
        }
    }
    return best;
}

/// An answer without fences that is source itself.
std::optional<CodeBlock> unfenced(std::string_view text, std::string_view entry)
{
    if (useOf(text, entry) != EntryUse::Defined || !looksLikeSource(text)) {
        return std::nullopt;
    }
    constexpr std::array starts = {"#include", "#define", "#pragma", "extern", "__global__", "template", "namespace",
                                   "//",       "/*",      "static",  "using",  "typedef",    "constexpr"};
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = trimmed(text.substr(at, end - at));
        if (std::any_of(starts.begin(), starts.end(), [line](const char* start) { return line.starts_with(start); })) {
            return CodeBlock{"", std::string(text.substr(at)) + "\n", 0, true};
        }
        at = end + 1;
    }
    return std::nullopt;
}

std::string reasonFor(const CodeChoice& choice, std::string_view entry, std::size_t ofAnswer)
{
    if (!choice.taken) {
        return choice.blocks.empty() ? "the answer holds no code block and is not source itself"
                                     : fmt::format("none of the {} blocks is CUDA or C++ source", choice.blocks.size());
    }
    const CodeBlock& block = choice.blocks[*choice.taken];
    const EntryUse use = useOf(block.text, entry);
    return fmt::format("block {} of {}: {}{}{}{}", *choice.taken + 1, choice.blocks.size(),
                       use == EntryUse::Defined ? fmt::format("defines {}", entry)
                       : use == EntryUse::Named ? fmt::format("names {} without defining it", entry)
                                                : fmt::format("no block names {}", entry),
                       block.language.empty() ? "" : fmt::format(", tagged {}", block.language),
                       block.closed ? "" : ", its closing fence is missing",
                       *choice.taken >= ofAnswer ? ", found inside the reasoning since nothing after it is source"
                                                 : "");
}

} // namespace

CodeChoice chooseCode(std::string_view text, std::string_view entry)
{
    const SplitAnswer split = splitReasoning(text);
    CodeChoice choice;
    choice.blocks = codeBlocks(split.text);
    choice.taken = bestOf(choice.blocks, 0, entry);
    if (!choice.taken && choice.blocks.empty()) {
        if (auto whole = unfenced(split.text, entry)) {
            choice.blocks.push_back(std::move(*whole));
            choice.taken = 0;
            choice.why = fmt::format("the answer has no fences and is source itself: it defines {}", entry);
            return choice;
        }
    }
    const std::size_t ofAnswer = choice.blocks.size();
    std::vector<CodeBlock> hidden = codeBlocks(split.reasoning);
    std::move(hidden.begin(), hidden.end(), std::back_inserter(choice.blocks));
    if (!choice.taken) {
        choice.taken = bestOf(choice.blocks, ofAnswer, entry);
    }
    choice.why = reasonFor(choice, entry, ofAnswer);
    return choice;
}

} // namespace espalier::llm
