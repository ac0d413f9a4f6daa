// SPDX-License-Identifier: Apache-2.0
#include "core/judge/buffer_pool.h"

#include <gtest/gtest.h>
#include <set>

namespace espalier::judge {
namespace {

constexpr std::size_t granule = 4096;

class Buffer final : public DeviceBuffer
{
public:
    Buffer(std::size_t& used, std::size_t bytes) : m_used(used), m_bytes(bytes) { m_used += bytes; }
    ~Buffer() override { m_used -= m_bytes; }
    std::size_t bytes() const override { return m_bytes; }
    std::uint64_t address() const override { return 0x10000; }
    Result<UniqueFd> share() const override { return UniqueFd(); }

private:
    std::size_t& m_used;
    std::size_t m_bytes;
};

/// A device with ten granules.
class SmallDevice final : public Device
{
public:
    SmallDevice() { m_info.granularity = granule; }
    const DeviceInfo& info() const override { return m_info; }
    Result<DeviceMemory> memory() const override { return DeviceMemory{10 * granule - m_used, 10 * granule}; }
    Result<std::unique_ptr<DeviceBuffer>> allocate(std::size_t bytes) override
    {
        return std::make_unique<Buffer>(m_used, bytes);
    }
    Result<void> write(std::uint64_t, std::span<const std::byte>) override { return {}; }
    Result<void> read(std::span<std::byte>, std::uint64_t) override { return {}; }
    Result<void> run(ops::Op, std::span<const std::byte>, std::uint64_t) override { return {}; }
    std::size_t used() const { return m_used; }

private:
    DeviceInfo m_info;
    std::size_t m_used = 0;
};

using Purpose = BufferPool::Purpose;

TEST(BufferPool, PushesTheDataAgainstTheEnd)
{
    SmallDevice device;
    BufferPool pool(device, [](std::uint64_t) {});
    const auto regions = pool.take({{Purpose::Input, 1000}, {Purpose::Output, 0}}, 0);
    ASSERT_TRUE(regions);
    EXPECT_EQ((*regions)[0].bytes, 1000U);
    EXPECT_EQ((*regions)[0].offset % 256, 0U);
    EXPECT_LT(granule - (*regions)[0].offset - 1000, 256U);
}

TEST(BufferPool, DataMayLieFurtherFromTheEnd)
{
    SmallDevice device;
    BufferPool pool(device, [](std::uint64_t) {});
    const auto regions = pool.take({{Purpose::Input, granule - 4, 4, 12}, {Purpose::Input, 1024, 256, 512}}, 0);
    ASSERT_TRUE(regions);
    EXPECT_EQ((*regions)[0].buffer->bytes(), 2 * granule); // the retreat has room, too
    EXPECT_EQ((*regions)[0].offset, granule + 4 - 12);
    EXPECT_EQ((*regions)[1].offset, granule - 1024 - 512);
}

TEST(BufferPool, FreesWhatIsAskedForOnceOnly)
{
    SmallDevice device;
    std::set<std::uint64_t> forgotten;
    BufferPool pool(device, [&](std::uint64_t serial) { forgotten.insert(serial); });
    const auto kept = pool.take({{Purpose::Input, 1000}, {Purpose::Input, 1000, 256, 0, true}}, 0);
    ASSERT_TRUE(kept);
    EXPECT_EQ(device.used(), 2 * granule);
    pool.release();
    EXPECT_EQ(device.used(), granule);
    EXPECT_EQ(forgotten, std::set<std::uint64_t>{(*kept)[1].serial});
    const auto again = pool.take({{Purpose::Input, 1000, 256, 0, true}}, 0);
    ASSERT_TRUE(again);
    EXPECT_NE((*again)[0].serial, (*kept)[0].serial); // what others keep mapped is left to them
}

TEST(BufferPool, ReusesByPurposeOnly)
{
    SmallDevice device;
    BufferPool pool(device, [](std::uint64_t) {});
    const auto first = pool.take({{Purpose::Output, 100}}, 0);
    pool.release();
    const auto again = pool.take({{Purpose::Output, 200}, {Purpose::Input, 100}}, 0);
    ASSERT_TRUE(first && again);
    EXPECT_EQ((*again)[0].serial, (*first)[0].serial);
    EXPECT_NE((*again)[1].serial, (*first)[0].serial); // what a runner may write is never another case's input
}

TEST(BufferPool, MakesRoomAndTellsTheRunners)
{
    SmallDevice device;
    std::set<std::uint64_t> forgotten;
    BufferPool pool(device, [&](std::uint64_t serial) { forgotten.insert(serial); });
    const auto first = pool.take({{Purpose::Input, 6 * granule}}, 0);
    ASSERT_TRUE(first);
    pool.release();
    ASSERT_TRUE(pool.take({{Purpose::Input, 8 * granule}}, 0));
    EXPECT_TRUE(forgotten.contains((*first)[0].serial));
    EXPECT_EQ(device.used(), 8 * granule);
}

TEST(BufferPool, SaysWhatItNeedsBeforeItAllocates)
{
    SmallDevice device;
    BufferPool pool(device, [](std::uint64_t) {});
    const auto regions = pool.take({{Purpose::Input, 6 * granule}, {Purpose::Output, 6 * granule}}, 0);
    ASSERT_FALSE(regions);
    EXPECT_EQ(regions.error().code, ErrorCode::OutOfMemory);
    EXPECT_NE(regions.error().message.find("needs 48"), std::string::npos) << regions.error().message;
    EXPECT_EQ(device.used(), 0U);
    EXPECT_TRUE(pool.take({{Purpose::Input, granule}}, 0)); // nothing stays in use after a refusal
}

} // namespace
} // namespace espalier::judge
