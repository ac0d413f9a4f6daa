// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/counters.h"
#include "core/device/sim/sim_memory.h"

#include <gtest/gtest.h>

namespace espalier::sim {
namespace {

TEST(AddressSpace, FindsToTheByte)
{
    std::byte bytes[64]{};
    AddressSpace space;
    space.add({1000, 10, bytes, Access::ReadOnly, "b"});
    space.add({100, 20, bytes, Access::ReadWrite, "a"});
    space.add({120, 5, bytes, Access::ReadWrite, "right behind"});
    ASSERT_EQ(space.ranges().size(), 3u);
    EXPECT_EQ(space.find(100, 20)->name, "a");
    EXPECT_EQ(space.find(119, 1)->name, "a");
    EXPECT_EQ(space.find(119, 2), nullptr);
    EXPECT_EQ(space.find(120, 1)->name, "right behind");
    EXPECT_EQ(space.find(99, 1), nullptr);
    EXPECT_EQ(space.find(1009, 1)->name, "b");
    EXPECT_EQ(space.find(1010, 1), nullptr);
    EXPECT_EQ(space.find(1005, ~std::uint64_t{0}), nullptr);
    EXPECT_EQ(space.nearest(1012)->name, "b");
    EXPECT_EQ(space.nearest(126)->name, "right behind");
    EXPECT_EQ(space.nearest(0)->name, "a");
    space.remove(120);
    EXPECT_EQ(space.find(120, 1), nullptr);
    EXPECT_EQ(AddressSpace().nearest(5), nullptr);
}

TEST(Counters, AddFieldByField)
{
    Counters a, b;
    a.launches = 1;
    b.launches = 2;
    b.divergentBranches = 7;
    a += b;
    EXPECT_EQ(a.launches, 3u);
    EXPECT_EQ(a.divergentBranches, 7u);
    EXPECT_EQ(a.blocks, 0u);
}

} // namespace
} // namespace espalier::sim
