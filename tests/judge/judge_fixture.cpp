// SPDX-License-Identifier: Apache-2.0
#include "tests/judge/judge_fixture.h"

#include "core/base/file.h"
#include "core/base/hash.h"

#include <cstdlib>
#include <poll.h>

namespace espalier::test {

namespace {

Library libraryFrom(const std::string& name)
{
    auto bytes = readFile(std::string(CANDIDATES) + "/" + name + ".so");
    EXPECT_TRUE(bytes) << bytes.error().message;
    auto shared = std::make_shared<const std::string>(bytes ? *bytes : std::string());
    return {sha256(*shared), shared};
}

} // namespace

void JudgeFixture::startJudge(const std::string& device, std::vector<std::string> options)
{
    m_device = device;
    ::setenv("ESPALIER_LIBCUDA", FAKE_LIBCUDA, 1);
    JudgeSettings settings;
    settings.launcher.worker = WORKER;
    settings.device = device;
    settings.launcher.judgeOptions = std::move(options);
    if (device != "sim") {
        settings.launcher.judgeOptions.insert(settings.launcher.judgeOptions.end(), {"--runtime", FAKE_CUDART});
    }
    auto judge = espalier::startJudge(settings);
    ASSERT_TRUE(judge) << judge.error().message;
    m_judge = std::move(*judge);
}

void JudgeFixture::TearDown()
{
    m_judge.reset();
}

EvaluationJob JudgeFixture::jobFor(const std::string& candidate, bool verifyOnly)
{
    const std::string prefix = m_device == "sim" ? "sim_" : "host_";
    EvaluationJob job;
    job.id = RequestId{m_nextId++};
    auto task = std::make_shared<Task>();
    task->json = readFile(TASK_FILE).value_or("");
    job.task = task;
    job.candidate = libraryFrom(prefix + candidate);
    job.root = libraryFrom(prefix + "honest");
    job.oracle = libraryFrom(m_device == "sim" ? "sim_honest" : "host_oracle");
    job.verifyOnly = verifyOnly;
    return job;
}

std::vector<evaluator::Event> JudgeFixture::pump(int milliseconds)
{
    pollfd polled = {m_judge->descriptor(), POLLIN, 0};
    ::poll(&polled, 1, milliseconds);
    return m_judge->receive();
}

Evaluation JudgeFixture::evaluate(EvaluationJob job)
{
    const RequestId id = job.id;
    m_judge->submit(std::move(job));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
        for (evaluator::Event& event : pump(100)) {
            if (auto* finished = std::get_if<evaluator::Finished>(&event); finished && finished->id == id) {
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

std::string JudgeFixture::evidenceOf(const Evaluation& evaluation)
{
    std::string text;
    for (const Evidence& evidence : evaluation.evidence) {
        text += evidence.check + ": " + evidence.sentence + "\n";
    }
    return text;
}

void JudgeFixture::expectHealthy()
{
    const Evaluation evaluation = evaluate("honest");
    EXPECT_EQ(evaluation.outcome, Outcome::Passed) << evaluation.reason;
}

} // namespace espalier::test
