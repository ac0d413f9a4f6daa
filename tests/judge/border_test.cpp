// SPDX-License-Identifier: Apache-2.0
// What candidates do, on the fake driver: every one gets the right outcome with a sentence that names the thing, and
// the judge goes on.
#include "tests/judge/judge_fixture.h"

#include <chrono>

namespace espalier::test {
namespace {

struct Misdeed {
    const char* candidate;
    Outcome outcome;
    const char* says; ///< part of the reason or the evidence
};

void PrintTo(const Misdeed& misdeed, std::ostream* out)
{
    *out << misdeed.candidate;
}

class Border : public JudgeFixture, public ::testing::WithParamInterface<Misdeed>
{
};

TEST_P(Border, TheOutcomeNamesTheThing)
{
    startJudge("cuda:0", {"--call-deadline", "1500", "--load-deadline", "1500"});
    ASSERT_TRUE(m_judge);
    const Misdeed& misdeed = GetParam();
    const Evaluation evaluation = evaluate(misdeed.candidate);
    EXPECT_EQ(evaluation.outcome, misdeed.outcome) << nameOf(evaluation.outcome) << ": " << evaluation.reason;
    const std::string said = evaluation.reason + "\n" + evidenceOf(evaluation);
    EXPECT_NE(said.find(misdeed.says), std::string::npos) << said;
    EXPECT_EQ(evaluation.reason.find('\n'), std::string::npos);
    expectHealthy();
}

INSTANTIATE_TEST_SUITE_P(
    Candidates, Border,
    ::testing::Values(Misdeed{"zero", Outcome::Incorrect, "wrong"},
                      Misdeed{"partial", Outcome::Incorrect, "output y[999]"},
                      Misdeed{"write_past_end", Outcome::RuntimeFailed, "Segmentation fault"},
                      Misdeed{"write_slack", Outcome::RuntimeFailed, "past the end of output y"},
                      Misdeed{"write_before", Outcome::RuntimeFailed, "before the start of output y"},
                      Misdeed{"read_past_end", Outcome::RuntimeFailed, "Segmentation fault"},
                      Misdeed{"write_input", Outcome::RuntimeFailed, "Segmentation fault"},
                      Misdeed{"endless", Outcome::TimedOut, "did not end within 1.5 s"},
                      Misdeed{"exit_zero", Outcome::RuntimeFailed, "ended its process (exit code 0)"},
                      Misdeed{"fork_bomb", Outcome::Suspicious, "those that start a process (fork"},
                      Misdeed{"looks_into_processes", Outcome::Suspicious, "look into one (ptrace"},
                      Misdeed{"abort", Outcome::RuntimeFailed, "crashed with signal"},
                      Misdeed{"no_op", Outcome::Incorrect, "output y"},
                      Misdeed{"constructor_sleeps", Outcome::TimedOut, "loading of the library"},
                      Misdeed{"error_code", Outcome::RuntimeFailed, "CUDA error 1 (invalid value)"},
                      Misdeed{"refused_launch", Outcome::RuntimeFailed,
                              "the launch of twice(float const*, float*, long) with grid 8 x 1 x 1, block 64 x 32 x 1 "
                              "and 0 bytes of dynamic shared memory was refused with CUDA error 9: 2048 threads a "
                              "block, at most 1024 on this device"},
                      Misdeed{"no_memory", Outcome::NotRun, "CUDA error 2 (out of memory) during call 1 of case n1000"},
                      Misdeed{"eats_memory", Outcome::NotRun, "no memory left on the device"},
                      Misdeed{"workspace_overrun", Outcome::RuntimeFailed, "past the end of the workspace"},
                      Misdeed{"workspace_huge", Outcome::RuntimeFailed, "workspace"},
                      Misdeed{"forged_reply", Outcome::RuntimeFailed, "protocol"},
                      Misdeed{"half_precision", Outcome::Incorrect, "times the allowed error"},
                      Misdeed{"wrong_name", Outcome::RuntimeFailed, "no function double_f32"},
                      Misdeed{"nan", Outcome::Incorrect, "not finite"},
                      Misdeed{"second_call_lazy", Outcome::Incorrect, "call 2"},
                      Misdeed{"host_computes", Outcome::Suspicious, "missing from the graph"},
                      Misdeed{"foreign_stream", Outcome::Suspicious, "join all of it to the stream"},
                      Misdeed{"foreign_tail", Outcome::Suspicious, "join all of it to the stream"},
                      Misdeed{"graph_beside", Outcome::Suspicious, "missing from the graph"},
                      Misdeed{"refuses_capture", Outcome::Suspicious, "the call returned CUDA error 900"},
                      Misdeed{"one_element_memo", Outcome::Incorrect, "call 3"}),
    [](const auto& param) { return std::string(param.param.candidate); });

class HonestOnTheFakeDriver : public JudgeFixture
{
};

TEST_F(HonestOnTheFakeDriver, PassesWithWorkspaceAndOutput)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EXPECT_FALSE(m_judge->hello().simulated);
    EXPECT_EQ(m_judge->hello().architecture, "90a");
    const Evaluation honest = evaluate("honest");
    EXPECT_EQ(honest.outcome, Outcome::Passed) << honest.reason;
    ASSERT_TRUE(honest.verify);
    EXPECT_GE(honest.verify->calls,
              8 + 2 + 4); // two cases: three calls and a replay; repetitions; cases of the judge's
    ASSERT_GE(honest.verify->errors.size(), 6U);
    EXPECT_EQ(honest.verify->errors[1].caseId, "n4099");
    EXPECT_EQ(honest.verify->errors[1].compared, (3U + 2U) * 4099U); // two of them with the same inputs again
    EXPECT_TRUE(honest.verify->errors[2].caseId.starts_with("unseen (n ")) << honest.verify->errors[2].caseId;
    ASSERT_TRUE(honest.verify->repeat);
    EXPECT_EQ(honest.verify->repeat->caseId, "n4099");
    EXPECT_EQ(honest.verify->repeat->calls, 3);
    EXPECT_EQ(honest.verify->repeat->differing, 0U);
    ASSERT_EQ(honest.verify->launches.size(), 2U);
    EXPECT_EQ(honest.verify->launches[0].kernels, 1);
    EXPECT_EQ(honest.verify->sandbox, m_judge->hello().sandbox);
    EXPECT_EQ(evaluate("workspace").outcome, Outcome::Passed);
}

TEST_F(HonestOnTheFakeDriver, AGraphOfItsOwnIsCapturedWithTheCall)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    for (const char* candidate : {"own_graph", "updated_graph"}) {
        const Evaluation evaluation = evaluate(candidate);
        EXPECT_EQ(evaluation.outcome, Outcome::Passed) << candidate << ": " << evaluation.reason;
        ASSERT_TRUE(evaluation.verify);
        ASSERT_EQ(evaluation.verify->launches.size(), 2U);
        EXPECT_EQ(evaluation.verify->launches[0].kernels, 1);
    }
}

