// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/fatbin.h"

#include "core/base/file.h"
#include "core/simgpu/wire.h"

#include <gtest/gtest.h>
#include <random>

namespace espalier::sim {
namespace {

struct EntrySpec {
    std::uint16_t kind = 1;
    std::uint32_t architecture = 90;
    std::string payload;
    std::uint64_t flags = 0x100011;
    std::uint32_t compressedBytes = 0;
};

std::string fatbinOf(const std::vector<EntrySpec>& entries)
{
    ByteWriter body;
    std::string all;
    for (const EntrySpec& entry : entries) {
        ByteWriter header;
        header.put(entry.kind).put(std::uint16_t{0x101}).put(std::uint32_t{64});
        header.put(std::uint64_t{entry.payload.size()}).put(entry.compressedBytes).put(std::uint32_t{0});
        header.put(std::uint32_t{0x10008}).put(entry.architecture).put(std::uint64_t{64}).put(entry.flags);
        header.put(std::uint64_t{0}).put(std::uint64_t{0});
        all += header.bytes() + entry.payload;
    }
    ByteWriter container;
    container.put(std::uint32_t{0xBA55ED50})
        .put(std::uint16_t{1})
        .put(std::uint16_t{16})
        .put(std::uint64_t{all.size()});
    return container.bytes() + all;
}

TEST(Fatbin, FindsThePtxAndDropsItsPadding)
{
    const std::string bytes = fatbinOf({{2, 90,
                                         "\x7f"
                                         "ELF"},
                                        {1, 90, std::string(".version 9.0\0\0\0", 15)}});
    const auto ptx = ptxOfFatbin(bytes, 90);
    ASSERT_TRUE(ptx) << ptx.error().message;
    EXPECT_EQ(*ptx, ".version 9.0");
}

TEST(Fatbin, TakesTheHighestArchitectureThatFits)
{
    const std::string bytes = fatbinOf({{1, 80, "eighty"}, {1, 90, "ninety"}, {1, 100, "hundred"}});
    EXPECT_EQ(ptxOfFatbin(bytes, 90).value(), "ninety");
    EXPECT_EQ(ptxOfFatbin(bytes, 86).value(), "eighty");
    EXPECT_EQ(ptxOfFatbin(bytes, 75).error().code, ErrorCode::NotSupported);
}

TEST(Fatbin, SaysWhatToDoAboutCompressedPtx)
{
    for (const EntrySpec& entry : {EntrySpec{1, 90, "x", 0x108011, 0}, EntrySpec{1, 90, "x", 0x100011, 17}}) {
        const auto ptx = ptxOfFatbin(fatbinOf({entry}), 90);
        ASSERT_FALSE(ptx);
        EXPECT_EQ(ptx.error().code, ErrorCode::NotSupported);
        EXPECT_NE(ptx.error().message.find("--no-compress"), std::string::npos) << ptx.error().message;
    }
}

TEST(Fatbin, RefusesWhatIsCutOrNoContainer)
{
    const std::string bytes = fatbinOf({{1, 90, ".version 9.0"}});
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(ptxOfFatbin(std::string_view(bytes).substr(0, size), 90)) << size;
    }
    EXPECT_FALSE(ptxOfFatbin(std::string(1000, 'x'), 90));
}

TEST(Fatbin, NeverReadsOutsideWhateverTheSizesSay)
{
    const std::string good = fatbinOf({{2, 90, "elf"}, {1, 90, ".version 9.0"}, {1, 80, "older"}});
    std::mt19937_64 random(7);
    for (int round = 0; round < 20000; ++round) {
        std::string bytes = good;
        for (int change = 0; change < 4; ++change) {
            bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        bytes.resize(random() % 8 == 0 ? random() % bytes.size() : bytes.size());
        const auto ptx = ptxOfFatbin(bytes, 90);
        if (ptx && !ptx->empty()) {
            EXPECT_GE(ptx->data(), bytes.data());
            EXPECT_LE(ptx->data() + ptx->size(), bytes.data() + bytes.size());
        }
    }
}

TEST(Fatbin, ReadsWhatNvccWrites)
{
    const auto library = readFile(CANDIDATES_PATH);
    ASSERT_TRUE(library) << library.error().message;
    const std::string magic("\x50\xED\x55\xBA", 4);
    const auto at = library->find(magic);
    ASSERT_NE(at, std::string::npos);
    const auto ptx = ptxOfFatbin(std::string_view(*library).substr(at), 90);
    ASSERT_TRUE(ptx) << ptx.error().message;
    EXPECT_NE(ptx->find(".target sm_90a"), std::string_view::npos);
}

} // namespace
} // namespace espalier::sim
