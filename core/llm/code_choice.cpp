// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/llm/answer_text.h"
#include "core/llm/code_text.h"
#include "core/llm/code_wrapping.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <tuple>

namespace espalier::llm {

namespace {

constexpr std::size_t mostParts = 32; ///< of an answer that are looked at for one file

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

/// 1: said to be the answer, -1: said to be there for another reason, 0: neither.
int standingOf(std::string_view words)
{
    std::string lower;
    for (const char byte : words) {
        lower += static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
    }
    const auto says = [&lower](const auto& list) {
        return std::any_of(list.begin(), list.end(),
                           [&lower](const char* one) { return lower.find(one) != std::string::npos; });
    };
    constexpr std::array other = {"for comparison", "for reference", "the old ",      "old one",  "old version",
                                  "old kernel",     "original",      "previous",      "baseline", "version before",
                                  "the one before", "alternative",   "instead of",    "naive",    "first attempt",
                                  "first draft",    "do not use",    "would be wrong"};
    constexpr std::array answer = {"final",       "complete", "whole file", "full",
                                   "recommended", "improved", "corrected",  "fixed"};
    return (says(answer) ? 1 : 0) - (says(other) ? 1 : 0);
}

/// Picks among blocks[first…]; later ones win ties.
class BlockRanking
{
public:
    BlockRanking(const std::vector<CodeBlock>& blocks, std::string_view entry) : m_entry(entry)
    {
        for (const CodeBlock& block : blocks) {
            m_masked.push_back(maskedCode(block.text));
        }
    }

    EntryUse use(std::size_t i) const { return useOf(m_masked[i], m_entry); }
    const std::string& masked(std::size_t i) const { return m_masked[i]; }

    bool usable(const CodeBlock& block, std::size_t i) const
    {
        const int rank = languageRank(block.language);
        if (rank < 0 || trimmed(block.text).empty()) {
            return false;
        }
        return rank == 2 || looksLikeSource(block.text) || use(i) == EntryUse::Defined;
    }

