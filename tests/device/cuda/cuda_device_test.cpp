// SPDX-License-Identifier: Apache-2.0
#include "tests/device/cuda/cuda_test_support.h"

#include "core/device/cuda/driver_api.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace espalier {

namespace {

using ops::Distribution;
using ops::DType;
using ops::Op;

constexpr DType types[] = {DType::F64,     DType::F32, DType::TF32, DType::F16, DType::BF16, DType::FP8E4M3,
                           DType::FP8E5M2, DType::I8,  DType::I32,  DType::I64, DType::Bool};

TEST(CudaDevice, statesItsFacts)
{
    const auto devices = must(listCudaDevices());
    ASSERT_FALSE(devices.empty());
    const auto start = std::chrono::steady_clock::now();
    const auto device = must(openCudaDevice(0));
    const double opened = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    const DeviceInfo& info = device->info();
    EXPECT_EQ(info.id, "cuda:0");
    EXPECT_EQ(info.uuid, devices[0].uuid);
    EXPECT_EQ(info.uuid.size(), 40u) << info.uuid;
    EXPECT_FALSE(info.name.empty());
    EXPECT_FALSE(info.driver.empty());
    EXPECT_GE(info.smMajor, 7);
    EXPECT_GT(info.multiprocessors, 0);
    EXPECT_GE(info.l2Bytes, 1u << 20);
    EXPECT_EQ(info.granularity % 65536, 0u);
    EXPECT_FALSE(info.simulated);
    std::printf("%s, %s, driver %s, sm_%d%d, %d SMs, L2 %zu MiB, %zu MiB, granule %zu; opened in %.0f ms\n",
                info.name.c_str(), info.uuid.c_str(), info.driver.c_str(), info.smMajor, info.smMinor,
                info.multiprocessors, info.l2Bytes >> 20, info.totalBytes >> 20, info.granularity, opened);
}

TEST(CudaDevice, namesTheMissingOne)
{
    const auto device = openCudaDevice(99);
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().code, ErrorCode::NotFound);
    EXPECT_NE(device.error().message.find("cuda:99"), std::string::npos);
}

TEST(CudaDevice, putsBackWhatOneProcessChangedForTheNext)
{
    const auto device = must(openCudaDevice(0));
    EXPECT_EQ(device->restoreState(), "");
    const auto* api = must(cuda::driverApi());
    if (api->cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 3u << 20) != CUDA_SUCCESS) {
        GTEST_SKIP() << "this device sets nothing aside";
    }
    EXPECT_NE(device->restoreState().find("KiB of the L2 cache"), std::string::npos);
    EXPECT_EQ(device->restoreState(), "");
}

TEST(CudaDevice, writesAndReads)
{
    const auto device = must(openCudaDevice(0));
    const auto buffer = must(device->allocate(1000));
    EXPECT_EQ(buffer->bytes() % device->info().granularity, 0u);
    EXPECT_GE(buffer->bytes(), 1000u);
    std::vector<std::uint32_t> values(250);
    for (std::uint32_t i = 0; i < values.size(); ++i) {
        values[i] = i * i;
    }
    must(device->write(buffer->address(), std::as_bytes(std::span(values))));
    EXPECT_EQ(readBack<std::uint32_t>(*device, buffer->address(), 250), values);
}

TEST(CudaDevice, aBufferThatDoesNotFitIsAnError)
{
    const auto device = must(openCudaDevice(0));
    const DeviceMemory memory = must(device->memory());
    EXPECT_LE(memory.freeBytes, memory.totalBytes);
    const auto buffer = device->allocate(memory.totalBytes + (1u << 30));
    ASSERT_FALSE(buffer);
    EXPECT_EQ(buffer.error().code, ErrorCode::OutOfMemory) << buffer.error().message;
    EXPECT_TRUE(device->allocate(1 << 20)) << "the device must stay usable";
}

TEST(CudaDevice, freesWhatItAllocated)
{
    const auto device = must(openCudaDevice(0));
    const auto before = must(device->memory()).freeBytes;
    for (int i = 0; i < 5; ++i) {
        const auto buffer = must(device->allocate(64u << 20));
        EXPECT_LT(must(device->memory()).freeBytes, before);
    }
    EXPECT_EQ(must(device->memory()).freeBytes, before);
}

