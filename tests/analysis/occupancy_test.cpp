// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/occupancy.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

struct OccupancyCase {
    LaunchShape launch;
    int major, minor;
    double percent;
    const char* limitedBy;
};

// As the CUDA occupancy calculator has them.
TEST(OccupancyOf, IsThatOfTheTightestLimit)
{
    const OccupancyCase cases[] = {
        {{256, 32, 0}, 9, 0, 100, "nothing"},
        {{256, 33, 0}, 9, 0, 75, "registers"},
        {{256, 64, 0}, 9, 0, 50, "registers"},
        {{1024, 64, 0}, 9, 0, 50, "registers"},
        {{256, 255, 0}, 9, 0, 12.5, "registers"},
        {{32, 16, 0}, 9, 0, 50, "blocks"},
        {{256, 16, 100 * 1024}, 9, 0, 25, "shared memory"},
        {{256, 16, 227 * 1024}, 9, 0, 12.5, "shared memory"},
        {{768, 16, 0}, 9, 0, 75, "block size"},
        {{1024, 16, 0}, 8, 6, 100 * 32.0 / 48, "block size"},
        {{256, 16, 48 * 1024}, 8, 0, 37.5, "shared memory"},
    };
    for (const OccupancyCase& one : cases) {
        const Occupancy got = occupancyOf(one.launch, one.major, one.minor);
        EXPECT_NEAR(got.percent, one.percent, 0.01)
            << one.launch.threads << " " << one.launch.registers << " " << one.launch.sharedBytes;
        EXPECT_EQ(got.limitedBy, one.limitedBy)
            << one.launch.threads << " " << one.launch.registers << " " << one.launch.sharedBytes;
    }
}

TEST(OccupancyOf, SaysNothingOfWhatItDoesNotKnow)
{
    EXPECT_EQ(occupancyOf({256, 32, 0}, 4, 2).percent, 0);
    EXPECT_EQ(occupancyOf({0, 32, 0}, 9, 0).percent, 0);
}

} // namespace
} // namespace espalier
