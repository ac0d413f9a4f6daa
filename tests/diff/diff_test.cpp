// SPDX-License-Identifier: Apache-2.0
#include "core/diff/myers.h"
#include "core/diff/text_diff.h"

#include <gtest/gtest.h>

using namespace espalier;

namespace {

/// Rows as text, one a line: " = old | new", so that a failure shows two readable lists.
std::string printed(std::string_view left, std::string_view right, const DiffOptions& options = {})
{
    const TextDiff diff = diffTexts(left, right, options);
    const auto leftLines = diffLines(left), rightLines = diffLines(right);
    std::string out;
    for (const DiffRow& row : diff.rows) {
        out += row.kind == RowKind::Equal     ? "= "
               : row.kind == RowKind::Changed ? "~ "
               : row.kind == RowKind::Added   ? "+ "
                                              : "- ";
        out += row.left < 0 ? "" : leftLines[row.left];
        out += "|";
        out += row.right < 0 ? "" : rightLines[row.right];
        out += "\n";
    }
    return out;
}

std::string cut(std::string_view line, const std::vector<ByteSpan>& spans)
{
    std::string out;
    for (const ByteSpan& span : spans) {
        out += "[" + std::string(line.substr(span.begin, span.end - span.begin)) + "]";
    }
    return out;
}

} // namespace

TEST(TextDiff, EqualTextsHaveNoHunks)
{
    EXPECT_TRUE(diffTexts("a\nb\n", "a\nb\n").same());
    EXPECT_TRUE(diffTexts("", "").same());
}

TEST(TextDiff, EmptySideIsAllAddedOrAllRemoved)
{
    EXPECT_EQ(printed("", "a\nb\n"), "+ |a\n+ |b\n");
    EXPECT_EQ(printed("a\nb\n", ""), "- a|\n- b|\n");
}

TEST(TextDiff, InsertedAndRemovedLinesGetFillersOpposite)
{
    EXPECT_EQ(printed("a\nb\nc\n", "a\nx\nb\n"), "= a|a\n+ |x\n= b|b\n- c|\n");
}

TEST(TextDiff, LikeLinesStandOppositeAcrossAnInsertion)
{
    // The changed loop header must face its own old version, not the comment that was put before it.
    EXPECT_EQ(printed("for (int i = 0; i < n; ++i) {\n", "// four at a time\nfor (int i = 0; i < n; i += 4) {\n"),
              "+ |// four at a time\n~ for (int i = 0; i < n; ++i) {|for (int i = 0; i < n; i += 4) {\n");
}

TEST(TextDiff, UnlikeLinesFaceEachOtherWithoutWordMarks)
{
    const TextDiff diff = diffTexts("float m = -INFINITY;\n", "__syncthreads();\n");
    ASSERT_EQ(diff.rows.size(), 1u);
    EXPECT_EQ(diff.rows[0].kind, RowKind::Changed);
    EXPECT_EQ(diff.rows[0].words, -1);
}

TEST(TextDiff, HunksAndCounts)
{
    const TextDiff diff = diffTexts("a\nb\nc\nd\ne\n", "a\nB1 b\nc\nd\ne\nf\n");
    ASSERT_EQ(diff.hunks.size(), 2u);
    EXPECT_EQ(diff.hunks[0], (DiffHunk{1, 2}));
    EXPECT_EQ(diff.hunks[1], (DiffHunk{5, 6}));
    EXPECT_EQ(diff.added, 2);
    EXPECT_EQ(diff.removed, 1);
}

TEST(TextDiff, MissingLastLineEndIsADifference)
{
    EXPECT_FALSE(diffTexts("a\nb", "a\nb\n").same());
    EXPECT_TRUE(diffTexts("a\nb", "a\nb\n", {.ignoreWhitespace = true}).same());
    EXPECT_TRUE(diffTexts("a\nb", "a\nb").same());
}

TEST(TextDiff, WhitespaceCanBeIgnored)
{
    EXPECT_FALSE(diffTexts("int  a;\r\n", "int a;\n").same());
    EXPECT_TRUE(diffTexts("int  a;\r\n", "int a;\n", {.ignoreWhitespace = true}).same());
    EXPECT_FALSE(diffTexts("inta;\n", "int a;\n", {.ignoreWhitespace = true}).same());
}

TEST(WordDiff, MarksWholeWordsOnly)
{
    const std::string_view left = "  float m = row[threadIdx.x];", right = "  float4 m = row4[threadIdx.x];";
    const WordDiff words = diffWords(left, right);
    EXPECT_EQ(cut(left, words.left), "[float][row]");
    EXPECT_EQ(cut(right, words.right), "[float4][row4]");
    EXPECT_GT(words.similarity, 0.6);
}

TEST(WordDiff, JoinsMarksAcrossBlanksAndKeepsCharactersWhole)
{
    const std::string_view left = "// a b c", right = "// é ü c";
    const WordDiff words = diffWords(left, right);
    EXPECT_EQ(cut(left, words.left), "[a b]");
    EXPECT_EQ(cut(right, words.right), "[é ü]");
}

TEST(Myers, FindsTheShortestScriptBelowTheCap)
{
    const std::vector<int> left{1, 2, 3, 1, 2, 2, 1}, right{3, 2, 1, 2, 1, 3};
    int common = 0;
    for (const MatchRun& run : matchSequences(left, right)) {
        common += run.length;
    }
    EXPECT_EQ(common, 4); // Myers' own example: five edits
}

TEST(UnifiedText, LooksLikeDiffU)
{
    EXPECT_EQ(unifiedText(diffTexts("a\nb\nc\n", "a\nx\nc"), "a\nb\nc\n", "a\nx\nc", "old", "new"),
              "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+x\n+c\n\\ No newline at end of file\n");
    EXPECT_EQ(unifiedText(diffTexts("", "a\n"), "", "a\n", "old", "new"), "--- old\n+++ new\n@@ -0,0 +1,1 @@\n+a\n");
    EXPECT_EQ(unifiedText(diffTexts("a\n", "a\n"), "a\n", "a\n", "old", "new"), "");
}
