// SPDX-License-Identifier: Apache-2.0
#include "tests/build/build_support.h"

#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <poll.h>
#include <thread>
#include <unistd.h>

namespace espalier {
namespace {

using test::Bench;
using test::kernelWith;
using test::summary;
using Clock = std::chrono::steady_clock;

/// Waits on the pool's descriptor as the engine does.
std::map<std::int64_t, BuildResult> collect(BuildPool& pool, std::size_t count, int seconds = 120)
{
    std::map<std::int64_t, BuildResult> results;
    const auto end = Clock::now() + std::chrono::seconds(seconds);
    while (results.size() < count && Clock::now() < end) {
        pollfd ready = {pool.descriptor(), POLLIN, 0};
        ::poll(&ready, 1, 200);
        for (BuildResult& result : pool.receive()) {
            results.emplace(result.id.value, std::move(result));
        }
    }
    return results;
}

/// Far below what `endless` takes, and enough for a machine that has other things to do.
constexpr auto longestEnd = std::chrono::seconds(60);

/// Compiles for a very long time without much memory.
const std::string endless =
    "template <int N, int M> struct F { static constexpr int v = F<N - 1, M>::v + F<N - 1, M + 1>::v; };\n"
    "template <int M> struct F<0, M> { static constexpr int v = M; };\n"
    "constexpr long spin(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i % 7; return s; }\n"
    "template <int K> __device__ constexpr int unrolled(int x) { return x; }\n"
    "__global__ void slow(float* y) {\n#pragma unroll\n for (int i = 0; i < 400; ++i)\n#pragma unroll\n for (int j = "
    "0; j < 400; ++j)\n y[i * 400 + j] = sinf(y[j * 400 + i]) * cosf(y[i]) + expf(y[j]);\n}\n";

/// A flag for the compiler that no other process of this machine has, another run of this test included.
std::string flagOf(const std::string& name)
{
    return "-D" + name + "=" + std::to_string(::getpid());
}

/// Processes of this machine whose command line holds `text`.
int processesWith(const std::string& text)
{
    int count = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        std::ifstream file(entry.path() / "cmdline");
        const std::string line((std::istreambuf_iterator<char>(file)), {});
        count += line.find(text) != std::string::npos ? 1 : 0;
    }
    return count;
}

TEST(NvccPool, BuildsAllThatIsSubmitted)
{
    Bench bench;
    const auto pool = makeNvccBuildPool(bench.options);
    pool->submit(bench.job(kernelWith("// first"), 1));
    pool->submit(bench.job("no C++", 2));
    pool->submit(bench.job(kernelWith("// third"), 3));
    const auto results = collect(*pool, 3);
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(results.at(1).evaluation.outcome, Outcome::Passed);
    EXPECT_EQ(results.at(2).evaluation.outcome, Outcome::BuildFailed);
    EXPECT_EQ(results.at(3).evaluation.outcome, Outcome::Passed);
    EXPECT_EQ(pool->busy(), 0);
    EXPECT_TRUE(pool->receive().empty());
}

TEST(NvccPool, CancelsWhatWaitsAndWhatRuns)
{
    Bench bench;
    bench.options.workers = 1;
    const std::string flag = flagOf("ESPALIER_CANCEL_TEST");
    bench.task.build.flags = {flag};
    const auto pool = makeNvccBuildPool(bench.options);
    pool->submit(bench.job(kernelWith(endless), 1));
    pool->submit(bench.job(kernelWith("// waits"), 2));
    while (processesWith(flag) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_EQ(pool->busy(), 1);
    pool->cancel(RequestId{2});
    pool->cancel(RequestId{1});
    pool->cancel(RequestId{77});
    const auto results = collect(*pool, 2);
    ASSERT_EQ(results.size(), 2u);
    for (const auto& [id, result] : results) {
        EXPECT_EQ(summary(result), "not_run: the build was cancelled");
        EXPECT_EQ(result.evaluation.cause, NotRunCause::Cancelled);
    }
    EXPECT_EQ(processesWith(flag), 0) << "the compiler's whole tree is gone";
}

TEST(NvccPool, TheDestructorKillsWhatCompiles)
{
    Bench bench;
    const std::string flag = flagOf("ESPALIER_DESTRUCTOR_TEST");
    bench.task.build.flags = {flag};
    auto pool = makeNvccBuildPool(bench.options);
    pool->submit(bench.job(kernelWith(endless), 1));
    while (processesWith(flag) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const auto begin = Clock::now();
    pool.reset();
    EXPECT_LT(Clock::now() - begin, longestEnd);
    EXPECT_EQ(processesWith(flag), 0);
}

TEST(NvccPool, TheDeadlineKillsTheWholeTree)
{
    for (const bool sandbox : {true, false}) {
        Bench bench;
        bench.options.sandbox = sandbox;
        const std::string flag = flagOf("ESPALIER_DEADLINE_TEST");
        bench.task.build.flags = {flag};
        bench.task.build.deadlineSeconds = 2.5;
        const auto begin = Clock::now();
        const auto result = bench.build(kernelWith(endless));
        EXPECT_EQ(summary(result),
                  "timed_out: compiling candidate.cu took longer than the deadline of 2.5 s and was stopped");
        EXPECT_EQ(result.evaluation.stage, Stage::Build);
        EXPECT_LT(Clock::now() - begin, longestEnd);
        EXPECT_EQ(processesWith(flag), 0);
        bench.task.build.deadlineSeconds = 0.001;
        EXPECT_EQ(bench.build(kernelWith(endless)).evaluation.outcome, Outcome::TimedOut)
            << "deadlines are not kept in the cache";
    }
}

TEST(NvccPool, ConcurrentPoolsShareACache)
{
    Bench bench;
    const auto one = makeNvccBuildPool(bench.options), two = makeNvccBuildPool(bench.options);
    one->submit(bench.job(kernelWith(""), 1));
    two->submit(bench.job(kernelWith(""), 1));
    const auto first = collect(*one, 1), second = collect(*two, 1);
    EXPECT_EQ(first.at(1).evaluation.outcome, Outcome::Passed);
    EXPECT_EQ(second.at(1).evaluation.outcome, Outcome::Passed);
    EXPECT_EQ(first.at(1).evaluation.build->key, second.at(1).evaluation.build->key);
    EXPECT_TRUE(bench.build(kernelWith("")).evaluation.build->cached);
}

} // namespace
} // namespace espalier
