// SPDX-License-Identifier: Apache-2.0
// A full disk, as far as the session's files are concerned: no file of this process may grow over a limit.
#include "tests/engine/engine_harness.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace espalier {
namespace {

class FullDisk
{
public:
    FullDisk()
    {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &m_before);
    }
    ~FullDisk() { free(); }
    void fill(rlim_t bytes)
    {
        rlimit limit = m_before;
        limit.rlim_cur = bytes;
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    }
    void free() { ::setrlimit(RLIMIT_FSIZE, &m_before); }

private:
    rlimit m_before = {};
};

TEST(StoreTrouble, AFullDiskPausesTheRunAndNothingIsLost)
{
    EngineHarness whole;
    whole.options.budget = Budget{10, {}, {}};
    ASSERT_TRUE(whole.open());
    whole.run();
    for (const int turns : {2, 5, 9, 14, 20, 30}) {
        EngineHarness engine;
        FullDisk disk;
        engine.options.budget = Budget{10, {}, {}};
        ASSERT_TRUE(engine.open());
        engine.post(command::Run{});
        for (int i = 0; i < turns; ++i) {
            engine.turn();
        }
        disk.fill(1);
        engine.settle();
        EXPECT_EQ(engine.status.state, RunState::Paused) << turns;
        EXPECT_FALSE(engine.status.why.empty());
        EXPECT_NE(engine.status.why, "paused");
        engine.run(); // still full
        EXPECT_EQ(engine.status.state, RunState::Paused) << turns;
        engine.post(command::SetPinned{NodeId{1}, true});
        EXPECT_FALSE(engine.failures.empty()) << "an act that cannot be stored is refused";
        disk.free();
        engine.run();
        EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
        EXPECT_EQ(engine.tree(), whole.tree()) << turns;
        for (const auto& [source, count] : engine.ledger.timed) {
            EXPECT_EQ(count, 1) << source;
        }
    }
}

TEST(StoreTrouble, GivingUpOnAFullDiskKeepsWhatWasStored)
{
    EngineHarness whole;
    whole.options.budget = Budget{10, {}, {}};
    ASSERT_TRUE(whole.open());
    whole.run();
    EngineHarness engine;
    FullDisk disk;
    engine.options.budget = Budget{10, {}, {}};
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    for (int i = 0; i < 12; ++i) {
        engine.turn();
    }
    disk.fill(1);
    engine.settle();
    engine.post(command::Stop{});
    engine.drop();
    disk.free();
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.tree(), whole.tree());
}

} // namespace
} // namespace espalier
