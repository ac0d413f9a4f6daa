// SPDX-License-Identifier: Apache-2.0
// On a GPU: candidates of every kind through the real judge; an honest one is timed.
#include "core/base/hash.h"
#include "core/worker/judge_process.h"
#include "tests/gpu/judge/embedded_candidates.h"

#include <chrono>
#include <gtest/gtest.h>
#include <poll.h>

namespace espalier::test {
namespace {

class JudgeOnGpu : public ::testing::Test
{
protected:
    void SetUp() override
    {
        JudgeSettings settings;
        settings.launcher.worker = findWorker();
        settings.launcher.judgeOptions = {"--call-deadline", "2000"};
        settings.device = "cuda:0";
        auto judge = startJudge(settings);
        ASSERT_TRUE(judge) << judge.error().message;
        m_judge = std::move(*judge);
    }

    static Library library(const std::string& name)
    {
        auto bytes = std::make_shared<const std::string>(embedded(name));
        return {sha256(*bytes), bytes};
    }

    Evaluation evaluate(const std::string& candidate, bool verifyOnly = true, Tier tier = Tier::Quick,
                        TimingSetting setting = {})
    {
        EvaluationJob job;
        job.id = RequestId{m_nextId++};
        auto task = std::make_shared<Task>();
        task->json = embedded("task");
        job.task = task;
        job.candidate = library(candidate);
        job.root = job.oracle = library("honest");
        job.verifyOnly = verifyOnly;
        job.tier = tier;
        job.setting = std::move(setting);
        m_judge->submit(std::move(job));
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (std::chrono::steady_clock::now() < end) {
            pollfd polled = {m_judge->descriptor(), POLLIN, 0};
            ::poll(&polled, 1, 100);
            for (evaluator::Event& event : m_judge->receive()) {
                if (auto* finished = std::get_if<evaluator::Finished>(&event)) {
                    return std::move(finished->evaluation);
                }
                if (const auto* lost = std::get_if<evaluator::Lost>(&event)) {
                    ADD_FAILURE() << lost->error.message;
                    return {};
                }
            }
        }
        ADD_FAILURE() << "the evaluation did not end";
        return {};
    }

    std::unique_ptr<Evaluator> m_judge;
    std::int64_t m_nextId = 1;
};

TEST_F(JudgeOnGpu, IsMeasuredAndConfined)
{
    EXPECT_EQ(m_judge->hello().provenance(), Provenance::Measured);
    EXPECT_EQ(m_judge->hello().sandbox, "bubblewrap");
    (void)evaluate("honest"); // starts the oracle's runner, which stays
    const Evaluation honest = evaluate("honest", false);
    ASSERT_EQ(honest.outcome, Outcome::Passed) << honest.reason;
    ASSERT_TRUE(honest.timing);
    const CaseTiming& timing = honest.timing->cases.at(0);
    EXPECT_EQ(timing.provenance, Provenance::Measured);
    EXPECT_EQ(timing.method, "graph"); // 4099 sums: next to nothing but the launch
    EXPECT_GT(timing.timeUs.value, 0.2);
    EXPECT_LT(timing.timeUs.value, 10);
    EXPECT_GT(timing.launchUs, 0);
    EXPECT_GT(timing.endToEndUs, timing.timeUs.value);
    EXPECT_GE(honest.timing->fullyCompared * 10, honest.timing->timedCalls);
    EXPECT_EQ(honest.timing->monitor.substr(0, 5), "NVML ");
    ASSERT_FALSE(timing.conditions.empty());
    EXPECT_GT(timing.conditions[0].smMhz, 100);
    EXPECT_LT(honest.judgeSeconds, 1.0);
}

TEST_F(JudgeOnGpu, TheFullTierTakesThreeProcessesASideWithinItsSeconds)
{
    const Evaluation honest = evaluate("honest", false, Tier::Full);
    ASSERT_EQ(honest.outcome, Outcome::Passed) << honest.reason;
    EXPECT_EQ(honest.timing->cases.at(0).runners, 3);
    EXPECT_LT(honest.judgeSeconds, 6.0);
}

TEST_F(JudgeOnGpu, SteadyAndServerAreMeasured)
{
    const Evaluation steady = evaluate("honest", false, Tier::Quick, {"steady", "offline", 0});
    ASSERT_EQ(steady.outcome, Outcome::Passed) << steady.reason;
    EXPECT_EQ(steady.timing->regime, "steady");
    const Evaluation served = evaluate("honest", false, Tier::Quick, {"steady", "server", 500});
    ASSERT_EQ(served.outcome, Outcome::Passed) << served.reason;
    ASSERT_TRUE(served.timing->cases.at(0).latency);
    EXPECT_GT(served.timing->cases[0].latency->p50Us, 5);
    EXPECT_LT(served.timing->cases[0].latency->p50Us, 2000);
}

TEST_F(JudgeOnGpu, MisdeedsAreNamedAndDoNoHarm)
{
    EXPECT_EQ(evaluate("zero").outcome, Outcome::Incorrect);
    const Evaluation partial = evaluate("partial");
    EXPECT_EQ(partial.outcome, Outcome::Incorrect);
    EXPECT_NE(partial.reason.find("output y[17]"), std::string::npos) << partial.reason;
    const Evaluation past = evaluate("write_past_end");
    EXPECT_EQ(past.outcome, Outcome::RuntimeFailed);
    EXPECT_NE(past.reason.find("past the end of output y"), std::string::npos) << past.reason;
    const Evaluation input = evaluate("write_input");
    EXPECT_EQ(input.outcome, Outcome::RuntimeFailed);
    EXPECT_NE(input.reason.find("700"), std::string::npos) << input.reason;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(evaluate("honest").outcome, Outcome::Passed);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)); // a fresh runner after a sticky error
    EXPECT_EQ(evaluate("endless_device").outcome, Outcome::TimedOut);
    EXPECT_EQ(evaluate("honest").outcome, Outcome::Passed);
}

} // namespace
} // namespace espalier::test
