// SPDX-License-Identifier: Apache-2.0
// The same border on the simulated device: verified there, its times modelled and said to be.
#include "tests/judge/judge_fixture.h"

namespace espalier::test {
namespace {

class SimBorder : public JudgeFixture
{
protected:
    void SetUp() override { startJudge("sim", {"--call-deadline", "5000"}); }

    void expect(const std::string& candidate, Outcome outcome, const std::string& says)
    {
        ASSERT_TRUE(m_judge);
        const Evaluation evaluation = evaluate(candidate);
        EXPECT_EQ(evaluation.outcome, outcome) << nameOf(evaluation.outcome) << ": " << evaluation.reason;
        EXPECT_NE(evaluation.reason.find(says), std::string::npos) << evaluation.reason;
        expectHealthy();
    }
};

TEST_F(SimBorder, AnHonestKernelPassesWithModelledTimes)
{
    ASSERT_TRUE(m_judge);
    EXPECT_TRUE(m_judge->hello().simulated);
    EXPECT_EQ(m_judge->hello().provenance(), Provenance::Model);
    const Evaluation first = evaluate(jobFor("honest", false));
    ASSERT_EQ(first.outcome, Outcome::Passed) << first.reason;
    ASSERT_TRUE(first.timing);
    ASSERT_EQ(first.timing->cases.size(), 2U);
    const CaseTiming& timing = first.timing->cases[0];
    EXPECT_EQ(timing.provenance, Provenance::Model);
    EXPECT_GT(timing.timeUs.value, 0);
    EXPECT_EQ(timing.timeUs.low, timing.timeUs.high);
    ASSERT_TRUE(timing.speedupRoot);
    EXPECT_EQ(timing.speedupRoot->value, 1);
    for (const MetricValue& metric : first.metrics) {
        EXPECT_EQ(metric.provenance, Provenance::Model) << metric.id;
    }
    const Evaluation second = evaluate(jobFor("honest", false));
    ASSERT_TRUE(second.timing);
    EXPECT_EQ(first.timing->cases[0].timeUs,
              second.timing->cases[0].timeUs); // same seed, same tree needs the same times
}

TEST_F(SimBorder, AnIncumbentIsARivalThatMustBeRight)
{
    ASSERT_TRUE(m_judge);
    EvaluationJob job = jobFor("honest", false);
    const Library slower = jobFor("read_past_end").candidate;
    const Library wrong = jobFor("zero").candidate;
    job.incumbent = IncumbentLibrary{job.candidate, "double_f32"};
    const Evaluation itself = evaluate(job);
    ASSERT_TRUE(itself.timing) << itself.reason;
    ASSERT_TRUE(itself.timing->speedupIncumbent);
    EXPECT_EQ(itself.timing->speedupIncumbent->value, 1);
    job.id = RequestId{m_nextId++};
    job.incumbent = IncumbentLibrary{wrong, "double_f32"};
    const Evaluation beside = evaluate(job);
    EXPECT_EQ(beside.outcome, Outcome::Passed) << beside.reason;
    ASSERT_TRUE(beside.timing);
    EXPECT_FALSE(beside.timing->speedupIncumbent) << "a wrong answer is nothing to compare with";
    EXPECT_NE(evidenceOf(beside).find("incumbent could not be modelled"), std::string::npos) << evidenceOf(beside);
    job.id = RequestId{m_nextId++};
    job.incumbent = IncumbentLibrary{slower, "no_such_function"};
    const Evaluation without = evaluate(job);
    EXPECT_EQ(without.outcome, Outcome::Passed) << without.reason;
    EXPECT_NE(evidenceOf(without).find("it has no function no_such_function"), std::string::npos)
        << evidenceOf(without);
    expectHealthy();
}

TEST_F(SimBorder, Zeros)
{
    expect("zero", Outcome::Incorrect, "wrong");
}

TEST_F(SimBorder, OneElementNotWritten)
{
    expect("partial", Outcome::Incorrect, "output y[17]");
}

TEST_F(SimBorder, AWritePastTheEndIsFoundToTheByte)
{
    expect("write_past_end", Outcome::RuntimeFailed, "output y");
}

TEST_F(SimBorder, AReadPastTheEndIsFoundToTheByte)
{
    expect("read_past_end", Outcome::RuntimeFailed, "input x");
}

TEST_F(SimBorder, AWriteToAnInput)
{
    expect("write_input", Outcome::RuntimeFailed, "input x");
}

TEST_F(SimBorder, AnEndlessKernel)
{
    expect("endless_device", Outcome::TimedOut, "");
}

TEST_F(SimBorder, AnEndedProcess)
{
    expect("exit_zero", Outcome::RuntimeFailed, "ended its process (exit code 0)");
}

TEST_F(SimBorder, AnEndlessLoopOnTheHost)
{
    expect("endless_host", Outcome::TimedOut, "did not end within 5 s");
}

TEST_F(SimBorder, WorkOutsideTheStream)
{
    expect("side_stream", Outcome::Suspicious, "stream");
}

TEST_F(SimBorder, Field13RefusedLaunchesNameTheLimit)
{
    expect("wide_block", Outcome::RuntimeFailed,
           "returned CUDA error 9 (invalid launch configuration) during call 1 of case n1000; the launch of "
           "(anonymous namespace)::candidate(float const*, float*, long) with grid 8 x 1 x 1, block 64 x 20 x 1 and 0 "
           "bytes of dynamic shared memory was refused with CUDA error 9: 1280 threads a block, at most 1024 on this "
           "device");
    expect("much_shared", Outcome::RuntimeFailed,
           "60000 bytes of dynamic shared memory, at most 49152 unless cudaFuncSetAttribute(");
    expect("deep_grid", Outcome::Incorrect, "was refused with CUDA error 9: grid z is 70000, at most 65535");
    expect("honest", Outcome::Passed, "");
}

TEST_F(SimBorder, ACaseTooLargeForItIsNotRun)
{
    ASSERT_TRUE(m_judge);
    EvaluationJob job = jobFor("honest");
    job.caseIds = {"n7"};
    const Evaluation evaluation = evaluate(std::move(job));
    EXPECT_EQ(evaluation.outcome, Outcome::NotRun);
    EXPECT_NE(evaluation.reason.find("n7"), std::string::npos) << evaluation.reason;
}

} // namespace
} // namespace espalier::test
