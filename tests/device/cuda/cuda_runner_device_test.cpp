// SPDX-License-Identifier: Apache-2.0
#include "tests/device/cuda/cuda_test_support.h"

#include <chrono>
#include <csignal>
#include <cstdio>

namespace espalier {

namespace {

constexpr std::uint64_t count = 1u << 16;

/// The judge's device with an input and an output, and a runner on it in the same process.
struct Bench {
    std::unique_ptr<Device> device = must(openCudaDevice(0));
    std::unique_ptr<DeviceBuffer> input = must(device->allocate(count * 4));
    std::unique_ptr<DeviceBuffer> output = must(device->allocate(count * 4));
    std::unique_ptr<RunnerDevice> runner = openRunner();
    Candidate candidate = loadCandidate();

    std::uint64_t grant(const DeviceBuffer& buffer, Grant access, std::size_t offset = 0)
    {
        return must(runner->map({buffer.bytes(), access}, must(buffer.share()), offset));
    }
};

TEST(CudaRunnerDevice, runsACandidateOnSharedBuffers)
{
    Bench bench;
    runOp(*bench.device, ops::Op::Fill,
          ops::FillArgs{bench.input->address(), 3, 0, ops::DType::F32, ops::Distribution::Uniform, 0, 1, 0}, count);
    const auto x = bench.grant(*bench.input, Grant::ReadOnly);
    const auto y = bench.grant(*bench.output, Grant::ReadWrite);
    for (const bool displace : {false, true}) {
        runOp(*bench.device, ops::Op::Poison,
              ops::PoisonArgs{bench.output->address(), 1, ops::DType::F32, ops::PoisonKind::NaN}, count);
        const BlockClock clock =
            must(bench.runner->runBlock({5,
                                         displace,
                                         [&](std::size_t) {
                                             return bench.candidate.stream(reinterpret_cast<const float*>(x),
                                                                           reinterpret_cast<float*>(y), count,
                                                                           bench.runner->stream());
                                         },
                                         {}}));
        EXPECT_EQ(clock.status, 0);
        ASSERT_EQ(clock.calls.size(), 5u);
        for (const CallClock& call : clock.calls) {
            EXPECT_GT(call.eventMicroseconds, 0);
            EXPECT_GT(call.hostMicroseconds, 0);
            EXPECT_LT(call.hostMicroseconds, clock.hostMicroseconds);
        }
        const auto in = readBack<float>(*bench.device, bench.input->address(), count);
        const auto out = readBack<float>(*bench.device, bench.output->address(), count);
        for (std::uint64_t i = 0; i < count; ++i) {
            ASSERT_EQ(out[i], 2 * in[i] + 1) << i;
        }
    }
    must(bench.runner->synchronize());
}

TEST(CudaRunnerDevice, anEmptyBlockCostsLittle)
{
    if (!onHardware()) {
        GTEST_SKIP() << "needs a GPU";
    }
    Bench bench;
    for (const std::size_t calls : {1, 1, 8, 8, 32, 32}) {
        const auto start = std::chrono::steady_clock::now();
        const BlockClock clock = must(bench.runner->runBlock({calls, true, [](std::size_t) { return 0; }, {}}));
        const auto whole = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
        std::printf("empty block of %2zu: %.0f us, of them enqueue and wait %.0f us, event %.2f us\n", calls, whole,
                    clock.hostMicroseconds, clock.calls.back().eventMicroseconds);
        EXPECT_LT(clock.calls.back().eventMicroseconds, 10);
    }
}

TEST(CudaRunnerDevice, anOffsetPutsTheDataAtTheUpperGuard)
{
    Bench bench;
    const std::size_t offset = bench.output->bytes() - count * 4;
    const auto x = bench.grant(*bench.input, Grant::ReadOnly);
    const auto y = bench.grant(*bench.output, Grant::ReadWrite, offset);
    must(bench.runner->runBlock({1,
                                 false,
                                 [&](std::size_t) {
                                     return bench.candidate.stream(reinterpret_cast<const float*>(x),
                                                                   reinterpret_cast<float*>(y), count,
                                                                   bench.runner->stream());
                                 },
                                 {}}));
    const auto in = readBack<float>(*bench.device, bench.input->address(), 10);
    const auto out = readBack<float>(*bench.device, bench.output->address() + offset, 10);
    EXPECT_EQ(out[9], 2 * in[9] + 1);
    must(bench.runner->unmap(y));
    EXPECT_FALSE(bench.runner->unmap(y));
}

TEST(CudaRunnerDevice, aFailingCallEndsTheBlock)
{
    Bench bench;
    const BlockClock clock =
        must(bench.runner->runBlock({8, false, [](std::size_t i) { return i == 3 ? 98 : 0; }, {}}));
    EXPECT_EQ(clock.status, 98);
    EXPECT_EQ(clock.failedCall, 3u);
    EXPECT_EQ(clock.calls.size(), 4u);
}

TEST(CudaRunnerDevice, refusesAGrantThatIsNoBuffer)
{
    Bench bench;
    EXPECT_FALSE(bench.runner->map({1000, Grant::ReadOnly}, must(bench.input->share()), 0));
    EXPECT_FALSE(bench.runner->map({bench.input->bytes(), Grant::ReadOnly}, UniqueFd(), 0));
    EXPECT_TRUE(bench.runner->synchronize());
}

TEST(CudaRunnerDevice, namesAMissingRuntime)
{
    const auto runner = openCudaRunnerDevice({0, "/nowhere/libcudart.so.13"});
    ASSERT_FALSE(runner);
    EXPECT_EQ(runner.error().code, ErrorCode::NotFound);
    EXPECT_NE(runner.error().message.find("CUDA_HOME"), std::string::npos);
}

/// Writes through a candidate at `offset` bytes of a buffer, in a process of its own. Ends with status 7 when the
/// device reported a sticky error; on the fake driver the write itself ends the process.
void writeAt(Grant access, std::int64_t offset)
{
    Bench bench;
    const auto address = bench.grant(*bench.input, access) + static_cast<std::uint64_t>(offset);
    const auto clock = bench.runner->runBlock(
        {1,
         false,
         [&](std::size_t) { return bench.candidate.poke(reinterpret_cast<float*>(address), bench.runner->stream()); },
         {}});
    if (!clock) {
        std::fprintf(stderr, "%s\n", clock.error().message.c_str());
        std::_Exit(clock.error().code == ErrorCode::WorkerLost ? 7 : 8);
    }
    std::_Exit(0);
}

void expectFault(Grant access, std::int64_t offset)
{
    if (onHardware()) {
        EXPECT_EXIT(writeAt(access, offset), testing::ExitedWithCode(7), "CUDA 700");
    } else {
#ifdef __SANITIZE_ADDRESS__
        EXPECT_DEATH(writeAt(access, offset), "SEGV");
#else
        EXPECT_EXIT(writeAt(access, offset), testing::KilledBySignal(SIGSEGV), "");
#endif
    }
}

TEST(CudaRunnerDeviceDeathTest, guardsAndReadOnlyInputsFaultInTheRunner)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(writeAt(Grant::ReadWrite, 0), testing::ExitedWithCode(0), "");
    expectFault(Grant::ReadOnly, 0);
    expectFault(Grant::ReadWrite, static_cast<std::int64_t>(2u << 20));
    expectFault(Grant::ReadWrite, -4);
}

} // namespace

} // namespace espalier
