// SPDX-License-Identifier: Apache-2.0
// The engine on its own thread, as the window and espalierctl use it.
#include "tests/engine/engine_harness.h"

#include <chrono>
#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

namespace espalier {
namespace {

/// What an observer saw, for another thread to wait on.
class Watch
{
public:
    Engine::Observer observer()
    {
        return [this](const event::Event& event) {
            const std::lock_guard lock(m_mutex);
            if (const auto* changes = std::get_if<event::Changes>(&event)) {
                m_status = changes->status;
            }
            if (const auto* answered = std::get_if<event::Answered>(&event)) {
                m_answers.push_back(*answered);
            }
            m_finished += std::holds_alternative<event::Finished>(event) ? 1 : 0;
            m_closed += std::holds_alternative<event::Closed>(event) ? 1 : 0;
            ++m_events;
            m_changed.notify_all();
        };
    }
    template <typename Condition>
    bool wait(Condition condition)
    {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, std::chrono::seconds(60), [&] { return condition(*this); });
    }

    RunStatus m_status;
    std::vector<event::Answered> m_answers;
    int m_finished = 0, m_closed = 0, m_events = 0;

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
};

EngineParts threadedParts(EngineHarness& world)
{
    EngineParts parts = world.parts();
    parts.seconds = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    return parts;
}

TEST(EngineThread, RunsToItsEndAndCloses)
{
    EngineHarness world;
    Watch watch;
    auto engine = Engine::open(world.options, watch.observer(), threadedParts(world));
    ASSERT_TRUE(engine) << engine.error().message;
    (*engine)->post(command::Run{});
    EXPECT_TRUE(watch.wait([](Watch& w) { return w.m_finished == 1; }));
    EXPECT_TRUE(watch.wait([](Watch& w) { return w.m_status.state == RunState::Finished; }));
    EXPECT_EQ(watch.m_status.evaluations, 17);
    engine->reset();
    EXPECT_EQ(watch.m_closed, 1);
    EXPECT_TRUE(world.open()) << "the session is free again";
}

TEST(EngineThread, CommandsFromAnotherThreadSteerIt)
{
    EngineHarness world;
    Watch watch;
    auto engine = Engine::open(world.options, watch.observer(), threadedParts(world));
    ASSERT_TRUE(engine);
    std::thread poster([&] {
        for (int i = 0; i < 40; ++i) {
            (*engine)->post(command::SetPinned{NodeId{1}, i % 2 == 0});
            if (i % 8 == 3) {
                (*engine)->post(command::Pause{});
            }
            (*engine)->post(command::Run{});
        }
    });
    poster.join();
    (*engine)->post(command::Run{});
    EXPECT_TRUE(watch.wait([](Watch& w) { return w.m_finished >= 1; }));
}

TEST(EngineThread, EveryTicketComesBackOnceInOrder)
{
    EngineHarness world;
    Watch watch;
    auto engine = Engine::open(world.options, watch.observer(), threadedParts(world));
    ASSERT_TRUE(engine);
    (*engine)->post(command::SetPinned{NodeId{1}, true}, 7);
    (*engine)->post(command::SetPinned{NodeId{99}, true}, 8);
    (*engine)->post(command::SetPinned{NodeId{1}, false}); // nobody asks
    (*engine)->post(command::Ban{"no fp16", "fp16_instructions <"}, 9);
    (*engine)->post(command::AddHint{"rows"}, 10);
    ASSERT_TRUE(watch.wait([](Watch& w) { return w.m_answers.size() == 4; }));
    const std::vector<std::pair<std::uint64_t, bool>> done = {{7, true}, {8, false}, {9, false}, {10, true}};
    for (std::size_t i = 0; i < done.size(); ++i) {
        EXPECT_EQ(watch.m_answers[i].ticket, done[i].first);
        EXPECT_EQ(!watch.m_answers[i].error, done[i].second) << done[i].first;
    }
}

TEST(EngineThread, DestroyingItWhileItRunsIsQuick)
{
    for (int round = 0; round < 5; ++round) {
        EngineHarness world;
        Watch watch;
        auto engine = Engine::open(world.options, watch.observer(), threadedParts(world));
        ASSERT_TRUE(engine);
        (*engine)->post(command::Run{});
        // A little further each round; on a busy machine one turn can hold the whole run, so its end counts as well.
        EXPECT_TRUE(watch.wait([round](Watch& w) { return w.m_events > 2 + round || w.m_finished > 0; }));
        const auto start = std::chrono::steady_clock::now();
        engine->reset();
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
        EXPECT_EQ(watch.m_closed, 1);
    }
}

} // namespace
} // namespace espalier
