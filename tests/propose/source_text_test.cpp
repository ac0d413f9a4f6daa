// SPDX-License-Identifier: Apache-2.0
#include "core/propose/source_text.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(SourceText, CommentsBlanksAndEmptyLinesDoNotCount)
{
    EXPECT_EQ(normalisedSource("int  a;\t// one\n\n\n  int b; /* two\nlines */ int c;\n"), "int a;\nint b; int c;\n");
    EXPECT_EQ(sourceIdentity("a b\r\n"), sourceIdentity("a  b // x \\\n still a comment\n"));
    EXPECT_NE(sourceIdentity("a b"), sourceIdentity("ab"));
}

TEST(SourceText, LiteralsStayAsTheyAre)
{
    EXPECT_EQ(normalisedSource("s = \"a  // b\";"), "s = \"a  // b\";\n");
    EXPECT_EQ(normalisedSource("s = \"\\\"  /* \";"), "s = \"\\\"  /* \";\n");
    EXPECT_EQ(normalisedSource("n = 1'000'000; // x"), "n = 1'000'000;\n");
    EXPECT_EQ(normalisedSource("c = '\"'; // x"), "c = '\"';\n");
    EXPECT_EQ(normalisedSource("r = R\"x(  // )\" )x\"; // y"), "r = R\"x(  // )\" )x\";\n");
}

TEST(SourceText, UnfinishedThingsEndWithTheText)
{
    EXPECT_EQ(normalisedSource("a /* b"), "a\n");
    EXPECT_EQ(normalisedSource("a \"b"), "a \"b\n");
    EXPECT_EQ(normalisedSource("a R\"("), "a R\"(\n");
    EXPECT_EQ(normalisedSource("//\\"), "");
    EXPECT_EQ(normalisedSource(""), "");
}

} // namespace
} // namespace espalier