/// Every element type and distribution: the device's bits must be the host's.
TEST(OpsOnDevice, drawTheSameBitsAsTheHost)
{
    const auto device = must(openCudaDevice(0));
    const std::uint64_t count = onHardware() ? 1u << 20 : 1u << 12;
    const auto buffer = must(device->allocate(count * 8));
    const auto counter = must(device->allocate(8));
    std::vector<std::byte> host(count * 8);
    for (const DType type : types) {
        for (const Distribution distribution :
             {Distribution::Normal, Distribution::Uniform, Distribution::Constant, Distribution::HeavyTail,
              Distribution::Integers, Distribution::Sparse, Distribution::Ties, Distribution::ConstantRows,
              Distribution::Outlier, Distribution::Subnormal, Distribution::HalfNormal, Distribution::Alternating,
              Distribution::Sorted, Distribution::Mixed}) {
            const bool spread = distribution == Distribution::HeavyTail || distribution == Distribution::Mixed;
            ops::FillArgs args{buffer->address(),   0x123456789abcdefull, 0xfffffff0ull,      type, distribution,
                               spread ? 0.7 : -3.3, spread ? 9.0 : 5.7,   counter->address(), 1031};
            runOp(*device, Op::Fill, args, count);
            const auto onDevice = readBack<std::byte>(*device, buffer->address(), count * sizeOf(type));
            ops::FillArgs hostArgs = args;
            hostArgs.address = reinterpret_cast<std::uint64_t>(host.data());
            ops::runOnCpu(Op::Fill, std::as_bytes(std::span(&hostArgs, 1)), count);
            EXPECT_EQ(std::memcmp(onDevice.data(), host.data(), onDevice.size()), 0)
                << "type " << static_cast<int>(type) << ", distribution " << static_cast<int>(distribution);
            must(device->write(counter->address(), std::vector<std::byte>(8)));
            runOp(*device, Op::Verify, args, count);
            EXPECT_EQ(readBack<std::uint64_t>(*device, counter->address(), 1)[0], 0u);
        }
    }
}

TEST(OpsOnDevice, poisonHashAndBandAsTheHost)
{
    const auto device = must(openCudaDevice(0));
    const std::uint64_t count = 1u << 14;
    const auto buffer = must(device->allocate(count * 8));
    const auto counter = must(device->allocate(8));
    std::vector<std::uint64_t> host(count);
    const std::uint64_t hostAddress = reinterpret_cast<std::uint64_t>(host.data());
    std::uint64_t hostCounter = 0;
    const auto both = [&](Op op, auto args, std::uint64_t elements, auto setCounter) {
        args.address = buffer->address();
        setCounter(args, counter->address());
        runOp(*device, op, args, elements);
        args.address = hostAddress;
        setCounter(args, reinterpret_cast<std::uint64_t>(&hostCounter));
        ops::runOnCpu(op, std::as_bytes(std::span(&args, 1)), elements);
    };
    must(device->write(counter->address(), std::vector<std::byte>(8)));
    for (const DType type : types) {
        for (const ops::PoisonKind kind : {ops::PoisonKind::Noise, ops::PoisonKind::NaN, ops::PoisonKind::Invert}) {
            both(Op::Poison, ops::PoisonArgs{0, 42, type, kind}, count, [](auto&, std::uint64_t) {});
            const auto onDevice = readBack<std::byte>(*device, buffer->address(), count * sizeOf(type));
            EXPECT_EQ(std::memcmp(onDevice.data(), host.data(), onDevice.size()), 0)
                << "type " << static_cast<int>(type) << ", kind " << static_cast<int>(kind);
        }
    }
    both(Op::Hash, ops::HashArgs{0, 0, 3}, count / 3, [](auto& args, std::uint64_t at) { args.result = at; });
    EXPECT_EQ(readBack<std::uint64_t>(*device, counter->address(), 1)[0], hostCounter);
    both(Op::Band, ops::BandArgs{0, 6, 0, 1}, 1001, [](auto& args, std::uint64_t at) { args.mismatches = at; });
    const auto band = readBack<std::byte>(*device, buffer->address(), 1001);
    EXPECT_EQ(std::memcmp(band.data(), host.data(), band.size()), 0);
    must(device->write(counter->address(), std::vector<std::byte>(8)));
    runOp(*device, Op::Band, ops::BandArgs{buffer->address() + 8, 6, counter->address(), 0}, 16);
    EXPECT_GE(readBack<std::uint64_t>(*device, counter->address(), 1)[0], 14u) << "a band moved by 8 bytes must differ";
}

