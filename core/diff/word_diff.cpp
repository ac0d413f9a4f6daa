// SPDX-License-Identifier: Apache-2.0
#include "core/diff/word_diff.h"

#include "core/diff/myers.h"

#include <algorithm>
#include <unordered_map>

namespace espalier {

namespace {

constexpr int tokenCostCap = 200;

bool isSpace(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}
/// Bytes of a multi-byte character count as letters: they stay together.
bool isWord(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

std::vector<ByteSpan> tokensOf(std::string_view line)
{
    std::vector<ByteSpan> tokens;
    for (int i = 0; i < int(line.size());) {
        int end = i + 1;
        const auto belongs = isSpace(line[i]) ? isSpace : isWord(line[i]) ? isWord : nullptr;
        while (belongs && end < int(line.size()) && belongs(line[end])) {
            ++end;
        }
        tokens.push_back({i, end});
        i = end;
    }
    return tokens;
}

bool isBlank(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), isSpace);
}

std::string_view textOf(std::string_view line, const ByteSpan& span)
{
    return line.substr(span.begin, span.end - span.begin);
}

/// The tokens that no run covers, neighbours joined; blanks between two differing words join them too, because
/// three marks in one phrase read worse than one.
std::vector<ByteSpan> uncovered(std::string_view line, const std::vector<ByteSpan>& tokens,
                                const std::vector<bool>& kept)
{
    std::vector<ByteSpan> spans;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (kept[i]) {
            continue;
        }
        if (!spans.empty()) {
            ByteSpan& last = spans.back();
            if (isBlank(line.substr(last.end, tokens[i].begin - last.end))) {
                last.end = tokens[i].end;
                continue;
            }
        }
        spans.push_back(tokens[i]);
    }
    return spans;
}

int inkOf(std::string_view line)
{
    return int(std::count_if(line.begin(), line.end(), [](char c) { return !isSpace(c); }));
}

} // namespace

WordDiff diffWords(std::string_view left, std::string_view right)
{
    const std::vector<ByteSpan> leftTokens = tokensOf(left), rightTokens = tokensOf(right);
    std::unordered_map<std::string_view, int> names;
    const auto numbered = [&](std::string_view line, const std::vector<ByteSpan>& tokens) {
        std::vector<int> ids;
        ids.reserve(tokens.size());
        for (const ByteSpan& token : tokens) {
            ids.push_back(names.emplace(textOf(line, token), int(names.size())).first->second);
        }
        return ids;
    };
    const std::vector<int> leftIds = numbered(left, leftTokens), rightIds = numbered(right, rightTokens);
    std::vector<bool> leftKept(leftTokens.size()), rightKept(rightTokens.size());
    int common = 0;
    for (const MatchRun& run : matchSequences(leftIds, rightIds, tokenCostCap)) {
        for (int i = 0; i < run.length; ++i) {
            leftKept[run.left + i] = rightKept[run.right + i] = true;
            common += inkOf(textOf(left, leftTokens[run.left + i]));
        }
    }
    WordDiff result{uncovered(left, leftTokens, leftKept), uncovered(right, rightTokens, rightKept), 1};
    if (const int total = inkOf(left) + inkOf(right); total > 0) {
        result.similarity = 2.0 * common / total;
    }
    return result;
}

} // namespace espalier
