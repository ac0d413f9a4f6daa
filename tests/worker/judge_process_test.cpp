// SPDX-License-Identifier: Apache-2.0
#include "core/worker/judge_process.h"

#include "core/base/file.h"
#include "core/base/hash.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace espalier {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

JudgeSettings settingsFor(const std::string& behaviour)
{
    JudgeSettings settings;
    settings.launcher.worker = FAKE_JUDGE;
    settings.device = behaviour;
    settings.helloDeadline = milliseconds(60000);
    settings.quickDeadline = milliseconds(60000);
    settings.cancelDeadline = milliseconds(60000);
    return settings;
}

Library library(std::string bytes)
{
    auto shared = std::make_shared<const std::string>(std::move(bytes));
    return {sha256(*shared), shared};
}

EvaluationJob job(std::int64_t id, std::size_t bytes = 100)
{
    EvaluationJob job;
    job.id = RequestId{id};
    auto task = std::make_shared<Task>();
    task->json = "{}";
    job.task = task;
    job.candidate = library(std::string(bytes, static_cast<char>('a' + id)));
    job.root = library("root");
    job.oracle = library("oracle");
    return job;
}

/// Events until `wanted` holds for one of them; fails the test after two minutes.
template <typename Wanted>
std::vector<evaluator::Event> collect(Evaluator& judge)
{
    std::vector<evaluator::Event> all;
    const auto end = Clock::now() + std::chrono::seconds(120);
    while (Clock::now() < end) {
        pollfd polled = {judge.descriptor(), POLLIN, 0};
        const int timeout = judge.timeoutMilliseconds();
        ::poll(&polled, 1, timeout < 0 ? 100 : std::min(timeout, 100));
        for (evaluator::Event& event : judge.receive()) {
            all.push_back(std::move(event));
        }
        for (const evaluator::Event& event : all) {
            if (std::holds_alternative<Wanted>(event)) {
                return all;
            }
        }
    }
    ADD_FAILURE() << "the event did not come";
    return all;
}

template <typename T>
const T* find(const std::vector<evaluator::Event>& events)
{
    for (const evaluator::Event& event : events) {
        if (const T* found = std::get_if<T>(&event)) {
            return found;
        }
    }
    return nullptr;
}

TEST(JudgeProcess, EvaluatesAJob)
{
    const auto judge = startJudge(settingsFor("good"));
    ASSERT_TRUE(judge) << judge.error().message;
    EXPECT_EQ((*judge)->hello().deviceName, "Fake device");
    EXPECT_EQ((*judge)->timeoutMilliseconds(), -1);
    (*judge)->submit(job(1));
    const auto events = collect<evaluator::Finished>(**judge);
    ASSERT_TRUE(find<evaluator::Progress>(events));
    ASSERT_TRUE(find<evaluator::Verified>(events));
    const auto* finished = find<evaluator::Finished>(events);
    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->id, RequestId{1});
    EXPECT_EQ(finished->evaluation.outcome, Outcome::Passed) << finished->evaluation.reason;
}

TEST(JudgeProcess, SaysWhyAJudgeDoesNotStart)
{
    const auto none = startJudge(settingsFor("no-device"));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message, "there is no GPU here; use --device sim");
    const auto other = startJudge(settingsFor("other-version"));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::VersionTooNew);
    const auto died = startJudge(settingsFor("print-and-exit"));
    ASSERT_FALSE(died);
    EXPECT_NE(died.error().message.find("libcuda.so.1"), std::string::npos) << died.error().message;
    JudgeSettings missing = settingsFor("good");
    missing.launcher.worker = "/no/such/espalier-worker";
    EXPECT_FALSE(startJudge(missing));
    JudgeSettings silent = settingsFor("stall-hello");
    silent.helloDeadline = milliseconds(200);
    EXPECT_FALSE(startJudge(silent));
}

