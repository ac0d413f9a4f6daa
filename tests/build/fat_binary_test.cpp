// SPDX-License-Identifier: Apache-2.0
#include "core/build/fat_binary.h"

#include "tests/support/fat_binary.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(FatBinary, FindsTextAndMachineCodeOfTheHighestArchitecture)
{
    const std::string library = fatLibrary({{1, 80, "old"}, {2, 80, "c80"}, {1, 90, ".version 9.0"}, {2, 90, "c90"}});
    const auto ptx = ptxOfLibrary(library);
    ASSERT_TRUE(ptx) << ptx.error().message;
    EXPECT_EQ(*ptx, ".version 9.0"); // the padding is gone
    const auto cubin = cubinOfLibrary(library);
    ASSERT_TRUE(cubin);
    EXPECT_TRUE(cubin->starts_with("c90"));
    EXPECT_EQ(readFatBinaries(library)->size(), 4u);
}

TEST(FatBinary, SaysWhatIsNotThere)
{
    EXPECT_EQ(ptxOfLibrary("").error().code, ErrorCode::NotFound);
    EXPECT_EQ(cubinOfLibrary(fatLibrary({{1, 90, "text"}})).error().code, ErrorCode::NotFound);
    EXPECT_EQ(ptxOfLibrary(fatLibrary({{1, 90, "text", 0x8000}})).error().code, ErrorCode::NotSupported);
}

TEST(FatBinary, TrustsNoSize)
{
    const std::string library = fatLibrary({{1, 90, "text"}, {2, 90, "code"}});
    EXPECT_TRUE(readFatBinaries(library));
    for (std::size_t cut = 70; cut < library.size() - 24; cut += 3) {
        EXPECT_FALSE(readFatBinaries(std::string_view(library).substr(0, cut))) << cut;
    }
    for (const std::size_t at : {64 + 6, 64 + 8, 80 + 4, 80 + 8}) { // header and body sizes of container and entry
        std::string broken = library;
        broken[at + 1] = '\x7f';
        EXPECT_FALSE(readFatBinaries(broken)) << at;
    }
}

} // namespace
} // namespace espalier