    std::optional<std::size_t> best(const std::vector<CodeBlock>& blocks, std::size_t first) const
    {
        using Rank = std::tuple<EntryUse, int, int, bool, std::size_t>;
        std::optional<std::size_t> found;
        Rank bestRank{};
        for (std::size_t i = first; i < blocks.size(); ++i) {
            if (!usable(blocks[i], i)) {
                continue;
            }
            const Rank rank{use(i), languageRank(blocks[i].language), standingOf(blocks[i].words), blocks[i].closed,
                            blocks[i].text.size()};
            if (!found || rank >= bestRank) {
                found = i;
                bestRank = rank;
            }
        }
        return found;
    }

private:
    std::string_view m_entry;
    std::vector<std::string> m_masked;
};

/// An answer without fences that is source itself: from the first line of code to the last.
std::optional<CodeBlock> unfenced(std::string_view text, std::string_view entry)
{
    if (!looksLikeSource(text) || useOf(maskedCode(text), entry) == EntryUse::Absent) {
        return std::nullopt;
    }
    constexpr std::array starts = {"#include", "#define", "#pragma", "extern", "__global__", "template", "namespace",
                                   "//",       "/*",      "static",  "using",  "typedef",    "constexpr"};
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = trimmed(text.substr(at, end - at));
        if (std::any_of(starts.begin(), starts.end(), [line](const char* start) { return line.starts_with(start); })) {
            break;
        }
        at = end + 1;
    }
    if (at >= text.size()) {
        return std::nullopt;
    }
    const std::string_view code = text.substr(at);
    const std::string masked = maskedCode(code);
    if (useOf(masked, entry) != EntryUse::Defined) {
        return std::nullopt;
    }
    std::size_t kept = 0, begin = 0; // up to the last line at which a declaration or a directive ends
    long depth = 0;
    for (const std::string_view line : splitLines(masked)) {
        const std::size_t end = std::min(masked.find('\n', begin), masked.size());
        for (const char byte : line) {
            depth += byte == '{' ? 1 : byte == '}' ? -1 : 0;
        }
        const std::string_view words = trimmed(line);
        if (depth <= 0 && (words.ends_with('}') || words.ends_with(';') || words.starts_with('#'))) {
            kept = end;
        }
        begin = end + 1;
    }
    CodeBlock block;
    block.text = std::string(code.substr(0, depth > 0 ? code.size() : kept)) + "\n";
    return block;
}

/// A file that was given in parts: the block with the entry, after those that define what it calls and does not define
/// itself. nullopt: it needs none of them.
std::optional<CodeBlock> putTogether(const CodeChoice& choice, const BlockRanking& ranking, std::size_t among)
{
    std::set<std::size_t> parts;
    std::set<std::string, std::less<>> used, defined;
    const auto take = [&](std::size_t part, const CodeOutline& outline) {
        parts.insert(part);
        for (const std::string_view word : wordsIn(ranking.masked(part))) {
            used.emplace(word);
        }
        defined.insert(outline.functions.begin(), outline.functions.end());
        defined.insert(outline.types.begin(), outline.types.end());
    };
    take(*choice.taken, outlineOf(ranking.masked(*choice.taken)));
    std::map<std::size_t, CodeOutline> others;
    for (std::size_t i = 0; i < std::min(among, mostParts); ++i) {
        const CodeBlock& block = choice.blocks[i];
        if (i != *choice.taken && ranking.usable(block, i) && ranking.use(i) != EntryUse::Defined &&
            standingOf(block.words) >= 0) {
            if (CodeOutline outline = outlineOf(ranking.masked(i)); !outline.loose) {
                others.emplace(i, std::move(outline));
            }
        }
    }
    const auto wants = [&](const std::string& name) { return used.contains(name) && !defined.contains(name); };
    for (auto at = others.begin(); at != others.end();) {
        const CodeOutline& other = at->second;
        if (std::any_of(other.functions.begin(), other.functions.end(), wants) ||
            std::any_of(other.types.begin(), other.types.end(), wants)) {
            take(at->first, other);
            others.erase(at);
            at = others.begin(); // what it calls may stand in one that was passed over
        } else {
            ++at;
        }
    }
    if (parts.size() == 1) {
        return std::nullopt;
    }
    // Includes first: a part that comes later may have those of all. What a part includes by its name is here already.
    CodeBlock whole;
    std::string rest;
    const auto put = [&](std::size_t part) {
        for (const std::string_view line : splitLines(choice.blocks[part].text)) {
            const std::string_view words = trimmed(line);
            const bool include = words.starts_with("#include");
            if (!include || words.find('"') == std::string_view::npos) {
                (include ? whole.text : rest).append(line) += '\n';
            }
        }
        rest += '\n';
    };
    for (const std::size_t part : parts) {
        if (part != *choice.taken) {
            put(part);
        }
    }
    put(*choice.taken);
    whole.language = choice.blocks[*choice.taken].language;
    whole.text += "\n" + rest;
    whole.closed =
        std::all_of(parts.begin(), parts.end(), [&choice](std::size_t i) { return choice.blocks[i].closed; });
    return whole;
}

std::string reasonFor(const CodeChoice& choice, const BlockRanking& ranking, std::string_view entry,
                      std::size_t ofAnswer)
{
    if (!choice.taken) {
        return choice.blocks.empty() ? "the answer holds no code block and is not source itself"
                                     : fmt::format("none of the {} blocks is CUDA or C++ source", choice.blocks.size());
    }
    const CodeBlock& block = choice.blocks[*choice.taken];
    const EntryUse use = ranking.use(*choice.taken);
    return fmt::format("block {} of {}: {}{}{}{}", *choice.taken + 1, choice.blocks.size(),
                       use == EntryUse::Defined ? fmt::format("defines {}", entry)
                       : use == EntryUse::Named ? fmt::format("names {} without defining it", entry)
                                                : fmt::format("no block names {}", entry),
                       block.language.empty() ? "" : fmt::format(", tagged {}", block.language),
                       block.closed ? "" : ", its closing fence is missing",
                       *choice.taken >= ofAnswer ? ", found inside the reasoning since nothing after it is source"
                                                 : "");
}

/// What is wrong with an answer of which nothing can be taken, or with what was taken; empty: nothing.
std::string lackingIn(const CodeChoice& choice, std::string_view text)
{
    if (looksLikeDiff(choice.taken ? choice.source() : text)) {
        return "It is a change to a file, a diff, and not the file. Give one fenced block marked cuda with the whole "
               "file, "
               "from the first include to the last brace.";
    }
    if (choice.taken) {
        return {};
    }
    if (choice.blocks.empty() && trimmed(text).empty()) {
        return "It is empty. Give one fenced block marked cuda with the whole file.";
    }
    std::set<std::string> languages;
    for (const CodeBlock& block : choice.blocks) {
        if (languageRank(block.language) < 0) {
            languages.insert(block.language);
        }
    }
    return fmt::format("It holds no CUDA source{}. Give one fenced block marked cuda with the whole file.",
                       languages.empty() ? "" : fmt::format(", only {}", fmt::join(languages, ", ")));
}

/// The first line of a block says its language where the fence should.
void takeLanguageLine(CodeBlock& block)
{
    const std::size_t end = block.text.find('\n');
    const std::string_view first = trimmed(std::string_view(block.text).substr(0, end));
    if (block.language.empty() && end != std::string::npos && (first == "cuda" || first == "cpp" || first == "c++")) {
        block.language = first;
        block.text.erase(0, end + 1);
    }
}

} // namespace

