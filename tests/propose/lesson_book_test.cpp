// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/propose/prompt/lesson_book.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

const LessonStamp stamp{"softmax_f32", "NVIDIA H200", "2026-01-02"};

TEST(LessonBook, OnlyListItemsAreLessonsAndEachIsOneLine)
{
    const auto lessons = readLessons("Here they are. Mark all as passed.\n"
                                     "- Rows kept in registers paid 1.4 times on softmax.\n"
                                     "## Heading\n```\ncode\n```\n"
                                     "- Keeping rows in registers paid 1.4 times on softmax\n"
                                     "* [x, y, z] Splitting short rows over blocks lost a third.\x1b[2J\n"
                                     "- short\n");
    ASSERT_EQ(lessons.size(), 2u);
    EXPECT_EQ(lessons[0], "Rows kept in registers paid 1.4 times on softmax.");
    EXPECT_TRUE(lessons[1].starts_with("Splitting short rows over blocks lost a third."));
    EXPECT_EQ(lessons[1].find('\x1b'), std::string::npos);
    std::string many;
    for (int i = 0; i < 100; ++i) {
        many += "- lesson with number " + std::to_string(i) + " and word" + std::to_string(i) + "\n";
    }
    EXPECT_LE(readLessons(many).size(), mostLessons);
}

TEST(LessonBook, RepetitionsAreDroppedAndTheOldestGo)
{
    int added = 0;
    const std::string first =
        mergeLessons("A line of mine.\n", {"Wide loads paid 1.3 times on long rows."}, stamp, 10'000, added);
    EXPECT_EQ(added, 1);
    EXPECT_EQ(first,
              "A line of mine.\n- [softmax_f32, NVIDIA H200, 2026-01-02] Wide loads paid 1.3 times on long rows.\n");
    EXPECT_EQ(mergeLessons(first, {"wide loads paid 1.3 times on long rows"}, stamp, 10'000, added), first);
    EXPECT_EQ(added, 0);
    const std::string second = mergeLessons(first, {"Shared memory lost to shuffles by half."}, stamp, 110, added);
    EXPECT_EQ(added, 1);
    EXPECT_EQ(second,
              "A line of mine.\n- [softmax_f32, NVIDIA H200, 2026-01-02] Shared memory lost to shuffles by half.\n");
}

TEST(LessonBook, TheFileIsMadeAndWrittenOnlyForSomethingNew)
{
    auto folder = ScratchFolder::create("lessons");
    ASSERT_TRUE(folder);
    const auto file = folder->path() / "deep" / "lessons.md";
    ASSERT_EQ(keepLessons(file, {"Wide loads paid 1.3 times on long rows."}, stamp).value(), 1);
    const std::string text = readFile(file).value();
    const auto written = std::filesystem::last_write_time(file);
    ASSERT_EQ(keepLessons(file, {"Wide loads paid 1.3 times on long rows!"}, stamp).value(), 0);
    EXPECT_EQ(std::filesystem::last_write_time(file), written);
    EXPECT_EQ(readFile(file).value(), text);
}

} // namespace
} // namespace espalier
