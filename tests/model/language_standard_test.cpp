// SPDX-License-Identifier: Apache-2.0
#include "core/model/language_standard.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(LanguageStandard, Field12TheSourceThenTheTaskThenSeventeen)
{
    Task task;
    EXPECT_EQ(languageStandard("int x;\n", task), "c++17");
    task.build.flags = {"-O2", "-std=c++14"};
    EXPECT_EQ(languageStandard("int x;\n", task), "c++14");
    EXPECT_EQ(languageStandard("#include <span>\r\n  //  espalier:  std\tc++20  \r\n", task), "c++20");
    EXPECT_EQ(
        languageStandard("// espalier: standard c++20\n// espalier: stdx\nint std = 1; // espalier: std c++20\n", task),
        "c++14")
        << "a line of its own, and that word";
}

TEST(LanguageStandard, SaysWhatItCannotRead)
{
    EXPECT_EQ(statedStandard("\n// espalier: std\n").error().message,
              "line 2: expected a standard such as c++20 after \"espalier: std\"; found \"\"");
    EXPECT_FALSE(statedStandard("// espalier: std gnu++20\n"));
    EXPECT_FALSE(statedStandard("// espalier: std c++20 -O0\n")) << "no way to other options";
    EXPECT_EQ(statedStandard("// espalier: std c++2b\n").value(), "c++2b");
}

} // namespace
} // namespace espalier
