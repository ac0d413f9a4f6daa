// SPDX-License-Identifier: GPL-3.0-only
#include "tests/views/view_fixture.h"

#include <thread>

using namespace espalier;

namespace {

class Bridge : public ViewFixture
{
};

/// An engine's thread without the engine: sends what it is told, from a thread of its own.
class ThreadedLink : public EngineLink
{
public:
    void open(EngineOptions, Engine::Observer observer) override
    {
        m_thread = std::jthread([observer = std::move(observer)](const std::stop_token& stop) {
            observer(event::SessionOpened{});
            for (std::uint64_t i = 1; i <= 20000 && !stop.stop_requested(); ++i) {
                NodeSummary node;
                node.id = NodeId{std::int64_t(1 + i % 50)};
                node.title = std::to_string(i);
                observer(event::Changes{i, {node}, {}});
            }
        });
    }
    void takeOver() override {}
    void post(command::Command, std::uint64_t) override {}
    void close(std::function<void()>) override { m_thread.request_stop(); }

private:
    std::jthread m_thread;
};

} // namespace

TEST_F(Bridge, EventsOfOneTurnBecomeOneChange)
{
    open();
    int calls = 0;
    std::vector<NodeSummary> last;
    QObject::connect(&bench.bridge(), &EngineBridge::changed, &bench,
                     [&](const std::vector<NodeSummary>& nodes, const RunStatus&) {
                         ++calls;
                         last = nodes;
                     });
    NodeSummary node;
    node.id = NodeId{1};
    for (int i = 0; i < 100; ++i) {
        node.title = std::to_string(i);
        link->add(node);
    }
    settle();
    EXPECT_EQ(calls, 1);
    ASSERT_EQ(last.size(), 1u);
    EXPECT_EQ(last[0].title, "99");
}

TEST_F(Bridge, AThousandThreadedEventsArriveInOrderAndLateOnesAreDropped)
{
    Workbench threaded(std::make_unique<ThreadedLink>(), themes);
    threaded.bridge().open({});
    ASSERT_TRUE(waitFor([&] { return threaded.nodes().count() == 50; }));
    threaded.bridge().close();
    EXPECT_EQ(threaded.nodes().count(), 0);
    settle();
    EXPECT_EQ(threaded.nodes().count(), 0);
}

TEST_F(Bridge, ARefusedSessionGivesItsSentence)
{
    link->refusal = Error{ErrorCode::VersionTooNew, "x.espalier was written by a newer Espalier: update this one."};
    QString sentence;
    QObject::connect(&bench.bridge(), &EngineBridge::openFailed, &bench,
                     [&](const Error& error) { sentence = QString::fromStdString(error.message); });
    open();
    EXPECT_EQ(sentence.toStdString(), link->refusal->message);
    EXPECT_FALSE(bench.session());
    EXPECT_FALSE(bench.bridge().isOpen());
}

TEST_F(Bridge, DetailsAreAskedForOnceAndAgainAfterAChange)
{
    NodeSummary node;
    node.id = NodeId{1};
    link->add(node);
    open();
    bench.detail(NodeId{1});
    bench.detail(NodeId{1});
    settle();
    EXPECT_NE(bench.detail(NodeId{1}), nullptr);
    EXPECT_EQ(link->sent<command::FetchDetail>().size(), 1u);
    link->change(NodeId{1}, [](NodeSummary& changed) { changed.pinned = true; });
    settle();
    EXPECT_EQ(bench.detail(NodeId{1}), nullptr);
    settle();
    ASSERT_NE(bench.detail(NodeId{1}), nullptr);
    EXPECT_TRUE(bench.detail(NodeId{1})->summary.pinned);
}

TEST_F(Bridge, StopKeepsTheSessionAndTheSelection)
{
    scriptSoftmax(*link, Provenance::Model);
    open();
    const auto selected = bench.selected();
    ASSERT_TRUE(selected);
    const int count = bench.nodes().count();
    bench.stopSearch();
    settle();
    settle();
    EXPECT_EQ(link->opened.size(), 2u);
    EXPECT_EQ(link->opened[1], link->info.file);
    EXPECT_EQ(bench.nodes().count(), count);
    EXPECT_EQ(bench.selected(), selected);
    EXPECT_EQ(bench.nodes().status().state, RunState::Idle);
}
