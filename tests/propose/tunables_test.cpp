// SPDX-License-Identifier: Apache-2.0
#include "core/propose/tunables.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

const std::string kernel = "// espalier: tune BLOCK = 128 256 512\n"
                           "#define BLOCK 256\n"
                           "int x;\n"
                           "  //espalier:tune ITEMS=-1 2 2   4\r\n"
                           "#  define\tITEMS  4 // per thread\r\n"
                           "int y;\n";

std::string problemOf(const std::string& source)
{
    const SourceMarks marks = readMarks(source);
    EXPECT_TRUE(marks.tunables.empty()) << source;
    return marks.problems.size() == 1 ? marks.problems.front().sentence : std::to_string(marks.problems.size());
}

TEST(Tunables, AConstantIsTunedLikeAMacro)
{
    const std::string source = "// espalier: tune T = 64 128\n  static constexpr std::int64_t T = 64; // threads\n"
                               "// espalier: tune U = 1 2 4\nconst unsigned int U=2;\n";
    const SourceMarks marks = readMarks(source);
    EXPECT_TRUE(marks.problems.empty());
    ASSERT_EQ(marks.tunables.size(), 2u);
    EXPECT_EQ(marks.tunables[0].current, 64);
    EXPECT_EQ(withTunables(source, {{"T", 128}, {"U", 4}}).value(),
              "// espalier: tune T = 64 128\n  static constexpr std::int64_t T = 128; // threads\n"
              "// espalier: tune U = 1 2 4\nconst unsigned int U=4;\n");
}

TEST(Tunables, AreReadWithTheirPlaces)
{
    const SourceMarks marks = readMarks(kernel);
    ASSERT_EQ(marks.tunables.size(), 2u);
    EXPECT_TRUE(marks.problems.empty());
    EXPECT_EQ(marks.tunables[0].name, "BLOCK");
    EXPECT_EQ(marks.tunables[0].values, (std::vector<std::int64_t>{128, 256, 512}));
    EXPECT_EQ(marks.tunables[0].current, 256);
    EXPECT_EQ(marks.tunables[0].line, 2);
    EXPECT_EQ(marks.tunables[1].values, (std::vector<std::int64_t>{-1, 2, 4}));
    EXPECT_EQ(kernel.substr(marks.tunables[1].begin, marks.tunables[1].end - marks.tunables[1].begin), "4");
}

TEST(Tunables, RewritingChangesTheValuesOnly)
{
    EXPECT_EQ(withTunables(kernel, {{"BLOCK", 128}, {"ITEMS", -1}}).value(), "// espalier: tune BLOCK = 128 256 512\n"
                                                                             "#define BLOCK 128\n"
                                                                             "int x;\n"
                                                                             "  //espalier:tune ITEMS=-1 2 2   4\r\n"
                                                                             "#  define\tITEMS  -1 // per thread\r\n"
                                                                             "int y;\n");
    EXPECT_EQ(withTunables(kernel, {}).value(), kernel);
    EXPECT_EQ(withTunables(kernel, {{"BLOCK", 256}}).value(), kernel);
}

TEST(Tunables, UnknownNamesAndValuesAreRefused)
{
    EXPECT_EQ(withTunables(kernel, {{"BLOCKS", 128}}).error().message, "The kernel declares no tunable BLOCKS.");
    EXPECT_EQ(withTunables(kernel, {{"BLOCK", 129}}).error().message,
              "129 is not among the values that line 2 allows for BLOCK.");
}

