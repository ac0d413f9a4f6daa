// SPDX-License-Identifier: Apache-2.0
// The profile stage as processes: the worker's profiler on the fake driver with a stand-in for CUPTI, which goes wrong
// where its folder says.
#include "tests/judge/judge_fixture.h"

#include "core/base/file.h"

#include <cstdlib>
#include <filesystem>

namespace espalier::test {
namespace {

class ProfileStage : public JudgeFixture
{
protected:
    void TearDown() override
    {
        JudgeFixture::TearDown();
        ::unsetenv("ESPALIER_CUPTI");
    }

    Evaluation profiled(const std::string& behaviour, Profiling level = Profiling::Full, bool verifyOnly = true)
    {
        namespace fs = std::filesystem;
        const fs::path folder = m_folder.path() / behaviour;
        fs::create_directories(folder);
        fs::copy_file(FAKE_LIBCUPTI, folder / "libcupti.so.13", fs::copy_options::overwrite_existing);
        fs::copy_file(FAKE_LIBCUPTI, folder / "libnvperf_host.so", fs::copy_options::overwrite_existing);
        fs::permissions(m_folder.path(), fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
        ::setenv("ESPALIER_CUPTI", folder.c_str(), 1);
        startJudge("cuda:0");
        EvaluationJob job = jobFor("honest", verifyOnly);
        job.profiling = level;
        return m_judge ? evaluate(std::move(job)) : Evaluation{};
    }

    static const CollectorRun* run(const Evaluation& evaluation, const std::string& collector)
    {
        for (const CollectorRun& one : evaluation.profile->collectors) {
            if (one.collector == collector) {
                return &one;
            }
        }
        return nullptr;
    }

    static std::optional<double> metric(const Evaluation& evaluation, const std::string& id)
    {
        for (const MetricValue& one : evaluation.metrics) {
            if (one.id == id) {
                return one.value;
            }
        }
        return std::nullopt;
    }

    /// The collector says `words`, the others have their results, and the candidate passed.
    void expectLost(const std::string& behaviour, const std::string& collector, const std::string& words)
    {
        const Evaluation evaluation = profiled(behaviour);
        ASSERT_TRUE(evaluation.profile) << evaluation.reason;
        EXPECT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
        for (const CollectorRun& one : evaluation.profile->collectors) {
            if (one.collector == collector) {
                EXPECT_FALSE(one.done);
                EXPECT_NE(one.note.find(words), std::string::npos) << one.note;
            } else {
                EXPECT_TRUE(one.done) << one.collector << ": " << one.note;
            }
        }
        ASSERT_NE(run(evaluation, collector), nullptr);
    }

    ScratchFolder m_folder = *ScratchFolder::create("profiler-test");
};

TEST_F(ProfileStage, FourCollectorsEachInAProcessOfItsOwn)
{
    const Evaluation evaluation = profiled("fine", Profiling::Exact);
    ASSERT_TRUE(evaluation.profile) << evaluation.reason;
    EXPECT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
    ASSERT_EQ(evaluation.profile->collectors.size(), 4U);
    for (const CollectorRun& one : evaluation.profile->collectors) {
        EXPECT_TRUE(one.done) << one.collector << ": " << one.note;
    }
    EXPECT_EQ(evaluation.profile->chip, "GH100");
    EXPECT_EQ(evaluation.profile->provenance, Provenance::Measured);
    ASSERT_EQ(evaluation.profile->kernels.size(), 1U);
    EXPECT_EQ(evaluation.profile->kernels[0].name, "fake_kernel");
    EXPECT_DOUBLE_EQ(evaluation.profile->kernels[0].timeUs, 2);
    // The first counter of the core set is the bytes read from DRAM, the third the sectors of the L2 cache.
    EXPECT_EQ(metric(evaluation, "dram_read_bytes"), 1);
    EXPECT_EQ(metric(evaluation, "l2_bytes"), 3 * 32);
    EXPECT_EQ(metric(evaluation, "device_time_us"), 2);
    ASSERT_EQ(evaluation.profile->instructions.size(), 1U);
    EXPECT_EQ(evaluation.profile->instructions[0].samples, 100U); // what came with Disable, too; parts are not added
    EXPECT_EQ(evaluation.profile->instructions[0].reasons.at("long_scoreboard"), 100U);
    EXPECT_EQ(evaluation.profile->instructions[0].counts.at("inst_executed"), 640U);
    EXPECT_NE(run(evaluation, "sass")->note.find("not counted on this chip: smsp__sass_thread_inst_executed"),
              std::string::npos);
    expectHealthy();
}

TEST_F(ProfileStage, CoreAsksForNoSamples)
{
    const Evaluation evaluation = profiled("fine", Profiling::Core);
    ASSERT_TRUE(evaluation.profile) << evaluation.reason;
    EXPECT_EQ(evaluation.profile->level, "core");
    EXPECT_EQ(run(evaluation, "sampling"), nullptr);
    EXPECT_FALSE(metric(evaluation, "stall_barrier"));
    EXPECT_TRUE(metric(evaluation, "flops_f32"));
}

TEST_F(ProfileStage, ADriverThatKeepsCountersCostsOnlyThem)
{
    expectLost("denied", "ranges", "NVreg_RestrictProfilingToAdminUsers=0");
}

TEST_F(ProfileStage, CountersHeldBySomebodyElseAreSaidToBe)
{
    expectLost("busy", "ranges", "another profiler holds the counters");
}

TEST_F(ProfileStage, AFaultUnderReplayEndsThatProcessAlone)
{
    expectLost("fault", "ranges", "the kernel faulted while it was being profiled");
}

TEST_F(ProfileStage, NoRangeIsNotZero)
{
    expectLost("empty", "ranges", "counted no range");
}

TEST_F(ProfileStage, ACrashOfTheProfilerIsNoVerdict)
{
    expectLost("crash", "ranges", "signal 11");
}

TEST_F(ProfileStage, SamplesOfNoKernelAreNotShown)
{
    expectLost("unattributed", "sampling", "could not be attributed");
}

TEST_F(ProfileStage, CountersThatAreNoNumbersAreLeftOut)
{
    const Evaluation evaluation = profiled("garbage");
    ASSERT_TRUE(evaluation.profile);
    EXPECT_FALSE(metric(evaluation, "dram_read_bytes"));
    EXPECT_TRUE(metric(evaluation, "device_time_us"));
}

TEST_F(ProfileStage, WorkThatTheStreamDoesNotWaitForIsSuspicious)
{
    const Evaluation evaluation = profiled("outside", Profiling::Core);
    EXPECT_EQ(evaluation.outcome, Outcome::Suspicious) << evaluation.reason;
    EXPECT_NE(evaluation.reason.find("1 of 2 works are on other streams"), std::string::npos) << evaluation.reason;
}

TEST_F(ProfileStage, TheThirdClockStandsInTheTimingRecord)
{
    const Evaluation evaluation = profiled("fine", Profiling::Core, false);
    ASSERT_TRUE(evaluation.timing) << evaluation.reason;
    ASSERT_EQ(evaluation.timing->activity.size(), 1U);
    const ActivityFacts& facts = evaluation.timing->activity[0];
    EXPECT_EQ(facts.kernels, 1);
    EXPECT_DOUBLE_EQ(facts.spanUs, 2);
    EXPECT_GT(facts.eventUs, 0);
    EXPECT_GT(facts.timedUs, 0);
}

TEST_F(ProfileStage, WithoutCuptiTheSearchGoesOnWithTiming)
{
    ::setenv("ESPALIER_CUPTI", "/nowhere", 1);
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = jobFor("honest");
    job.profiling = Profiling::Full;
    const Evaluation evaluation = evaluate(std::move(job));
    EXPECT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
    ASSERT_TRUE(evaluation.profile);
    ASSERT_EQ(evaluation.profile->collectors.size(), 1U);
    EXPECT_NE(evaluation.profile->collectors[0].note.find("ESPALIER_CUPTI names /nowhere"), std::string::npos);
}

} // namespace
} // namespace espalier::test
