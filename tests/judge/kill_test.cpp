// SPDX-License-Identifier: Apache-2.0
// kill -9 at random moments: of a runner and of simgpu the evaluation does not suffer; a killed judge takes its
// children along and is replaced.
#include "tests/judge/judge_fixture.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>
#include <unistd.h>

namespace espalier::test {
namespace {

class Kill : public JudgeFixture
{
protected:
    int judgePid() const
    {
        for (const int pid : descendantsOf(::getpid())) {
            if (commandLineOf(pid).find("espalier-worker judge") != std::string::npos) {
                return pid;
            }
        }
        return -1;
    }

    /// A random process below the judge whose command line has `part`.
    static int victimOf(int judge, const std::string& part, std::mt19937& random)
    {
        std::vector<int> victims;
        for (const int pid : descendantsOf(judge)) {
            if (commandLineOf(pid).find(part) != std::string::npos) {
                victims.push_back(pid);
            }
        }
        return victims.empty() ? -1 : victims[random() % victims.size()];
    }

    void killDuringEvaluations(const std::string& device, const std::string& part, int rounds)
    {
        startJudge(device);
        ASSERT_TRUE(m_judge);
        std::mt19937 random(11);
        const int judge = judgePid();
        ASSERT_GT(judge, 0);
        int killed = 0;
        for (int round = 0; round < rounds; ++round) {
            const unsigned delay = static_cast<unsigned>(random() % 60000);
            std::jthread killer([&, delay] {
                std::this_thread::sleep_for(std::chrono::microseconds(delay));
                if (const int victim = victimOf(judge, part, random); victim > 0) {
                    killed += ::kill(victim, SIGKILL) == 0;
                }
            });
            const Evaluation evaluation = evaluate("honest");
            // One loss is repaired inside the evaluation; what is left over is ours and says so, never the candidate's
            // fault.
            const bool fine = evaluation.outcome == Outcome::Passed || evaluation.cause == NotRunCause::Infrastructure;
            EXPECT_TRUE(fine) << nameOf(evaluation.outcome) << ": " << evaluation.reason;
        }
        EXPECT_GT(killed, 0);
        expectHealthy();
    }
};

TEST_F(Kill, RunnersOnTheFakeDriver)
{
    killDuringEvaluations("cuda:0", "espalier-worker runner", 8);
}

TEST_F(Kill, RunnersOnTheSimulatedDevice)
{
    killDuringEvaluations("sim", "espalier-worker runner", 8);
}

TEST_F(Kill, Simgpu)
{
    killDuringEvaluations("sim", "espalier-worker simgpu", 8);
}

TEST_F(Kill, AKilledJudgeTakesItsChildrenAlongAndIsReplaced)
{
    startJudge("sim");
    ASSERT_TRUE(m_judge);
    const int judge = judgePid();
    std::vector<int> children = descendantsOf(judge);
    ASSERT_FALSE(children.empty());
    m_judge->submit(jobFor("honest"));
    ::kill(judge, SIGKILL);
    bool lost = false;
    for (int i = 0; i < 100 && !lost; ++i) {
        for (const evaluator::Event& event : pump(100)) {
            lost |= std::holds_alternative<evaluator::Lost>(event);
        }
    }
    EXPECT_TRUE(lost);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    const auto gone = [](int pid) { return commandLineOf(pid).find("espalier-worker") == std::string::npos; };
    while (!std::all_of(children.begin(), children.end(), gone) && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(std::all_of(children.begin(), children.end(), gone));
    expectHealthy();
}

} // namespace
} // namespace espalier::test
