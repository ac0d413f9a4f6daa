// SPDX-License-Identifier: Apache-2.0
#include "tests/judge/judge_fixture.h"

#include "core/base/file.h"
#include "core/base/hash.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sstream>

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

std::vector<int> descendantsOf(int parent)
{
    std::vector<int> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) {
            continue;
        }
        std::ifstream stat(entry.path() / "stat");
        std::string text;
        std::getline(stat, text);
        const auto close = text.rfind(')');
        if (close == std::string::npos) {
            continue;
        }
        std::istringstream rest(text.substr(close + 2));
        char state = 0;
        int of = 0;
        rest >> state >> of;
        if (of == parent && state != 'Z') {
            const int pid = std::stoi(name);
            found.push_back(pid);
            const std::vector<int> below = descendantsOf(pid);
            found.insert(found.end(), below.begin(), below.end());
        }
    }
    return found;
}

std::string commandLineOf(int pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::replace(text.begin(), text.end(), '\0', ' ');
    return text;
}

} // namespace espalier::test
