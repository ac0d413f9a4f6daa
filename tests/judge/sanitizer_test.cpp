// SPDX-License-Identifier: Apache-2.0
// The stage of compute-sanitizer as processes: a stand-in with its command line and its report runs the worker's
// program on the fake runtime.
#include "tests/judge/judge_fixture.h"

#include "core/base/file.h"
#include "core/base/hash.h"

#include <cstdlib>
#include <filesystem>

namespace espalier::test {
namespace {

class SanitizerStage : public JudgeFixture
{
protected:
    void TearDown() override
    {
        JudgeFixture::TearDown();
        ::unsetenv("ESPALIER_SANITIZER");
    }

    Evaluation sanitized(const std::string& behaviour, const std::string& candidate = "honest",
                         Sanitizing wanted = Sanitizing::Required, const std::string& appended = "")
    {
        if (!behaviour.empty()) {
            const auto program = m_folder.path() / behaviour;
            std::filesystem::copy_file(FAKE_SANITIZER, program, std::filesystem::copy_options::overwrite_existing);
            ::setenv("ESPALIER_SANITIZER", program.c_str(), 1);
        } else {
            ::setenv("ESPALIER_SANITIZER", "/nowhere/compute-sanitizer", 1);
        }
        startJudge("cuda:0");
        EvaluationJob job = jobFor(candidate);
        job.sanitizing = wanted;
        if (!appended.empty()) {
            auto bytes = std::make_shared<const std::string>(*job.candidate.bytes + appended);
            job.candidate = {sha256(*bytes), bytes};
        }
        return m_judge ? evaluate(std::move(job)) : Evaluation{};
    }

    static std::string states(const Evaluation& evaluation)
    {
        std::string text;
        for (const SanitizerFinding& finding : evaluation.sanitizer) {
            text += finding.tool + "=" + finding.state + " ";
        }
        return text;
    }

    ScratchFolder m_folder = *ScratchFolder::create("sanitizer-test");
};

TEST_F(SanitizerStage, FourToolsThatFindNothing)
{
    const Evaluation evaluation = sanitized("clean");
    EXPECT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason << "\n" << evidenceOf(evaluation);
    EXPECT_EQ(states(evaluation), "memcheck=clean racecheck=clean initcheck=clean synccheck=clean ")
        << evidenceOf(evaluation);
}

TEST_F(SanitizerStage, WhatAToolFindsRejectsWithKernelAndLine)
{
    const Evaluation memory = sanitized("memory");
    EXPECT_EQ(memory.outcome, Outcome::RuntimeFailed) << memory.reason;
    EXPECT_NE(memory.reason.find("memcheck found 1 error: Invalid __global__ write of size 4 bytes at candidate(float "
                                 "const*, float*, long)+0x130 in candidate.cu:41"),
              std::string::npos)
        << memory.reason;
    EXPECT_EQ(states(memory), "memcheck=errors ");
    const Evaluation race = sanitized("race");
    EXPECT_EQ(race.outcome, Outcome::Incorrect) << race.reason;
    EXPECT_NE(race.reason.find("racecheck found 1 error: Error: Race reported"), std::string::npos) << race.reason;
    EXPECT_EQ(states(race), "memcheck=clean racecheck=errors ");
}

TEST_F(SanitizerStage, RacesThatTheToolCannotJudgeAreARemark)
{
    // What a loader ignores at the end of the file is as good as the PTX text that stands inside it.
    const Evaluation race = sanitized("race", "honest", Sanitizing::Required,
                                      ".entry _Z9candidatev()\n{\nmbarrier.try_wait.parity.shared::cta.b64 "
                                      "cp.async.bulk.shared::cluster.global\n}\n");
    EXPECT_EQ(race.outcome, Outcome::Passed) << race.reason;
    EXPECT_EQ(states(race), "memcheck=clean racecheck=errors initcheck=clean synccheck=clean ");
    EXPECT_NE(evidenceOf(race).find("does not follow copies that end at an mbarrier"), std::string::npos)
        << evidenceOf(race);
}

TEST_F(SanitizerStage, CopiesOfAnotherKernelExcuseNoRace)
{
    const Evaluation race =
        sanitized("race", "honest", Sanitizing::Required,
                  ".entry _Z9candidatev()\n{\nret;\n}\n.entry _Z6unusedv()\n{\n"
                  "mbarrier.try_wait.parity.shared::cta.b64 cp.async.bulk.shared::cluster.global\n}\n");
    EXPECT_EQ(race.outcome, Outcome::Incorrect) << race.reason << "\n" << evidenceOf(race);
    EXPECT_EQ(states(race), "memcheck=clean racecheck=errors ");
}

TEST_F(SanitizerStage, WithoutTheToolsWordNothingIsClean)
{
    for (const char* behaviour : {"truncated", "crash"}) {
        const Evaluation evaluation = sanitized(behaviour);
        EXPECT_EQ(evaluation.outcome, Outcome::NotRun) << behaviour << ": " << evaluation.reason;
        EXPECT_EQ(evaluation.cause, NotRunCause::Unsupported) << behaviour;
        EXPECT_EQ(states(evaluation), "memcheck=not_run racecheck=not_run initcheck=not_run synccheck=not_run ");
        EXPECT_NE(evidenceOf(evaluation).find("memcheck says nothing"), std::string::npos) << evidenceOf(evaluation);
    }
    const Evaluation none = sanitized("");
    EXPECT_EQ(none.outcome, Outcome::NotRun);
    EXPECT_NE(none.reason.find("compute-sanitizer is not installed"), std::string::npos) << none.reason;
}

TEST_F(SanitizerStage, WhereItIsNotInstalledThatIsSaid)
{
    const Evaluation evaluation = sanitized("", "honest", Sanitizing::WhereInstalled);
    EXPECT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
    EXPECT_TRUE(evaluation.sanitizer.empty());
    EXPECT_NE(evidenceOf(evaluation).find("nobody has looked for races"), std::string::npos) << evidenceOf(evaluation);
}

} // namespace
} // namespace espalier::test