TEST_F(HonestOnTheFakeDriver, WhatCannotForkGetsOneQueueAndTheRestAsManyAsEver)
{
    ASSERT_EQ(::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "3", 1), 0); // of the user's own: no affair of the judge's
    startJudge("cuda:0");
    ::unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
    ASSERT_TRUE(m_judge);
    const Evaluation plain = evaluate("tells_queues");
    EXPECT_EQ(plain.outcome, Outcome::Passed) << plain.reason;
    EXPECT_TRUE(plain.output.starts_with("queues: 1\n")) << plain.output;
    const Evaluation graph = evaluate("graph_tells_queues");
    EXPECT_EQ(graph.outcome, Outcome::Passed) << graph.reason;
    EXPECT_TRUE(graph.output.starts_with("queues: as ever\n")) << graph.output;
}

TEST_F(HonestOnTheFakeDriver, OtherBitsOnTheSameInputsBreakABitwiseContract)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    const auto under = [&](const std::string& contract, const std::string& candidate) {
        EvaluationJob job = jobFor(candidate);
        auto task = std::make_shared<Task>(*job.task);
        task->json.insert(task->json.find("\"precision\""), contract);
        job.task = task;
        return evaluate(std::move(job));
    };
    const Evaluation allowed = under("", "atomics");
    EXPECT_EQ(allowed.outcome, Outcome::Passed) << allowed.reason;
    ASSERT_TRUE(allowed.verify && allowed.verify->repeat);
    EXPECT_GT(allowed.verify->repeat->differing, 0U);
    const std::string bitwise = "\"determinism\": \"bitwise\", ";
    const Evaluation broken = under(bitwise, "atomics");
    EXPECT_EQ(broken.outcome, Outcome::Incorrect) << broken.reason;
    EXPECT_NE(broken.reason.find("had other bits in another of 3 calls of case n4099 on the same inputs"),
              std::string::npos)
        << broken.reason;
    EXPECT_EQ(broken.evidence.at(0).check, "determinism");
    EXPECT_EQ(under(bitwise, "honest").outcome, Outcome::Passed);
}

