// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/time_model.h"
#include "tests/device/sim/sim_support.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace espalier::sim {
namespace {

DeviceProfile profile()
{
    std::ifstream file(ESPALIER_DEVICES "/h200.json");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    auto parsed = DeviceProfile::parse(text, "h200.json");
    EXPECT_TRUE(parsed) << parsed.error().message;
    return parsed ? *parsed : DeviceProfile{};
}

double modelled(const char* file, const char* kernel, Dim3 grid, Dim3 block, std::int64_t rows, std::int64_t cols)
{
    SimFixture sim(fixture(file));
    sim.limits = {};
    std::vector<float> x(static_cast<std::size_t>(rows * cols), 0.5f), y(x.size());
    const LaunchResult result = sim.run(kernel, grid, block, 0, sim.buffer(x, "x"), sim.buffer(y, "y"), rows, cols);
    EXPECT_FALSE(result.fault) << result.fault->sentence;
    const LaunchShape shape{std::uint64_t{grid.x} * grid.y * grid.z, block.x * block.y * block.z,
                            sim.module().facts(kernel)->staticSharedBytes};
    return modelledSeconds(result.counters, shape, profile());
}

TEST(TimeModel, BetterSoftmaxKernelsAreFaster)
{
    const double naive = modelled("softmax.ptx", "softmax_naive", {8, 1, 1}, {32, 1, 1}, 256, 1024);
    const double warp = modelled("softmax.ptx", "softmax_warp", {64, 1, 1}, {128, 1, 1}, 256, 1024);
    const double block = modelled("softmax.ptx", "softmax_block", {256, 1, 1}, {256, 1, 1}, 256, 1024);
    const double online = modelled("softmax.ptx", "softmax_online", {256, 1, 1}, {256, 1, 1}, 256, 1024);
    const double quads = modelled("softmax.ptx", "softmax_float4", {256, 1, 1}, {128, 1, 1}, 256, 1024);
    EXPECT_GT(naive, 5 * warp);
    EXPECT_GT(naive, block);
    EXPECT_GT(block, online);
    EXPECT_GT(online, quads);
    EXPECT_GT(quads, profile().launchSeconds);
}

TEST(TimeModel, CopiesRankAsOnHardware)
{
    const double strided = modelled("softmax.ptx", "copy_strided", {32, 1, 1}, {64, 1, 1}, 2048, 256);
    const double coalesced = modelled("softmax.ptx", "copy_coalesced", {1024, 1, 1}, {256, 1, 1}, 2048, 256);
    const double quads = modelled("softmax.ptx", "copy_float4", {512, 1, 1}, {256, 1, 1}, 2048, 256);
    EXPECT_GT(strided, 2 * coalesced);
    EXPECT_GT(coalesced, quads);
}

TEST(TimeModel, GrowsWithEveryCount)
{
    const DeviceProfile device = profile();
    const LaunchShape shape{1000, 256, 4096};
    Counters base;
    base.warpInstructions = 1'000'000;
    base.globalLoadRequests = 100'000;
    base.globalLoadSectors = 400'000;
    base.dramReadBytes = 10'000'000;
    const double before = modelledSeconds(base, shape, device);
    for (const auto field :
         {&Counters::warpInstructions, &Counters::globalLoadSectors, &Counters::globalStoreSectors,
          &Counters::globalLoadRequests, &Counters::sharedWavefronts, &Counters::sharedRequests, &Counters::localBytes,
          &Counters::atomics, &Counters::barriers, &Counters::shuffles, &Counters::flopsF16, &Counters::flopsF32,
          &Counters::flopsF64, &Counters::specialF32, &Counters::dramReadBytes, &Counters::dramWriteBytes}) {
        Counters more = base;
        more.*field += 1'000'000'000;
        EXPECT_GT(modelledSeconds(more, shape, device), before);
    }
}

TEST(TimeModel, FewWarpsCannotFillTheMemory)
{
    const DeviceProfile device = profile();
    Counters counters;
    counters.globalLoadRequests = 8'000'000; // 1 GB in 128-byte requests
    counters.globalLoadSectors = 32'000'000;
    counters.dramReadBytes = 1'024'000'000;
    const double full = modelledSeconds(counters, {132 * 8, 256, 0}, device);
    const double thin = modelledSeconds(counters, {132, 64, 0}, device);
    EXPECT_LT(full, 1.5 * 1.024e9 / device.dramBytesPerSecond);
    EXPECT_GT(thin, 5 * full);
    const double heavyShared = modelledSeconds(counters, {132 * 8, 256, 200'000}, device);
    EXPECT_GT(heavyShared, 2 * full);
}

TEST(TimeModel, ProfileErrorsNameTheField)
{
    const auto missing = DeviceProfile::parse("{\"name\": \"x\"}", "d.json");
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find("d.json"), std::string::npos);
    EXPECT_FALSE(DeviceProfile::parse("{", "d.json"));
    EXPECT_FALSE(DeviceProfile::parse("{\"nam\": \"x\"}", "d.json"));
    const DeviceProfile h200 = profile();
    EXPECT_EQ(h200.info.multiprocessors, 132);
    EXPECT_TRUE(h200.info.simulated);
    EXPECT_EQ(h200.info.id, "sim");
}

} // namespace
} // namespace espalier::sim
