// SPDX-License-Identifier: Apache-2.0
#include "core/diff/myers.h"
#include "core/diff/text_diff.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <random>

using namespace espalier;

namespace {

std::string randomText(std::mt19937& random, int lines, int vocabulary)
{
    std::string text;
    for (int i = 0; i < lines; ++i) {
        text += "line " + std::to_string(random() % vocabulary) + (random() % 4 == 0 ? " tail\n" : "\n");
    }
    if (!text.empty() && random() % 5 == 0) {
        text.pop_back();
    }
    return text;
}

std::string edited(std::mt19937& random, const std::string& text, int percent, int vocabulary)
{
    std::string out;
    for (const std::string_view line : diffLines(text)) {
        const int dice = int(random() % 300);
        if (dice < percent) {
            continue;
        }
        if (dice < 2 * percent) {
            out += "line " + std::to_string(random() % vocabulary) + "\n";
        }
        out += std::string(line) + (dice > 300 - percent ? " more\n" : "\n");
    }
    return out;
}

/// The text of one side, put together from the rows alone and the lines they name.
std::string applied(const TextDiff& diff, std::string_view left, std::string_view right)
{
    const auto leftLines = diffLines(left), rightLines = diffLines(right);
    std::string out;
    for (const DiffRow& row : diff.rows) {
        if (row.right >= 0) {
            // An equal row must give the other text from this one's line.
            out += row.kind == RowKind::Equal ? leftLines[row.left] : rightLines[row.right];
            out += '\n';
        }
    }
    if (diff.rightEndsOpen) {
        out.pop_back();
    }
    return out;
}

void expectSound(const TextDiff& diff)
{
    int left = 0, right = 0;
    for (const DiffRow& row : diff.rows) {
        EXPECT_TRUE(row.left < 0 || row.left == left++);
        EXPECT_TRUE(row.right < 0 || row.right == right++);
        EXPECT_EQ(row.kind == RowKind::Added, row.left < 0);
        EXPECT_EQ(row.kind == RowKind::Removed, row.right < 0);
    }
    EXPECT_EQ(left, diff.leftLines);
    EXPECT_EQ(right, diff.rightLines);
    std::size_t inHunks = 0;
    for (const DiffHunk& hunk : diff.hunks) {
        EXPECT_LT(hunk.begin, hunk.end);
        inHunks += hunk.end - hunk.begin;
    }
    EXPECT_EQ(inHunks, std::size_t(std::count_if(diff.rows.begin(), diff.rows.end(),
                                                 [](const DiffRow& row) { return row.kind != RowKind::Equal; })));
}

int longestCommon(const std::vector<int>& a, const std::vector<int>& b)
{
    std::vector<int> row(b.size() + 1, 0);
    for (const int x : a) {
        int diagonal = 0;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const int above = row[j + 1];
            row[j + 1] = x == b[j] ? diagonal + 1 : std::max(row[j + 1], row[j]);
            diagonal = above;
        }
    }
    return row.back();
}

} // namespace

TEST(DiffProperties, ApplyingTheDiffGivesTheOtherText)
{
    std::mt19937 random(7);
    for (int round = 0; round < 1500; ++round) {
        const int vocabulary = round % 3 == 0 ? 4 : 500;
        const std::string left = randomText(random, int(random() % 80), vocabulary);
        const std::string right = round % 2 ? edited(random, left, int(random() % 120), vocabulary)
                                            : randomText(random, int(random() % 80), vocabulary);
        const int cap = round % 5 == 0 ? 1 + int(random() % 12) : 512; // small caps walk the capped paths
        const TextDiff diff = diffTexts(left, right, {.ignoreWhitespace = false, .costCap = cap});
        expectSound(diff);
        ASSERT_EQ(applied(diff, left, right), right) << "round " << round;
        ASSERT_EQ(diff.same(), left == right) << "round " << round;
    }
}

TEST(DiffProperties, BelowTheCapNothingShorterExists)
{
    std::mt19937 random(11);
    for (int round = 0; round < 2000; ++round) {
        std::vector<int> left(random() % 24), right(random() % 24);
        std::generate(left.begin(), left.end(), [&] { return int(random() % 5); });
        std::generate(right.begin(), right.end(), [&] { return int(random() % 5); });
        int common = 0, leftAt = 0, rightAt = 0;
        for (const MatchRun& run : matchSequences(left, right)) {
            ASSERT_GE(run.left, leftAt);
            ASSERT_GE(run.right, rightAt);
            leftAt = run.left + run.length;
            rightAt = run.right + run.length;
            ASSERT_TRUE(std::equal(left.begin() + run.left, left.begin() + leftAt, right.begin() + run.right));
            common += run.length;
        }
        ASSERT_LE(leftAt, int(left.size()));
        ASSERT_LE(rightAt, int(right.size()));
        ASSERT_EQ(common, longestCommon(left, right)) << "round " << round;
    }
}

TEST(DiffProperties, WordSpansCoverWhatDiffers)
{
    std::mt19937 random(5);
    const char* words[] = {"float", "x", "=", "row", "[", "]", " ", "  ", "+", "é", "1.0f"};
    const auto line = [&] {
        std::string text;
        for (int i = int(random() % 12); i > 0; --i) {
            text += words[random() % std::size(words)];
        }
        return text;
    };
    const auto without = [](const std::string& text, const std::vector<ByteSpan>& spans) {
        std::string rest;
        int at = 0;
        for (const ByteSpan& span : spans) {
            EXPECT_LT(span.begin, span.end);
            EXPECT_GE(span.begin, at);
            rest += text.substr(at, span.begin - at);
            at = span.end;
        }
        rest += text.substr(at);
        std::erase(rest, ' '); // blanks between two marks belong to them
        return rest;
    };
    for (int round = 0; round < 3000; ++round) {
        const std::string left = line(), right = line();
        const WordDiff diff = diffWords(left, right);
        ASSERT_EQ(without(left, diff.left), without(right, diff.right)) << left << " / " << right;
        ASSERT_GE(diff.similarity, 0);
        ASSERT_LE(diff.similarity, 1);
    }
}

TEST(DiffProperties, AWorstCaseStaysBounded)
{
    // Two texts with nothing unique in common and nearly everything changed: plain Myers takes seconds here.
    std::mt19937 random(3);
    std::string left, right;
    for (int i = 0; i < 20000; ++i) {
        left += std::to_string(random() % 50) + "\n";
        right += std::to_string(random() % 50) + "\n";
    }
    const auto start = std::chrono::steady_clock::now();
    const TextDiff diff = diffTexts(left, right);
    const auto spent = std::chrono::steady_clock::now() - start;
    expectSound(diff);
    EXPECT_EQ(applied(diff, left, right), right);
    EXPECT_LT(std::chrono::duration<double>(spent).count(), 5.0);
}
