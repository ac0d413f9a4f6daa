// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <gtest/gtest.h>

using namespace espalier;

TEST(Text, SplitLines)
{
    EXPECT_EQ(splitLines("a\r\nb\n").size(), 2u);
    EXPECT_EQ(splitLines("a\r\nb\n")[0], "a");
    EXPECT_EQ(splitLines("").size(), 0u);
    EXPECT_EQ(splitLines("\n\nx").size(), 3u);
}

TEST(Text, PrintableKeepsUtf8AndReplacesTheRest)
{
    EXPECT_EQ(printable("Grün\t≈\n", 100), "Grün\t≈\n");
    EXPECT_EQ(printable("a\x01\xff\xc0\xaf"
                        "b",
                        100),
              "a\ufffd\ufffd\ufffd\ufffdb");
    EXPECT_EQ(printable("\xed\xa0\x80", 100), "\ufffd\ufffd\ufffd"); // a surrogate is not UTF-8
    EXPECT_EQ(printable(std::string(50, 'x'), 10), "xxxxxxxxxx\n[40 more bytes]");
}

TEST(Text, DurationsHaveThreeDigits)
{
    EXPECT_EQ(durationText(1.2345e-6), "1.23 us");
    EXPECT_EQ(durationText(0.000560), "560 us");
    EXPECT_EQ(durationText(0.9996e-3), "1 ms");
    EXPECT_EQ(durationText(12.34), "12.3 s");
    EXPECT_EQ(durationText(600), "10 min");
}

TEST(Text, AWordForTheShell)
{
    EXPECT_EQ(shellWord("/tmp/a-b_1.espalier"), "/tmp/a-b_1.espalier");
    EXPECT_EQ(shellWord("my pause.espalier"), "'my pause.espalier'");
    EXPECT_EQ(shellWord("it's $HOME"), "'it'\\''s $HOME'");
    EXPECT_EQ(shellWord(""), "''");
    EXPECT_EQ(shellWord("~/x"), "'~/x'");
    EXPECT_EQ(shellWord("Grün"), "'Grün'");
}

TEST(Text, Bytes)
{
    EXPECT_EQ(bytesText(1536), "1.5 KiB");
    EXPECT_EQ(bytesText(12), "12 B");
}
