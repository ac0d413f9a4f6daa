// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/program_words.h"

#include <gtest/gtest.h>

namespace espalier::ctl {
namespace {

using Words = std::vector<std::string>;

SplitCommandLine split(const Words& words)
{
    auto line = takePrograms(words, {"--command", "--launcher"});
    EXPECT_TRUE(line) << line.error().message;
    return line.value_or(SplitCommandLine{});
}

TEST(ProgramWords, SeparateWordsAreAllTheProgramsToTheEnd)
{
    const auto line = split({"run", "t", "--evals", "3", "--command", "python3", "-u", "a.py", "--evals", "9"});
    EXPECT_EQ(line.rest, (Words{"run", "t", "--evals", "3"}));
    EXPECT_EQ(line.programs.at("--command").words, (Words{"python3", "-u", "a.py", "--evals", "9"}));
    EXPECT_TRUE(line.programs.at("--command").open);
    EXPECT_FALSE(line.programs.at("--command").outright);
}

TEST(ProgramWords, OneTextLeavesTheRestToUs)
{
    for (const Words& form : {Words{"--command", "claude -p 'be brief'", "--evals", "3"},
                              Words{"--command=claude -p \"be brief\"", "--evals", "3"},
                              Words{"--command=claude -p be\\ brief", "--evals", "3"}}) {
        const auto line = split(form);
        EXPECT_EQ(line.programs.at("--command").words, (Words{"claude", "-p", "be brief"}));
        EXPECT_EQ(line.rest, (Words{"--evals", "3"}));
    }
    EXPECT_EQ(split({"--command=agent", "--evals", "3"}).rest, (Words{"--evals", "3"}));
}

TEST(ProgramWords, OneProgramEndsTheOtherUnlessItIsOutright)
{
    auto line = split({"--launcher", "srun", "--gpus=1", "--command", "agent", "-x"});
    EXPECT_EQ(line.programs.at("--launcher").words, (Words{"srun", "--gpus=1"}));
    EXPECT_EQ(line.programs.at("--command").words, (Words{"agent", "-x"}));
    line = split({"--command", "--", "agent", "--launcher", "x"});
    EXPECT_EQ(line.programs.at("--command").words, (Words{"agent", "--launcher", "x"}));
    EXPECT_TRUE(line.programs.at("--command").outright);
}

TEST(ProgramWords, WordsOfAShell)
{
    EXPECT_EQ(shellWords("a  b\t'c d' \"e \\\"f\\\"\" '' g'h'i").value(),
              (Words{"a", "b", "c d", "e \"f\"", "", "ghi"}));
    EXPECT_EQ(shellWords("sh -c 'a | b; c'").value(), (Words{"sh", "-c", "a | b; c"}));
    EXPECT_EQ(shellWords("grep '|' x").value(), (Words{"grep", "|", "x"}));
    for (const char* bad : {"a 'b", "a \"b", "a | b", "a && b", "a > b"}) {
        EXPECT_FALSE(shellWords(bad)) << bad;
    }
    for (const Words& bad : {Words{"--command"}, Words{"--command", "--"}, Words{"--command", ""}, Words{"--command="},
                             Words{"--command", "--launcher", "x"}}) {
        EXPECT_FALSE(takePrograms(bad, {"--command", "--launcher"})) << bad.front();
    }
}

} // namespace
} // namespace espalier::ctl