TEST(Tunables, EveryMistakeHasItsSentence)
{
    EXPECT_EQ(problemOf("// espalier: tune\n#define A 1\n"),
              "Expected a name after \"tune\", as in \"tune BLOCK = 128 256\".");
    EXPECT_EQ(problemOf("// espalier: tune A 1 2\n#define A 1\n"),
              "Expected \"=\" and whole numbers after \"tune A\".");
    EXPECT_EQ(problemOf("// espalier: tune A = 1 x\n#define A 1\n"), "Expected whole numbers for A, found \"x\".");
    EXPECT_EQ(problemOf("// espalier: tune A =\n#define A 1\n"), "Expected 1 to 64 whole numbers for A.");
    EXPECT_EQ(problemOf("// espalier: tune A = 1 2\n"),
              "Expected \"#define A VALUE\" or \"constexpr int A = VALUE;\" on the line below.");
    EXPECT_EQ(problemOf("// espalier: tune A = 1 2\nint a;\n#define A 1\n"),
              "Expected \"#define A VALUE\" or \"constexpr int A = VALUE;\" on the line below.");
    EXPECT_EQ(problemOf("// espalier: tune A = 1 2\n#define AB 1\n"),
              "Expected \"#define A VALUE\" or \"constexpr int A = VALUE;\" on the line below.");
    EXPECT_EQ(problemOf("// espalier: tune A = 1 2\n#define A(x) 1\n"),
              "Expected \"#define A VALUE\" or \"constexpr int A = VALUE;\" on the line below.");
    EXPECT_EQ(problemOf("// espalier: tune A = 1 2\n#define A 1 + 1\n"),
              "The value of A must be one whole number to be tuned, found \"1 + 1\".");
    EXPECT_EQ(problemOf("// espalier: tune A = 1 2\nconstexpr int A = 1 + 1;\n"),
              "The value of A must be one whole number to be tuned, found \"1 + 1\".");
    EXPECT_EQ(problemOf("// espalier: tune A = 1 2\nint A = 1;\n"), // may change while it runs
              "Expected \"#define A VALUE\" or \"constexpr int A = VALUE;\" on the line below.");
    EXPECT_EQ(problemOf("// espalier: tune A = 1\n#define A 1\n"), "A has no value but the one it has.");
    EXPECT_EQ(problemOf("// espalier: tun A = 1\n"),
              "Expected \"tune NAME = a b c\", \"tune-if CONDITION\", \"lock\", \"unlock\" or \"std c++20\" after "
              "\"espalier:\".");
    EXPECT_EQ(problemOf("// espalier: tune A = 1 99999999999999999999\n#define A 1\n"),
              "Expected whole numbers for A, found \"99999999999999999999\".");
}

TEST(Tunables, MarksInsideCodeLinesDoNotCount)
{
    const SourceMarks marks = readMarks("int a; // espalier: tune A = 1 2\n#define A 1\n");
    EXPECT_TRUE(marks.tunables.empty());
    EXPECT_TRUE(marks.problems.empty());
}

TEST(Locks, KeepTunablesOutAndMustStay)
{
    const std::string source = "a\n// espalier: lock\n// espalier: tune A = 1 2\n#define A 1\n// espalier: unlock\nb\n";
    const SourceMarks marks = readMarks(source);
    EXPECT_TRUE(marks.tunables.empty());
    ASSERT_EQ(marks.locked.size(), 1u);
    EXPECT_EQ(marks.locked[0].first, 2);
    EXPECT_EQ(marks.locked[0].last, 5);
    EXPECT_TRUE(checkLocks(source, "before\n" + source + "after\n"));
    EXPECT_EQ(checkLocks(source, "a\nb\n").error().message,
              "Lines 2 to 5 of the parent are locked and were changed: keep them as they are.");
    EXPECT_TRUE(checkLocks("no locks", "anything"));
}

TEST(Locks, AnOpenLockHoldsToTheEnd)
{
    const SourceMarks marks = readMarks("a\n// espalier: lock\nb\nc");
    ASSERT_EQ(marks.locked.size(), 1u);
    EXPECT_EQ(marks.locked[0].last, 4);
    EXPECT_EQ(marks.locked[0].text, "// espalier: lock\nb\nc");
    EXPECT_EQ(marks.problems.size(), 1u);
}

} // namespace
} // namespace espalier