TEST(OpsOnDevice, compareAsTheHost)
{
    const auto device = must(openCudaDevice(0));
    const std::uint64_t count = 100003;
    std::vector<double> reference(count), scale(count);
    std::vector<float> out(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        reference[i] = std::sin(static_cast<double>(i)) * 10;
        scale[i] = std::abs(reference[i]) + 1;
        out[i] = static_cast<float>(reference[i]);
    }
    out[77] = NAN, out[5000] += 0.5f, out[90000] += 0.25f;
    const auto buffers = must(device->allocate(count * 20));
    const auto result = must(device->allocate(sizeof(ops::CompareResult)));
    const std::uint64_t base = buffers->address();
    must(device->write(base, std::as_bytes(std::span(reference))));
    must(device->write(base + 8 * count, std::as_bytes(std::span(scale))));
    must(device->write(base + 16 * count, std::as_bytes(std::span(out))));
    ops::CompareResult zero{}, host{};
    zero.firstFailed = host.firstFailed = ~0ull;
    must(device->write(result->address(), std::as_bytes(std::span(&zero, 1))));
    ops::CompareArgs args{
        base + 16 * count, base, base + 8 * count,    result->address(), 1000, DType::F32, 5.96e-8, 16,
        1.18e-38,          7,    ops::PoisonKind::NaN};
    runOp(*device, Op::Compare, args, count);
    args = {reinterpret_cast<std::uint64_t>(out.data()),
            reinterpret_cast<std::uint64_t>(reference.data()),
            reinterpret_cast<std::uint64_t>(scale.data()),
            reinterpret_cast<std::uint64_t>(&host),
            1000,
            DType::F32,
            5.96e-8,
            16,
            1.18e-38,
            7,
            ops::PoisonKind::NaN};
    ops::runOnCpu(Op::Compare, std::as_bytes(std::span(&args, 1)), count);
    const auto found = readBack<ops::CompareResult>(*device, result->address(), 1)[0];
    EXPECT_EQ(found.compared, count);
    EXPECT_EQ(found.failed, 3u);
    EXPECT_EQ(found.nonFinite, 1u);
    EXPECT_EQ(found.firstFailed, 1077u);
    EXPECT_EQ(found.worstIndex, host.worstIndex);
    EXPECT_EQ(found.worstRatio, host.worstRatio);
    EXPECT_EQ(found.worstIndexBits, host.worstIndexBits);
    EXPECT_EQ(found.worstRef, host.worstRef);
    EXPECT_EQ(found.stillPoison, host.stillPoison);
    EXPECT_NEAR(found.sumSquaredError, host.sumSquaredError, 1e-12 * host.sumSquaredError);
    EXPECT_NEAR(found.sumSquaredReference, host.sumSquaredReference, 1e-12 * host.sumSquaredReference);
    EXPECT_NEAR(found.sumSquaredScale, host.sumSquaredScale, 1e-12 * host.sumSquaredScale);
}

TEST(OpsOnDevice, throughput)
{
    if (!onHardware()) {
        GTEST_SKIP() << "needs a GPU";
    }
    const auto device = must(openCudaDevice(0));
    constexpr std::uint64_t count = 1u << 28; // 1 GiB of fp32
    const auto buffer = must(device->allocate(count * 4));
    const auto reference = must(device->allocate(count * 16));
    const auto result = must(device->allocate(sizeof(ops::CompareResult)));
    const auto timed = [&](const char* name, Op op, const auto& args, std::uint64_t elements) {
        double best = 1e9;
        for (int i = 0; i < 4; ++i) {
            const auto start = std::chrono::steady_clock::now();
            runOp(*device, op, args, elements);
            best = std::min(
                best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
        }
        std::printf("%-28s %7.2f ms for %lu elements\n", name, best, elements);
    };
    ops::FillArgs fill{buffer->address(), 1, 0, DType::F32, Distribution::Normal, 0, 1, result->address()};
    timed("fill normal", Op::Fill, fill, count);
    timed("verify normal", Op::Verify, fill, count);
    fill.distribution = Distribution::Uniform;
    timed("fill uniform", Op::Fill, fill, count);
    fill.dtype = DType::F16;
    fill.distribution = Distribution::Normal;
    timed("fill normal fp16", Op::Fill, fill, count);
    timed("poison noise", Op::Poison, ops::PoisonArgs{buffer->address(), 1, DType::F32, ops::PoisonKind::Noise}, count);
    timed("poison NaN", Op::Poison, ops::PoisonArgs{buffer->address(), 1, DType::F32, ops::PoisonKind::NaN}, count);
    timed("poison invert", Op::Poison, ops::PoisonArgs{buffer->address(), 1, DType::F32, ops::PoisonKind::Invert},
          count);
    ops::FillArgs constant{reference->address(), 1, 0, DType::F64, Distribution::Constant, 1, 0, 0};
    runOp(*device, Op::Fill, constant, 2 * count);
    fill = {buffer->address(), 1, 0, DType::F32, Distribution::Constant, 1, 0, 0};
    runOp(*device, Op::Fill, fill, count);
    timed("compare (1 GiB + 4 GiB)", Op::Compare,
          ops::CompareArgs{buffer->address(), reference->address(), reference->address() + 8 * count, result->address(),
                           0, DType::F32, 5.96e-8, 16, 1.18e-38, 1, ops::PoisonKind::NaN},
          count);
    timed("hash", Op::Hash, ops::HashArgs{buffer->address(), result->address(), 1}, count);
    timed("hash, every 16th word", Op::Hash, ops::HashArgs{buffer->address(), result->address(), 16}, count / 16);
}

} // namespace

} // namespace espalier