TEST_F(HonestOnTheFakeDriver, ABitwiseContractThatNoCaseCanShowIsNoPass)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = jobFor("honest");
    auto task = std::make_shared<Task>(*job.task);
    task->json.insert(task->json.find("\"precision\""), "\"determinism\": \"bitwise\", ");
    task->json.replace(task->json.find("\"n\": 1000"), 9, "\"n\": 8");
    task->json.replace(task->json.find("\"n\": 4099"), 9, "\"n\": 9");
    job.task = task;
    const Evaluation evaluation = evaluate(std::move(job));
    EXPECT_EQ(evaluation.outcome, Outcome::NotRun);
    EXPECT_EQ(evaluation.cause, NotRunCause::Unsupported);
    EXPECT_NE(evaluation.reason.find("no verified case has outputs of 64 bytes to 16 MiB"), std::string::npos)
        << evaluation.reason;
}

TEST_F(HonestOnTheFakeDriver, AHundredMegabytesOfOutputDoNoHarm)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    const Evaluation loud = evaluate("print_much");
    EXPECT_EQ(loud.outcome, Outcome::Passed) << loud.reason;
    EXPECT_LT(loud.output.size(), std::size_t{200} << 10);
    EXPECT_NE(loud.output.find("more bytes"), std::string::npos);
}

TEST_F(HonestOnTheFakeDriver, AFreshRunnerIsReadySoonAfterACrash)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    (void)evaluate("honest");
    (void)evaluate("abort");
    const auto start = std::chrono::steady_clock::now();
    expectHealthy();
    EXPECT_LT(std::chrono::steady_clock::now() - start,
              std::chrono::seconds(20)); // no deadline was waited for
}

TEST_F(HonestOnTheFakeDriver, TooLittleMemoryIsSaidBeforeAnythingIsAllocated)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = jobFor("honest");
    auto task = std::make_shared<Task>(*job.task);
    const auto at = task->json.find("\"n\": 4099");
    task->json.replace(at, 9, "\"n\": 4099000000");
    job.task = task;
    const Evaluation evaluation = evaluate(std::move(job));
    EXPECT_EQ(evaluation.outcome, Outcome::NotRun);
    EXPECT_EQ(evaluation.cause, NotRunCause::Infrastructure);
    EXPECT_NE(evaluation.reason.find("needs "), std::string::npos) << evaluation.reason;
    EXPECT_NE(evaluation.reason.find(", has "), std::string::npos) << evaluation.reason;
}

TEST_F(HonestOnTheFakeDriver, FieldsThatAreNotServedAreNamed)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = jobFor("honest");
    auto task = std::make_shared<Task>(*job.task);
    const auto at = task->json.find("\"kind\": \"output\"");
    task->json.replace(at, 16, "\"kind\": \"inout\"");
    job.task = task;
    const Evaluation evaluation = evaluate(std::move(job));
    EXPECT_EQ(evaluation.cause, NotRunCause::Unsupported);
    EXPECT_NE(evaluation.reason.find("not_supported"), std::string::npos) << evaluation.reason;
}

