// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/engine_harness.h"

#include "core/engine/session_reader.h"
#include "core/worker/evaluator_group.h"

#include "core/propose/proposers.h"
#include "tests/support/tree_text.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>
#include <unistd.h>

namespace espalier {

namespace {

/// In memory where there is such a place: these tests write thousands of small transactions.
ScratchFolder quickFolder()
{
    const char* before = std::getenv("TMPDIR");
    if (!before && ::access("/dev/shm", W_OK) == 0) {
        ::setenv("TMPDIR", "/dev/shm", 1);
    }
    auto folder = ScratchFolder::create("engine");
    if (!before) {
        ::unsetenv("TMPDIR");
    }
    return std::move(folder.value());
}

} // namespace

EngineHarness::EngineHarness()
    : makeProposers([](const ProposerChoice& choice) { return espalier::makeProposers(choice); }),
      m_folder(quickFolder())
{
    options.session = m_folder.path() / "s.espalier";
    options.task = "fake";
}

EngineParts EngineHarness::parts()
{
    EngineParts parts;
    parts.builders = builders;
    parts.author = author;
    parts.loadTask = [this](std::string_view name) -> Result<Task> {
        if (loadTask) {
            return loadTask(name);
        }
        if (name != task.id && name != task.folder) {
            return fail(ErrorCode::NotFound, "There is no task \"" + std::string(name) + "\".");
        }
        return task;
    };
    parts.makeBuildPool = [this] { return std::make_unique<FakeBuildPool>(ledger, shuffle); };
    parts.startJudge = [this](const std::string& device) -> Result<std::unique_ptr<Evaluator>> {
        devices.push_back(device);
        if (noJudge) {
            return std::unexpected(*noJudge);
        }
        std::vector<std::unique_ptr<Evaluator>> judges;
        for (const std::string& one : devicesNamed(device)) {
            JudgeHello own = hello;
            own.deviceId = one;
            if (one == "cuda:9") {
                own.deviceName = "Another GPU";
            }
            judges.push_back(std::make_unique<FakeEvaluator>(ledger, own, losses));
        }
        return judges.size() == 1 ? std::move(judges.front()) : EvaluatorGroup::of(std::move(judges));
    };
    parts.makeProposers = makeProposers;
    parts.keepLessons = keepLessons;
    parts.toolkit = [] { return std::string("13.0.88"); };
    parts.compiler = [] { return std::string("/usr/local/cuda/bin/nvcc"); };
    parts.listings = listings;
    parts.seconds = [this] { return now; };
    parts.afterWrite = [this] {
        ++writes;
        if (writesBeforeKill > 0 && --writesBeforeKill == 0) {
            throw Killed{};
        }
    };
    return parts;
}

Result<void> EngineHarness::open()
{
    drop();
    nodes.clear();
    ESPALIER_TRY(m_core, EngineCore::open(options, parts(), [this](const event::Event& event) { observe(event); }));
    m_core->begin();
    return {};
}

void EngineHarness::post(const command::Command& command)
{
    m_core->handle(command);
    if (!m_core->ended() && m_core->state() != RunState::Running && m_core->state() != RunState::Pausing) {
        now += 1; // what waits to be told
        m_core->turn(-1, 0);
    }
}

void EngineHarness::turn()
{
    now += secondsPerTurn;
    m_core->turn(-1, 0);
}

void EngineHarness::settle(int mostTurns)
{
    for (int i = 0; i < mostTurns; ++i) {
        const RunState state = m_core->state();
        if (m_core->ended() || (state != RunState::Running && state != RunState::Pausing)) {
            now += 1;
            m_core->turn(-1, 0);
            return;
        }
        turn();
    }
    FAIL() << "the run does not end:\n" << tree();
}

bool EngineHarness::runUnlessKilled()
{
    try {
        const auto opened = open();
        EXPECT_TRUE(opened) << opened.error().message;
        run();
        drop();
        return true;
    } catch (const Killed&) {
        drop();
        return false;
    }
}

void EngineHarness::observe(const event::Event& event)
{
    if (const auto* opened = std::get_if<event::SessionOpened>(&event)) {
        info = opened->info;
    } else if (const auto* changed = std::get_if<event::Changes>(&event)) {
        ++changes;
        for (const NodeSummary& node : changed->nodes) {
            nodes.insert_or_assign(node.id, node);
        }
        status = changed->status;
    } else if (const auto* line = std::get_if<event::Log>(&event)) {
        log.push_back(line->text);
    } else if (const auto* failed = std::get_if<event::CommandFailed>(&event)) {
        failures.push_back(*failed);
    } else if (const auto* ended = std::get_if<event::Finished>(&event)) {
        finished.push_back(ended->summary);
    } else if (const auto* fetched = std::get_if<event::Detail>(&event)) {
        detail = fetched->detail;
    } else if (const auto* code = std::get_if<event::Listings>(&event)) {
        codeListings.push_back(code->listings);
    } else if (const auto* files = std::get_if<event::Exported>(&event)) {
        exported = files->files;
    } else if (const auto* repro = std::get_if<event::ReproWritten>(&event)) {
        repros.push_back(*repro);
    } else if (const auto* planned = std::get_if<event::Plan>(&event)) {
        plan = *planned;
    } else if (const auto* told = std::get_if<event::Standing>(&event)) {
        standing.push_back(*told);
    }
}

std::string EngineHarness::tree() const
{
    return listOf(nodes);
}

NodeId EngineHarness::node(const std::string& title) const
{
    // Of an idea and its candidate with the same title, the candidate.
    std::optional<NodeId> found;
    for (const auto& [id, summary] : nodes) {
        if (summary.title == title) {
            found = id;
        }
    }
    if (!found) {
        throw std::invalid_argument("no node " + title + " in\n" + tree());
    }
    return *found;
}

NodeId EngineHarness::idea(const std::string& title) const
{
    for (const auto& [id, summary] : nodes) {
        if (summary.kind == NodeKind::Idea && summary.title == title) {
            return id;
        }
    }
    throw std::invalid_argument("no idea " + title + " in\n" + tree());
}

void EngineHarness::expectSpendingAsRead(NodeId branch) const
{
    const auto reader = SessionReader::open(options.session.string());
    ASSERT_TRUE(reader) << reader.error().message;
    const BranchSpending& read = reader->book().find(branch)->branchSpent;
    const BranchSpending& counted = nodes.at(branch).branchSpent;
    EXPECT_EQ(read.evaluations, counted.evaluations);
    EXPECT_EQ(read.tokens, counted.tokens);
    EXPECT_NEAR(read.usd, counted.usd, 1e-9);
    EXPECT_NEAR(read.seconds, counted.seconds, 1e-9);
}

std::vector<StoredNode> EngineHarness::storedNodes() const
{
    return Store::open(options.session, Store::Mode::ReadOnly).value()->nodes().value();
}

} // namespace espalier
