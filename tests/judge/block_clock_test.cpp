// SPDX-License-Identifier: Apache-2.0
#include "core/judge/block_clock.h"

#include <gtest/gtest.h>

namespace espalier::judge {
namespace {

/// A block of eight calls whose events claim `event` each and whose judge saw `residual` more.
ClockedBlock blockOf(double event, double residual)
{
    ClockedBlock block;
    block.events.assign(8, event);
    block.median = event;
    block.claimed = 8 * (event - 1.3);
    block.residual = residual;
    block.agrees = residual >= -150 && residual <= 400 + 0.01 * block.claimed;
    return block;
}

TEST(BlockLedger, HonestBlocksCountAndSayNothing)
{
    BlockLedger ledger;
    for (int i = 0; i < 40; ++i) {
        ledger.add(blockOf(500, 40 + i % 30));
    }
    EXPECT_EQ(ledger.dropped(), 0);
    EXPECT_EQ(ledger.samples().size(), 320U);
    EXPECT_FALSE(ledger.unusable());
    EXPECT_FALSE(ledger.complaint({}));
    EXPECT_FALSE(ledger.complaint(30));
}

TEST(BlockLedger, DisturbedBlocksAreDroppedAndCounted)
{
    BlockLedger ledger;
    for (int i = 0; i < 40; ++i) {
        ledger.add(blockOf(500, i % 10 == 0 ? 900 : 50));
    }
    EXPECT_EQ(ledger.dropped(), 4);
    EXPECT_EQ(ledger.kept(), 36);
    EXPECT_EQ(ledger.droppedBecause(), (std::map<std::string, int>{{"clocks disagree", 4}}));
    EXPECT_FALSE(ledger.complaint({}));
}

TEST(BlockLedger, EventsThatClaimTooLittleAreNamed)
{
    BlockLedger small; // 2 % of the block hidden: within a block's noise, not within the median's
    BlockLedger few;
    for (int i = 0; i < 40; ++i) {
        small.add(blockOf(1000, 220));
        if (i < 5) {
            few.add(blockOf(1000, 320));
        }
    }
    EXPECT_TRUE(small.complaint(60));   // an honest rival had 60 us on the same buffers
    EXPECT_FALSE(small.complaint(200)); // the machine explains it
    EXPECT_TRUE(few.complaint(60));
    EXPECT_FALSE(few.complaint({}));
    BlockLedger blatant; // work on another stream: events read next to nothing
    for (int i = 0; i < 6; ++i) {
        blatant.add(blockOf(2, 5000));
    }
    EXPECT_TRUE(blatant.unusable());
    EXPECT_TRUE(blatant.complaint({}));
}

/// What the machine did is no evidence against the candidate, however often it happened.
TEST(BlockLedger, OtherDisturbancesAreCountedApartAndAccuseNobody)
{
    BlockLedger ledger;
    for (int i = 0; i < 12; ++i) {
        const bool throttled = i % 2 == 0;
        EXPECT_EQ(ledger.add(blockOf(1000, throttled ? 5000 : 60), throttled ? "throttled" : ""), !throttled);
    }
    EXPECT_EQ(ledger.droppedBecause(), (std::map<std::string, int>{{"throttled", 6}}));
    EXPECT_TRUE(ledger.unusable());
    EXPECT_FALSE(ledger.complaint({}));
    EXPECT_EQ(ledger.medianResidual(), 60);
}

TEST(BlockLedger, ADisturbedMachineIsNoLie)
{
    BlockLedger ledger;
    for (int i = 0; i < 10; ++i) {
        ledger.add(blockOf(1000, i % 2 == 0 ? 900 : 60));
    }
    EXPECT_TRUE(ledger.unusable());
    EXPECT_FALSE(ledger.complaint({}));
}

} // namespace
} // namespace espalier::judge
