// SPDX-License-Identifier: Apache-2.0
// A simgpu process, a judge's half and forked runners with libraries that nvcc built: what a call may do, what it may
// not, and what the judge is told.
#include "tests/simgpu/sim_fixture.h"

#include <algorithm>
#include <csignal>

namespace espalier::sim::test {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds patience{20'000};
constexpr std::uint64_t elements = 1000;
constexpr float poison = -77.0f;

using Entry = int (*)(std::uint64_t x, std::uint64_t y, std::int64_t n, void*, std::size_t, void* stream);

int callEntry(RunnerView& view, void* entry)
{
    return reinterpret_cast<Entry>(entry)(view.addresses[0], view.addresses[1], elements, nullptr, 0,
                                          view.device.stream());
}

class SimGpuTest : public SimFixture
{
protected:
    void SetUp() override
    {
        SimFixture::SetUp();
        startRunner();
    }

    void startRunner()
    {
        m_x = array(elements, 3.0f);
        m_y = array(elements, poison);
        auto client = m_gpu->createClient();
        ASSERT_TRUE(client) << client.error().message;
        m_client = client->id;
        grantTo(m_client, m_x, Grant::ReadOnly, "input x");
        grantTo(m_client, m_y, Grant::ReadWrite, "output y");
        m_runner = std::make_unique<ForkedRunner>(
            std::move(client->runnerEnd), CANDIDATES_PATH,
            std::vector{mapping(m_x, Grant::ReadOnly), mapping(m_y, Grant::ReadWrite)}, callEntry);
        ASSERT_TRUE(m_runner->ready());
    }

    BlockReport run(const std::string& entry, int status = 0, std::uint64_t maxInstructions = 0,
                    milliseconds limit = patience)
    {
        EXPECT_TRUE(m_gpu->beginBlock(m_client, {maxInstructions}));
        EXPECT_EQ(m_runner->block(entry), std::optional(status)) << entry;
        return finish(limit);
    }

    BlockReport finish(milliseconds limit = patience)
    {
        auto report = m_gpu->finishBlock(m_client, limit);
        EXPECT_TRUE(report) << report.error().message;
        return report ? std::move(*report) : BlockReport{};
    }

    CallReport runOne(const std::string& entry, int status = 0)
    {
        BlockReport report = run(entry, status);
        EXPECT_TRUE(report.ended);
        EXPECT_EQ(report.disconnected, "");
        EXPECT_EQ(report.calls.size(), 1u);
        return report.calls.empty() ? CallReport{} : std::move(report.calls.front());
    }

    bool outputsAre(float value) const
    {
        return std::ranges::all_of(m_y.values(), [value](float y) { return y == value; });
    }

