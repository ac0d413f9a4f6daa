// SPDX-License-Identifier: Apache-2.0
// The judge as a filter of JSON lines: whatever comes in, one answer per line and no crash.
#include "core/base/subprocess.h"
#include "core/worker/protocol.h"

#include <gtest/gtest.h>
#include <random>
#include <sstream>

namespace espalier::test {
namespace {

struct Answers {
    std::vector<std::string> types;
    RunResult run;
};

Answers judgeAnswers(const std::string& input)
{
    ProcessSpec spec;
    spec.argv = {WORKER, "judge", "--device", "sim"};
    auto run = runToEnd(spec, input, std::chrono::seconds(30));
    EXPECT_TRUE(run) << run.error().message;
    Answers answers;
    if (!run) {
        return answers;
    }
    std::istringstream lines(run->out);
    for (std::string line; std::getline(lines, line);) {
        const auto message = worker::decodeFromJudge(line);
        EXPECT_TRUE(message) << line;
        if (message) {
            answers.types.push_back(line.substr(line.find("\"type\":\"") + 8, 5));
        }
    }
    answers.run = std::move(*run);
    return answers;
}

const std::string hello = "{\"type\":\"hello\",\"version\":1}\n";

TEST(ByHand, GreetsAndEndsWithItsInput)
{
    const Answers answers = judgeAnswers(hello);
    EXPECT_EQ(answers.types, std::vector<std::string>{"hello"});
    EXPECT_TRUE(answers.run.status.success()) << answers.run.status.text();
}

TEST(ByHand, WantsAHelloOfItsOwnVersionFirst)
{
    const Answers early = judgeAnswers("{\"type\":\"have\",\"hashes\":[]}\n" + hello);
    EXPECT_EQ(early.types, (std::vector<std::string>{"error", "hello"}));
    const Answers other = judgeAnswers("{\"type\":\"hello\",\"version\":2}\n" + hello);
    EXPECT_EQ(other.types, std::vector<std::string>{"error"});
    EXPECT_FALSE(other.run.status.success());
}

TEST(ByHand, AMissingArtefactIsSaid)
{
    const std::string hash(64, 'a');
    const Answers answers =
        judgeAnswers(hello + "{\"type\":\"evaluate\",\"id\":1,\"task\":\"" + hash + "\",\"candidate\":\"" + hash +
                     "\",\"root\":\"" + hash + "\",\"oracle\":\"" + hash + "\"}\n");
    // The input ends at once: the job is dropped or answered, but nothing else is said.
    EXPECT_LE(answers.types.size(), 2U);
    EXPECT_TRUE(answers.run.status.success()) << answers.run.status.text();
}

TEST(ByHand, EveryBrokenLineIsAnsweredByAnError)
{
    std::mt19937 random(4);
    std::string input = hello;
    std::size_t lines = 1;
    for (int i = 0; i < 300; ++i) {
        std::string line = "{\"type\":\"evaluate\",\"id\":" + std::to_string(i) + ",\"task\":\"00\"}";
        for (int change = 0; change < 3; ++change) {
            line[random() % line.size()] = static_cast<char>(' ' + random() % 95);
        }
        input += line + "\n";
        ++lines;
    }
    const Answers answers = judgeAnswers(input);
    EXPECT_EQ(answers.types.size(), lines);
    EXPECT_TRUE(answers.run.status.success()) << answers.run.status.text();
}

TEST(ByHand, AnUnknownDeviceIsSaidWithTheRemedy)
{
    ProcessSpec spec;
    spec.argv = {WORKER, "judge", "--device", "tpu"};
    const auto run = runToEnd(spec, hello, std::chrono::seconds(10));
    ASSERT_TRUE(run);
    EXPECT_NE(run->out.find("use auto, sim or cuda:N"), std::string::npos) << run->out;
    EXPECT_EQ(run->status.code, 1);
}

} // namespace
} // namespace espalier::test
