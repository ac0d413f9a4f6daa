// SPDX-License-Identifier: Apache-2.0
// How much of its time a device has nothing to judge, and that a run which could keep it busy does.
#include "core/engine/device_use.h"
#include "tests/engine/engine_harness.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

constexpr double mostIdle = 0.15; ///< of a saturated run

TEST(DeviceUse, IsOpenFromTheFirstHandOverToTheRunsEnd)
{
    double now = 100;
    DeviceUse use([&now] { return now; }, "");
    EXPECT_FALSE(use.idleShare());
    use.observe(true, 0); // the root is being built: nothing was asked of the device yet
    now += 50;
    use.observe(true, 1);
    now += 6;
    use.observe(true, 0);
    now += 2;
    use.observe(true, 1);
    now += 2;
    use.observe(false, 0);
    now += 1000;
    use.observe(false, 0);
    EXPECT_DOUBLE_EQ(use.busy(), 8);
    EXPECT_DOUBLE_EQ(use.open(), 10);
    EXPECT_DOUBLE_EQ(use.idleShare().value(), 0.2);
    DeviceUse later([&now] { return now; }, use.text());
    EXPECT_DOUBLE_EQ(later.idleShare().value(), 0.2);
    EXPECT_FALSE(DeviceUse([] { return 0.0; }, "5 3").idleShare());
    EXPECT_FALSE(DeviceUse([] { return 0.0; }, "words").idleShare());
}

TEST(DeviceUse, OfSeveralDevicesIsTheirMean)
{
    double now = 0;
    DeviceUse use([&now] { return now; }, "");
    use.observe(true, 1, 2);
    now += 10;
    use.observe(true, 2, 2);
    now += 10;
    use.observe(false, 0, 2);
    EXPECT_DOUBLE_EQ(use.idleShare().value(), 0.25);
}

class Saturated : public ::testing::Test
{
protected:
    void playbook(int count, bool chain)
    {
        engine.task.playbook.clear();
        for (int i = 0; i < count; ++i) {
            const std::string id = "k" + std::to_string(i);
            const std::string parent = chain && i > 0 ? "k" + std::to_string(i - 1) : "";
            engine.task.playbook.push_back(
                {id, parent, id, "do " + id, {id + ".cu", id + " time=" + std::to_string(90 - i) + " \n"}});
        }
    }
    double idle(int buildTurns)
    {
        engine.ledger.buildTurns = buildTurns;
        EXPECT_TRUE(engine.open());
        engine.run();
        EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
        EXPECT_EQ(engine.finished.at(0).idleShare, engine.status.idleShare);
        return engine.status.idleShare.value();
    }

    EngineHarness engine; // four builders; the judge takes four turns for a candidate
};

TEST_F(Saturated, BuildsSideBySideKeepTheDeviceBusy)
{
    // Not beam: its rounds wait for their outcomes.
    for (const char* strategy : {"refine", "sample", "ucb"}) {
        engine.options.session.replace_filename(std::string(strategy) + ".espalier");
        engine.options.strategy = strategy;
        engine.finished.clear();
        engine.ledger = FakeLedger();
        playbook(40, false);
        EXPECT_LE(idle(12), mostIdle) << strategy; // four builds in twelve turns: one every three
        EXPECT_EQ(engine.status.evaluations, 40);
    }
}

TEST_F(Saturated, WhatComesNextInAChainIsBuiltAhead)
{
    playbook(25, true);
    EXPECT_LE(idle(4), mostIdle); // each is built while its parent is judged
    EXPECT_EQ(engine.status.evaluations, 25);
}

TEST_F(Saturated, ADeviceThatWaitsForCompilersIsSaidToBeIdle)
{
    playbook(20, false);
    EXPECT_GT(idle(60), 0.5);
}

TEST_F(Saturated, ASessionKeepsWhatItsDeviceDid)
{
    playbook(10, false);
    const double before = idle(20);
    engine.drop();
    engine.status = {};
    ASSERT_TRUE(engine.open());
    EXPECT_NEAR(engine.status.idleShare.value(), before, 0.01);
}

} // namespace
} // namespace espalier