TEST_F(HonestOnTheFakeDriver, TimesAgainstTheRoot)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    const Evaluation slow = evaluate(jobFor("slow", false));
    ASSERT_EQ(slow.outcome, Outcome::Passed) << slow.reason;
    ASSERT_TRUE(slow.timing);
    ASSERT_EQ(slow.timing->cases.size(), 1U);
    const CaseTiming& timing = slow.timing->cases[0];
    EXPECT_EQ(timing.provenance, Provenance::Measured);
    EXPECT_GE(timing.timeUs.value, 3000);
    EXPECT_GE(timing.blocks, 3);
    ASSERT_TRUE(timing.speedupRoot);
    EXPECT_LT(timing.speedupRoot->value, 1);
    EXPECT_GE(slow.timing->fullyCompared * 10, slow.timing->timedCalls);
    EXPECT_EQ(slow.timing->checkedCalls, slow.timing->timedCalls);
}

TEST_F(HonestOnTheFakeDriver, TimesAgainstTheIncumbent)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = jobFor("slow", false);
    job.incumbent = IncumbentLibrary{jobFor("workspace").candidate, "double_f32"};
    const Evaluation evaluation = evaluate(std::move(job));
    ASSERT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
    const CaseTiming& timing = evaluation.timing->cases.at(0);
    ASSERT_TRUE(timing.speedupIncumbent) << evidenceOf(evaluation);
    EXPECT_LT(timing.speedupIncumbent->value, 1);
    EXPECT_GT(timing.rivalTimeUs.at("incumbent"), 0);
    EXPECT_TRUE(evaluation.timing->speedupIncumbent);
}

TEST_F(HonestOnTheFakeDriver, AnIncumbentWithAWrongAnswerIsLeftOut)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = jobFor("slow", false);
    job.incumbent = IncumbentLibrary{jobFor("zero").candidate, "double_f32"};
    const Evaluation evaluation = evaluate(std::move(job));
    EXPECT_NE(evidenceOf(evaluation).find("the incumbent is not compared with in case"), std::string::npos)
        << evidenceOf(evaluation);
    ASSERT_TRUE(evaluation.timing) << evaluation.reason;
    EXPECT_FALSE(evaluation.timing->cases.at(0).speedupIncumbent);
    EXPECT_TRUE(evaluation.timing->cases.at(0).speedupRoot) << "the run goes on";
}

/// The first process of a name space does not hear its own SIGKILL; elsewhere it dies. Either way nothing was written.
TEST_F(HonestOnTheFakeDriver, ACandidateThatKillsItselfDoesNotPass)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    const Evaluation evaluation = evaluate("kills_itself");
    EXPECT_TRUE(evaluation.outcome == Outcome::Incorrect || evaluation.outcome == Outcome::RuntimeFailed)
        << evaluation.reason;
    expectHealthy();
}

TEST_F(HonestOnTheFakeDriver, CancelEndsARunningJob)
{
    startJudge("cuda:0");
    ASSERT_TRUE(m_judge);
    EvaluationJob job = jobFor("endless");
    const RequestId id = job.id;
    m_judge->submit(std::move(job));
    bool cancelled = false;
    for (int i = 0; i < 100 && !cancelled; ++i) {
        for (const evaluator::Event& event : pump(100)) {
            if (std::holds_alternative<evaluator::Progress>(event)) {
                m_judge->cancel(id);
            }
            if (const auto* finished = std::get_if<evaluator::Finished>(&event)) {
                EXPECT_EQ(finished->evaluation.cause, NotRunCause::Cancelled) << finished->evaluation.reason;
                cancelled = true;
            }
        }
    }
    EXPECT_TRUE(cancelled);
    expectHealthy();
}

TEST_F(HonestOnTheFakeDriver, WithoutTheSandboxTheGradeSaysSo)
{
    startJudge("cuda:0", {"--no-sandbox"});
    ASSERT_TRUE(m_judge);
    EXPECT_EQ(m_judge->hello().sandbox, "none: switched off");
    const Evaluation honest = evaluate("honest");
    EXPECT_EQ(honest.outcome, Outcome::Passed) << honest.reason;
    EXPECT_EQ(honest.verify->sandbox, "none: switched off");
    EXPECT_EQ(evaluate("fork_bomb").outcome, Outcome::Suspicious);
    const Evaluation aborted = evaluate("abort"); // the first process of a name space would not hear it
    EXPECT_EQ(aborted.outcome, Outcome::RuntimeFailed) << aborted.reason;
    EXPECT_NE(aborted.reason.find("crashed with signal 6"), std::string::npos) << aborted.reason;
}

} // namespace
} // namespace espalier::test