    Array m_x, m_y;
    SimClientId m_client = 0;
    std::unique_ptr<ForkedRunner> m_runner;
};

TEST_F(SimGpuTest, AnHonestCallWritesItsOutputsAndIsCounted)
{
    const CallReport call = runOne("honest");
    EXPECT_TRUE(outputsAre(6.0f));
    EXPECT_FALSE(call.fault);
    EXPECT_TRUE(call.unsupported.empty() && call.misuse.empty());
    EXPECT_EQ(call.launchCount, 1u);
    EXPECT_EQ(call.unjoined, 0u);
    EXPECT_EQ(call.counters.launches, 1u);
    EXPECT_EQ(call.counters.blocks, 8u);
    EXPECT_EQ(call.counters.threads, 1024u);
    EXPECT_EQ(call.counters.globalLoadBytes, 4 * elements);
    EXPECT_EQ(call.counters.globalStoreBytes, 4 * elements);
    EXPECT_GT(call.modelledSeconds, 0);
    ASSERT_EQ(call.launches.size(), 1u);
    EXPECT_NE(call.launches[0].kernel.find("twice"), std::string::npos);
    EXPECT_EQ(call.launches[0].grid.x, 8u);
    EXPECT_EQ(call.launches[0].block.x, 128u);
}

TEST_F(SimGpuTest, NothingRunsBeforeTheJudgeAsks)
{
    ASSERT_TRUE(m_gpu->beginBlock(m_client, {}));
    ASSERT_EQ(m_runner->block("honest"), std::optional(0));
    EXPECT_TRUE(outputsAre(poison));
    EXPECT_EQ(finish().calls.size(), 1u);
    EXPECT_TRUE(outputsAre(6.0f));
}

TEST_F(SimGpuTest, ABlockOfSeveralCallsIsReportedCallByCall)
{
    ASSERT_TRUE(m_gpu->beginBlock(m_client, {}));
    ASSERT_EQ(m_runner->block("honest", 5), std::optional(0));
    const BlockReport report = finish();
    ASSERT_EQ(report.calls.size(), 5u);
    for (const CallReport& call : report.calls) {
        EXPECT_EQ(call.launchCount, 1u);
        EXPECT_EQ(call.counters.threadInstructions, report.calls[0].counters.threadInstructions);
        EXPECT_EQ(call.modelledSeconds, report.calls[0].modelledSeconds);
    }
}

TEST_F(SimGpuTest, TheSameCallGivesTheSameCounts)
{
    const CallReport first = runOne("honest");
    startRunner();
    const CallReport second = runOne("honest");
    EXPECT_EQ(first.counters.warpInstructions, second.counters.warpInstructions);
    EXPECT_EQ(first.modelledSeconds, second.modelledSeconds);
}

TEST_F(SimGpuTest, MemsetsCopiesAndSymbolsWork)
{
    runOne("zeros");
    EXPECT_TRUE(outputsAre(0.0f));
    runOne("variables");
    EXPECT_TRUE(outputsAre(6.75f));
    runOne("temporary");
    EXPECT_TRUE(outputsAre(6.0f));
    std::ranges::fill(m_y.values(), poison);
    runOne("extendedLaunch");
    EXPECT_TRUE(outputsAre(6.0f));
    std::ranges::fill(m_y.values(), poison);
    runOne("sharedWithAttribute");
    EXPECT_TRUE(outputsAre(6.0f));
}

TEST_F(SimGpuTest, OneElementPastTheEndIsSeenToTheByteAndSticks)
{
    const CallReport call = runOne("pastTheEnd");
    ASSERT_TRUE(call.fault);
    EXPECT_EQ(call.fault->cudaCode, 700);
    EXPECT_EQ(call.fault->kind, FaultKind::OutOfBounds);
    EXPECT_FALSE(call.fault->hang);
    EXPECT_NE(call.fault->sentence.find("output y"), std::string::npos) << call.fault->sentence;
    ASSERT_TRUE(m_gpu->beginBlock(m_client, {}));
    EXPECT_EQ(m_runner->block("honest"), std::nullopt) << "a context with a sticky error is dead";
    EXPECT_TRUE(finish().calls.empty());
    startRunner();
    runOne("honest");
    EXPECT_TRUE(outputsAre(6.0f));
}

TEST_F(SimGpuTest, WritesToInputsAndBadMemsetsFault)
{
    CallReport call = runOne("writesInput");
    ASSERT_TRUE(call.fault);
    EXPECT_EQ(call.fault->kind, FaultKind::ReadOnlyWrite);
    EXPECT_EQ(m_x.values()[0], 3.0f);
    startRunner();
    call = runOne("memsetPastTheEnd");
    ASSERT_TRUE(call.fault);
    EXPECT_EQ(call.fault->sentence, "cudaMemset wrote 4004 bytes, 4 of them past the end of output y");
    startRunner();
    call = runOne("useAfterFree");
    ASSERT_TRUE(call.fault);
    EXPECT_EQ(call.fault->cudaCode, 700);
}

TEST_F(SimGpuTest, JoinedSideStreamsRunUnjoinedOnesOnlyWhenReleased)
{
    CallReport call = runOne("joinedSideStream");
    EXPECT_TRUE(outputsAre(6.0f));
    EXPECT_EQ(call.unjoined, 0u);
    for (const char* entry : {"unjoinedSideStream", "defaultStream"}) {
        std::ranges::fill(m_y.values(), poison);
        call = runOne(entry);
        EXPECT_TRUE(outputsAre(poison)) << entry;
        EXPECT_EQ(call.unjoined, 1u) << entry;
        EXPECT_EQ(call.launchCount, 0u) << entry;
        const auto late = m_gpu->releaseDeferred(m_client, patience);
        ASSERT_TRUE(late) << late.error().message;
        EXPECT_EQ(late->calls.at(0).launchCount, 1u) << entry;
        EXPECT_TRUE(outputsAre(6.0f)) << entry;
    }
}

TEST_F(SimGpuTest, WaitingRunsTheWorkAndIsReported)
{
    const CallReport call = runOne("waits");
    EXPECT_TRUE(outputsAre(6.0f));
    EXPECT_EQ(call.launchCount, 1u);
    EXPECT_EQ(call.misuse, std::vector<std::string>{"cudaStreamSynchronize"});
}

TEST_F(SimGpuTest, WhatTheContractForbidsAnswersAsAnErrorAndIsReported)
{
    const CallReport call = runOne("plainMalloc", 800);
    EXPECT_EQ(call.misuse, std::vector<std::string>{"cudaMalloc"});
    EXPECT_EQ(call.hostStatus, 800);
}

TEST_F(SimGpuTest, BadLaunchesAreRefusedAsCudaRefusesThem)
{
    runOne("tooManyThreads", 9);
    runOne("overLaunchBounds", 1);
    runOne("sharedWithoutAttribute", 1);
    runOne("honest");
    EXPECT_TRUE(outputsAre(6.0f)) << "a refused launch leaves the context alive";
}

TEST_F(SimGpuTest, WhatIsMissingHereIsUnsupportedNotWrong)
{
    EXPECT_EQ(runOne("hostFunction", 801).unsupported, std::vector<std::string>{"cudaLaunchHostFunc"});
    EXPECT_EQ(runOne("cluster", 801).unsupported, std::vector<std::string>{"thread block clusters"});
}

TEST_F(SimGpuTest, AnEndlessKernelMeetsItsInstructionLimit)
{
    const BlockReport report = run("neverEnds", 0, 200'000);
    ASSERT_EQ(report.calls.size(), 1u);
    ASSERT_TRUE(report.calls[0].fault);
    EXPECT_TRUE(report.calls[0].fault->hang);
    EXPECT_EQ(report.calls[0].fault->kind, FaultKind::InstructionLimit);
}

TEST_F(SimGpuTest, AnEndlessKernelMeetsTheJudgesDeadlineAndTheDeviceLives)
{
    const BlockReport report = run("neverEnds", 0, 0, milliseconds(1000));
    ASSERT_EQ(report.calls.size(), 1u);
    ASSERT_TRUE(report.calls[0].fault);
    EXPECT_TRUE(report.calls[0].fault->hang);
    ASSERT_TRUE(m_gpu->dropClient(m_client));
    startRunner();
    runOne("honest");
    EXPECT_TRUE(outputsAre(6.0f));
}

TEST_F(SimGpuTest, HostCodeCannotReadDeviceMemory)
{
    ASSERT_TRUE(m_gpu->beginBlock(m_client, {}));
    EXPECT_EQ(m_runner->block("hostReads"), std::nullopt);
    EXPECT_EQ(m_runner->waitForSignal(), SIGSEGV);
    const BlockReport report = finish();
    EXPECT_FALSE(report.ended);
    EXPECT_TRUE(report.calls.empty());
    EXPECT_NE(report.disconnected, "");
}

TEST_F(SimGpuTest, WorkOutsideABlockIsDroppedAndCounted)
{
    runOne("honest");
    std::ranges::fill(m_y.values(), poison);
    // The runner's device refuses the call, since no block is open; the process ends.
    EXPECT_EQ(m_runner->block("honest"), std::nullopt);
    EXPECT_TRUE(outputsAre(poison));
}

TEST_F(SimGpuTest, AKilledSimgpuIsAnErrorAndAFreshOneGoesOnWithTheSameBuffers)
{
    ASSERT_EQ(::kill(m_gpu->pid(), SIGKILL), 0);
    const auto report = m_gpu->finishBlock(m_client, patience);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::WorkerLost);
    m_x.values()[0] = 5.0f;
    SimFixture::SetUp();
    startRunner();
    runOne("honest");
    EXPECT_TRUE(outputsAre(6.0f));
}

TEST_F(SimGpuTest, ReleasedMemoryIsGivenBackAndTooMuchIsRefused)
{
    const auto before = m_device->memory().value();
    const auto refused = m_device->allocate(std::size_t{1} << 40);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::OutOfMemory);
    {
        const auto buffer = m_device->allocate(std::size_t{100} << 20);
        ASSERT_TRUE(buffer);
        EXPECT_EQ(m_device->memory()->freeBytes, before.freeBytes - (std::size_t{100} << 20));
    }
    EXPECT_EQ(m_device->memory()->freeBytes, before.freeBytes);
}

} // namespace
} // namespace espalier::sim::test