CodeChoice chooseCode(std::string_view text, std::string_view entry)
{
    const SplitAnswer split = splitReasoning(text);
    CodeChoice choice;
    std::vector<std::vector<std::string>> notes; ///< by block: how it was cleaned
    const auto add = [&](CodeBlock block) {
        takeLanguageLine(block);
        notes.emplace_back();
        if (languageRank(block.language) >= 0) {
            block.text = cleanedCode(block.text, notes.back());
        }
        choice.blocks.push_back(std::move(block));
    };
    for (CodeBlock& block : codeBlocks(split.text)) {
        add(std::move(block));
    }
    BlockRanking ranking(choice.blocks, entry);
    choice.taken = ranking.best(choice.blocks, 0);
    if (!choice.taken || ranking.use(*choice.taken) != EntryUse::Defined) {
        std::vector<CodeBlock> wrapped = wrappedBlocks(split.text);
        if (choice.blocks.empty() && wrapped.empty()) {
            std::vector<std::string> changes;
            if (auto whole = unfenced(cleanedCode(split.text, changes), entry)) {
                choice.blocks.push_back(std::move(*whole));
                choice.taken = 0;
                choice.whole = balanced(maskedCode(choice.source()));
                choice.blocks[0].closed = choice.whole;
                choice.lacking = lackingIn(choice, split.text);
                choice.why = fmt::format("the answer has no fences and is source itself: it defines {}{}", entry,
                                         changes.empty() ? "" : fmt::format("; {}", fmt::join(changes, "; ")));
                return choice;
            }
        }
        for (CodeBlock& block : wrapped) {
            add(std::move(block));
        }
        ranking = BlockRanking(choice.blocks, entry);
        choice.taken = ranking.best(choice.blocks, 0);
    }
    const std::size_t ofAnswer = choice.blocks.size();
    for (CodeBlock& block : codeBlocks(split.reasoning)) {
        add(std::move(block));
    }
    ranking = BlockRanking(choice.blocks, entry);
    if (!choice.taken) {
        choice.taken = ranking.best(choice.blocks, ofAnswer);
    }
    choice.why = reasonFor(choice, ranking, entry, ofAnswer);
    choice.lacking = lackingIn(choice, split.text);
    if (!choice.taken) {
        return choice;
    }
    if (!notes[*choice.taken].empty()) {
        choice.why += fmt::format("; {}", fmt::join(notes[*choice.taken], "; "));
    }
    if (*choice.taken < ofAnswer && ranking.use(*choice.taken) == EntryUse::Defined) {
        if (auto parts = putTogether(choice, ranking, ofAnswer)) {
            choice.why += "; what it calls is taken from other blocks of the answer";
            choice.blocks.push_back(std::move(*parts));
            choice.taken = choice.blocks.size() - 1;
        }
    }
    const std::string masked = maskedCode(choice.source());
    choice.whole =
        choice.blocks[*choice.taken].closed || (useOf(masked, entry) == EntryUse::Defined && balanced(masked));
    return choice;
}

} // namespace espalier::llm