TEST(JudgeProcess, ALostJudgeNamesTheUnfinishedJobsAndStartsAgain)
{
    const auto scratch = ScratchFolder::create("judge-test");
    ASSERT_TRUE(scratch);
    const auto judge = startJudge(settingsFor("good"));
    ASSERT_TRUE(judge);
    auto crashing = startJudge(settingsFor("crash-job"));
    ASSERT_TRUE(crashing);
    (*crashing)->submit(job(1));
    (*crashing)->submit(job(2));
    const auto events = collect<evaluator::Lost>(**crashing);
    const auto* lost = find<evaluator::Lost>(events);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->unfinished, (std::vector<RequestId>{RequestId{1}, RequestId{2}}));
    EXPECT_NE(lost->error.message.find("Killed"), std::string::npos) << lost->error.message;
}

TEST(JudgeProcess, RestartsAfterOneLoss)
{
    const auto scratch = ScratchFolder::create("judge-test");
    ASSERT_TRUE(scratch);
    const std::string once = (scratch->path() / "once").string();
    const auto judge = startJudge(settingsFor("crash-job:" + once));
    ASSERT_TRUE(judge);
    (*judge)->submit(job(1));
    ASSERT_TRUE(find<evaluator::Lost>(collect<evaluator::Lost>(**judge)));
    (*judge)->submit(job(1));
    const auto events = collect<evaluator::Finished>(**judge);
    const auto* finished = find<evaluator::Finished>(events);
    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->evaluation.outcome, Outcome::Passed);
}

TEST(JudgeProcess, TwoLossesParkTheDevice)
{
    JudgeSettings settings = settingsFor("stall-job");
    settings.quickDeadline = milliseconds(400);
    const auto judge = startJudge(settings);
    ASSERT_TRUE(judge);
    (*judge)->submit(job(1));
    ASSERT_TRUE(find<evaluator::Lost>(collect<evaluator::Lost>(**judge)));
    (*judge)->submit(job(1));
    const auto second = collect<evaluator::Lost>(**judge);
    const auto* lost = find<evaluator::Lost>(second);
    ASSERT_TRUE(lost);
    EXPECT_NE(lost->error.message.find("parked"), std::string::npos) << lost->error.message;
    (*judge)->submit(job(2));
    const auto events = collect<evaluator::Finished>(**judge);
    const auto* finished = find<evaluator::Finished>(events);
    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->evaluation.cause, NotRunCause::Infrastructure);
    EXPECT_NE(finished->evaluation.reason.find("parked"), std::string::npos);
}

TEST(JudgeProcess, GarbageIsALoss)
{
    const auto judge = startJudge(settingsFor("garbage-job"));
    ASSERT_TRUE(judge);
    (*judge)->submit(job(1));
    const auto events = collect<evaluator::Lost>(**judge);
    const auto* lost = find<evaluator::Lost>(events);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->error.code, ErrorCode::Protocol);
}

TEST(JudgeProcess, CancelsAJob)
{
    const auto judge = startJudge(settingsFor("wait-for-cancel"));
    ASSERT_TRUE(judge);
    (*judge)->submit(job(1));
    for (int i = 0; i < 3; ++i) { // until the job is on its way
        pollfd polled = {(*judge)->descriptor(), POLLIN, 0};
        ::poll(&polled, 1, 100);
        (void)(*judge)->receive();
    }
    (*judge)->cancel(RequestId{1});
    const auto events = collect<evaluator::Finished>(**judge);
    ASSERT_TRUE(find<evaluator::Finished>(events));
    EXPECT_EQ(find<evaluator::Finished>(events)->evaluation.cause, NotRunCause::Cancelled);
}

/// A judge that does not read must not hold the engine: large libraries wait in the queue.
TEST(JudgeProcess, SubmittingNeverBlocks)
{
    const auto judge = startJudge(settingsFor("stall-job"));
    ASSERT_TRUE(judge);
    const auto start = Clock::now();
    for (int i = 1; i <= 4; ++i) {
        (*judge)->submit(job(i, std::size_t{2} << 20));
        (void)(*judge)->receive();
    }
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(30));
}

} // namespace
} // namespace espalier
