// SPDX-License-Identifier: Apache-2.0
// Timing through a real judge and real runners on the fake driver, whose clock its work alone moves, watched through a
// fake NVML.
#include "tests/judge/judge_fixture.h"

#include <chrono>
#include <cstdlib>

namespace espalier::test {
namespace {

class Timing : public JudgeFixture
{
protected:
    void SetUp() override
    {
        ::setenv("ESPALIER_LIBNVML", FAKE_NVML, 1);
        ::setenv("ESPALIER_FAKE_DEVICE_BYTES", "34359738368", 1); // as many processes as the full tier wants
        watch("sm=1980 memory=2619 power=400000 temperature=50 reasons=4");
    }
    void TearDown() override
    {
        JudgeFixture::TearDown();
        ::unsetenv("ESPALIER_LIBNVML");
        ::unsetenv("ESPALIER_FAKE_DEVICE_BYTES");
        ::unsetenv("ESPALIER_FAKE_NVML");
    }
    static void watch(const char* state) { ::setenv("ESPALIER_FAKE_NVML", state, 1); }

    EvaluationJob timedJob(const std::string& candidate, Tier tier = Tier::Quick, TimingSetting setting = {})
    {
        EvaluationJob job = jobFor(candidate, false);
        job.tier = tier;
        job.setting = std::move(setting);
        return job;
    }
};

TEST_F(Timing, TheQuickTierTellsHowItMeasured)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    const Evaluation evaluation = evaluate(timedJob("slow"));
    ASSERT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
    const TimingRecord& timing = *evaluation.timing;
    EXPECT_EQ(timing.regime, "cold");
    EXPECT_EQ(timing.mode, "offline");
    EXPECT_EQ(timing.monitor, "NVML 999.1");
    EXPECT_NE(timing.clocks.find("judge's clock"), std::string::npos);
    EXPECT_GT(evaluation.judgeSeconds, timing.seconds);
    const CaseTiming& one = timing.cases.at(0);
    EXPECT_EQ(one.runners, 1);
    EXPECT_EQ(one.method, "events");
    const auto of = [&](std::string_view contender) {
        return std::count_if(one.conditions.begin(), one.conditions.end(),
                             [&](const BlockConditions& block) { return block.contender == contender; });
    };
    ASSERT_EQ(of("candidate"), one.blocks + one.dropped);
    EXPECT_EQ(of("root"), of("candidate")); // each of its blocks is as well known
    EXPECT_EQ(one.conditions[0].smMhz, 1980);
    EXPECT_EQ(one.conditions[0].powerWatts, 400);
    EXPECT_EQ(one.conditions[0].throttleReasons, 4);
    EXPECT_EQ(one.conditions[0].foreignProcesses, 0);
    EXPECT_GT(one.endToEndUs, 2900); // the call sleeps for 3 ms
    EXPECT_GT(one.launchUs, 0);
    EXPECT_NEAR(one.unseenOverSeen, 1, 0.01);
}

TEST_F(Timing, TheFullTierTakesThreeFreshProcessesASide)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = timedJob("slow", Tier::Full);
    job.parent = jobFor("workspace").candidate;
    const Evaluation evaluation = evaluate(job);
    ASSERT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
    const CaseTiming& one = evaluation.timing->cases.at(0);
    EXPECT_EQ(one.runners, 3);
    std::vector<int> used(3, 0);
    for (const BlockConditions& block : one.conditions) {
        if (block.contender == "candidate") {
            ++used.at(static_cast<std::size_t>(block.runner));
        }
    }
    for (const int blocks : used) {
        EXPECT_GE(blocks, 2);
    }
    ASSERT_TRUE(one.speedupRoot);
    ASSERT_TRUE(one.speedupParent);
    EXPECT_LT(one.speedupRoot->high, 1);
    EXPECT_EQ(evaluation.timing->checkedCalls, evaluation.timing->timedCalls);
}

TEST_F(Timing, ARivalThatCannotBeLoadedLeavesTheOthersInTheRace)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = timedJob("slow", Tier::Full);
    job.parent = jobFor("wrong_name").candidate;
    const Evaluation evaluation = evaluate(job);
    ASSERT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
    const CaseTiming& one = evaluation.timing->cases.at(0);
    EXPECT_TRUE(one.speedupRoot);
    EXPECT_FALSE(one.speedupParent);
    EXPECT_NE(evidenceOf(evaluation).find("parent could not be timed: the library has no function"), std::string::npos)
        << evidenceOf(evaluation);
}

TEST_F(Timing, ACancelIsHeardBetweenTheCallsOfAServer)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = timedJob("honest", Tier::Quick, {"steady", "server", 1});
    const RequestId id = job.id;
    m_judge->submit(std::move(job));
    std::optional<std::chrono::steady_clock::time_point> cancelled;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
        for (const evaluator::Event& event : pump(100)) {
            const auto* progress = std::get_if<evaluator::Progress>(&event);
            if (progress && progress->stage == Stage::Time && !cancelled) {
                m_judge->cancel(id);
                cancelled = std::chrono::steady_clock::now();
            }
            if (const auto* finished = std::get_if<evaluator::Finished>(&event)) {
                EXPECT_EQ(finished->evaluation.cause, NotRunCause::Cancelled) << finished->evaluation.reason;
                ASSERT_TRUE(cancelled);
                EXPECT_LT(std::chrono::steady_clock::now() - *cancelled, std::chrono::seconds(15));
                return;
            }
        }
    }
    ADD_FAILURE() << "the cancelled evaluation did not end";
}

