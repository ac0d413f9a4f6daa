// SPDX-License-Identifier: Apache-2.0
// A session that is only looked at: the same events as a search, and nothing is written.
#include "core/engine/session_view.h"
#include "tests/engine/engine_harness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace espalier {
namespace {

class Viewer
{
public:
    explicit Viewer(const EngineHarness& world)
        : view(SessionView::open(
              world.options.session, "it is open in process 17.", {},
              [this](const event::Event& one) { std::visit([this](const auto& event) { take(event); }, one); }))
    {
    }

    void take(const event::SessionOpened& event) { opened.push_back(event); }
    void take(const event::Changes& event)
    {
        lastChange.clear();
        for (const NodeSummary& node : event.nodes) {
            nodes[node.id] = node;
            lastChange.push_back(node.id.value);
        }
        status = event.status;
        ++changes;
    }
    void take(const event::Standing& event) { standing = event; }
    void take(const event::Plan& event) { plan = event; }
    void take(const event::Detail& event) { detail = event.detail; }
    void take(const event::Exchanges& event) { asked = event.node; }
    void take(const event::Listings& event) { listings = event.listings; }
    void take(const event::CommandFailed& event) { failures.push_back(event.error.message); }
    void take(const event::Answered& event) { answers.push_back(event); }
    template <typename Other>
    void take(const Other&)
    {
        ADD_FAILURE() << "nothing else is told of a session that is looked at";
    }

    std::vector<event::SessionOpened> opened;
    std::map<NodeId, NodeSummary> nodes;
    std::vector<std::int64_t> lastChange;
    RunStatus status;
    int changes = 0;
    event::Standing standing;
    event::Plan plan;
    std::shared_ptr<const NodeDetail> detail;
    std::shared_ptr<const CodeListings> listings;
    std::optional<NodeId> asked;
    std::vector<std::string> failures;
    std::vector<event::Answered> answers;
    Result<std::unique_ptr<SessionView>> view;
};

TEST(SessionView, ShowsWhatTheSearchShows)
{
    EngineHarness world;
    ASSERT_TRUE(world.open());
    world.run();
    world.post(command::AddHint{"think of rows"});
    world.post(command::Ban{"no tricks", ""});
    Viewer viewer(world); // beside the process that holds it
    ASSERT_TRUE(viewer.view) << viewer.view.error().message;
    ASSERT_EQ(viewer.opened.size(), 1u);
    EXPECT_EQ(viewer.opened[0].viewedBecause, "it is open in process 17.");
    EXPECT_EQ(viewer.opened[0].info.taskId, world.info.taskId);
    ASSERT_EQ(viewer.nodes.size(), world.nodes.size());
    for (const auto& [id, node] : world.nodes) {
        EXPECT_EQ(viewer.nodes.at(id).outcome, node.outcome) << id.value;
        EXPECT_EQ(viewer.nodes.at(id).speedupRoot, node.speedupRoot) << id.value;
        EXPECT_EQ(viewer.nodes.at(id).title, node.title);
    }
    EXPECT_EQ(viewer.status.best, world.status.best);
    EXPECT_EQ(viewer.status.evaluations, world.status.evaluations);
    EXPECT_EQ(viewer.status.passed, world.status.passed);
    EXPECT_EQ(viewer.standing.hints, std::vector<std::string>{"think of rows"});
    ASSERT_EQ(viewer.standing.bans.size(), 1u);
    EXPECT_EQ(viewer.plan.strategy, world.info.strategy);

    const NodeId best = *viewer.status.best;
    (*viewer.view)->handle(command::FetchDetail{best});
    ASSERT_TRUE(viewer.detail);
    EXPECT_EQ(viewer.detail->summary.id, best);
    EXPECT_FALSE(viewer.detail->source.empty());
    (*viewer.view)->handle(command::FetchExchanges{best});
    EXPECT_EQ(viewer.asked, best);
}

TEST(SessionView, RefusesWhatWouldChangeTheSessionAndSaysWhy)
{
    EngineHarness world;
    ASSERT_TRUE(world.open());
    world.run();
    world.drop();
    Viewer viewer(world);
    ASSERT_TRUE(viewer.view);
    const std::vector<command::Command> acts = {command::Run{},
                                                command::Step{},
                                                command::SetPinned{NodeId{2}, true},
                                                command::Inject{NodeId{1}, "mine", "// source"},
                                                command::Ban{"no", ""},
                                                command::Export{NodeId{2}, "cuda", "/tmp"}};
    std::uint64_t ticket = 0;
    for (const command::Command& act : acts) {
        (*viewer.view)->handle(act, ++ticket);
    }
    ASSERT_EQ(viewer.failures.size(), acts.size());
    ASSERT_EQ(viewer.answers.size(), acts.size());
    for (std::size_t i = 0; i < acts.size(); ++i) {
        EXPECT_EQ(viewer.failures[i], "The session can only be looked at: it is open in process 17.");
        EXPECT_EQ(viewer.answers[i].ticket, i + 1);
        EXPECT_TRUE(viewer.answers[i].error);
    }
    ASSERT_TRUE(world.open()) << "whoever looks holds nothing";
    EXPECT_FALSE(world.nodes.at(NodeId{2}).pinned);
}

TEST(SessionView, FollowsWhatAnotherProcessWrites)
{
    EngineHarness world;
    ASSERT_TRUE(world.open());
    world.post(command::Step{});
    world.settle();
    Viewer viewer(world);
    ASSERT_TRUE(viewer.view);
    const int before = viewer.changes;
    (*viewer.view)->refresh();
    EXPECT_EQ(viewer.changes, before) << "nothing was written";
    world.post(command::SetPinned{NodeId{2}, true});
    (*viewer.view)->refresh();
    EXPECT_EQ(viewer.changes, before + 1);
    EXPECT_EQ(viewer.lastChange, std::vector<std::int64_t>{2}) << "only what has changed is told";
    EXPECT_TRUE(viewer.nodes.at(NodeId{2}).pinned);
    world.run();
    (*viewer.view)->refresh();
    EXPECT_EQ(viewer.status.evaluations, world.status.evaluations);
    EXPECT_EQ(viewer.nodes.size(), world.nodes.size());
}

TEST(SessionView, WhatIsNoSessionIsNotLookedAt)
{
    EngineHarness world;
    Viewer absent(world);
    ASSERT_FALSE(absent.view);
    EXPECT_TRUE(absent.opened.empty());
    ASSERT_TRUE(writeFileAtomically(world.options.session, std::string(4096, 'x')));
    Viewer other(world);
    ASSERT_FALSE(other.view);
    EXPECT_NE(other.view.error().message.find("not an Espalier session"), std::string::npos)
        << other.view.error().message;
}

} // namespace
} // namespace espalier