TEST_F(Timing, ShortCallsAreReplayedAsOneGraph)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = timedJob("honest");
    auto task = std::make_shared<Task>(*job.task);
    const auto at = task->json.find("\"n\": 4099");
    ASSERT_NE(at, std::string::npos);
    task->json.replace(at, 9, "\"n\": 99");
    job.task = task;
    const Evaluation evaluation = evaluate(job);
    ASSERT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
    const CaseTiming& one = evaluation.timing->cases.at(0);
    EXPECT_EQ(one.method, "graph");
    EXPECT_GT(one.timeUs.value, 0);
    EXPECT_LT(one.timeUs.value, 10);
    EXPECT_GT(one.launchUs, 0);
    EXPECT_EQ(evaluation.timing->checkedCalls, evaluation.timing->timedCalls);
}

TEST_F(Timing, SteadyAndServerAreRecordedWithTheirLatency)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    const Evaluation steady = evaluate(timedJob("slow", Tier::Quick, {"steady", "offline", 0}));
    ASSERT_EQ(steady.outcome, Outcome::Passed) << steady.reason;
    EXPECT_EQ(steady.timing->regime, "steady");
    EXPECT_FALSE(steady.timing->cases.at(0).latency);
    const Evaluation served = evaluate(timedJob("slow", Tier::Quick, {"steady", "server", 100}));
    ASSERT_EQ(served.outcome, Outcome::Passed) << served.reason; // only the judge's clock counts
    EXPECT_EQ(served.timing->mode, "server");
    EXPECT_EQ(served.timing->rate, 100);
    const CaseTiming& one = served.timing->cases.at(0);
    ASSERT_TRUE(one.latency);
    EXPECT_GE(one.latency->p50Us, 3000);
    EXPECT_LE(one.latency->p50Us, one.latency->p95Us);
    EXPECT_LE(one.latency->p95Us, one.latency->p99Us);
    EXPECT_GE(one.latency->calls, 30);
    ASSERT_TRUE(one.rivalLatency.contains("root"));
    EXPECT_LT(one.rivalLatency.at("root").p50Us, one.latency->p50Us);
}

TEST_F(Timing, AThrottledDeviceGivesNoNumber)
{
    watch("sm=1980 memory=2619 reasons=64");
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    const Evaluation evaluation = evaluate(timedJob("slow"));
    EXPECT_EQ(evaluation.outcome, Outcome::NotRun);
    EXPECT_EQ(evaluation.cause, NotRunCause::Infrastructure);
    EXPECT_NE(evaluation.reason.find("no measurement"), std::string::npos) << evaluation.reason;
    EXPECT_NE(evaluation.reason.find("throttled"), std::string::npos) << evaluation.reason;
    EXPECT_FALSE(evaluation.timing);
}

TEST_F(Timing, AnotherProcessOnTheDeviceGivesNoNumber)
{
    watch("sm=1980 memory=2619 foreign=1");
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    const Evaluation evaluation = evaluate(timedJob("slow"));
    EXPECT_EQ(evaluation.outcome, Outcome::NotRun);
    EXPECT_NE(evaluation.reason.find("foreign process"), std::string::npos) << evaluation.reason;
}

TEST_F(Timing, SingleThrottledBlocksAreDroppedAndCounted)
{
    watch("sm=1980 memory=2619 reasons=0,0,0,0,0,0,0,0,0,0,64");
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    const Evaluation evaluation = evaluate(timedJob("slow", Tier::Full));
    ASSERT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
    int throttled = 0;
    for (const BlockConditions& block : evaluation.timing->cases.at(0).conditions) {
        throttled +=
            block.contender == "candidate" && block.throttleReasons == 64 && block.dropped == "throttled" ? 1 : 0;
    }
    EXPECT_GT(throttled, 0);
    const auto& because = evaluation.timing->cases[0].droppedBecause;
    const auto counted = because.find("throttled");
    EXPECT_EQ(counted == because.end() ? 0 : counted->second, throttled);
}

TEST_F(Timing, AKeptAnswerIsFasterTheSecondTimeAndSuspicious)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    const Evaluation evaluation = evaluate(timedJob("keeps_answers"));
    ASSERT_EQ(evaluation.outcome, Outcome::Suspicious) << evaluation.reason;
    EXPECT_NE(evaluation.reason.find("had seen before"), std::string::npos) << evaluation.reason;
    EXPECT_EQ(evaluation.evidence.at(0).check, "memo");
}

TEST_F(Timing, TimeThatTheEventsDoNotSeeIsSuspicious)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    const Evaluation evaluation = evaluate(timedJob("hides_time"));
    EXPECT_EQ(evaluation.outcome, Outcome::Suspicious) << evaluation.reason;
    EXPECT_NE(evaluation.reason.find("passed on the judge's clock"), std::string::npos) << evaluation.reason;
}

TEST_F(Timing, ACaseSlowerThanItsGuardIsSaid)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = timedJob("slow");
    auto task = std::make_shared<Task>(*job.task);
    const auto at = task->json.find("\"flops\"");
    ASSERT_NE(at, std::string::npos);
    task->json.insert(at, "\"objective\": {\"guard\": 1.1},\n  ");
    job.task = task;
    const Evaluation evaluation = evaluate(job);
    ASSERT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
    EXPECT_NE(evaluation.timing->guardBroken.find("case n4099 takes"), std::string::npos)
        << evaluation.timing->guardBroken;
}

TEST_F(Timing, TheSimulatedDeviceRefusesOtherSettings)
{
    startJudge("sim");
    ASSERT_TRUE(m_judge);
    const Evaluation evaluation = evaluate(timedJob("honest", Tier::Quick, {"steady", "offline", 0}));
    EXPECT_EQ(evaluation.outcome, Outcome::NotRun);
    EXPECT_EQ(evaluation.cause, NotRunCause::Unsupported);
}

} // namespace
} // namespace espalier::test
