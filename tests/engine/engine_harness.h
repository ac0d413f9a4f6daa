// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/file.h"
#include "core/engine/engine_core.h"
#include "tests/support/fakes.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// Thrown out of a write to the session: the end of the process, as far as the session can tell.
struct Killed {
};

/// One session on fakes: opened, run and dropped as often as a test likes; the ledger and the file stay.
class EngineHarness
{
public:
    EngineHarness();

    EngineParts parts();
    Result<void> open();
    void drop() { m_core.reset(); }
    void post(const command::Command& command);
    void turn();
    /// Turns until the run is over, paused or failed.
    void settle(int mostTurns = 20000);
    void run(std::optional<Budget> budget = std::nullopt)
    {
        post(command::Run{std::move(budget)});
        settle();
    }
    /// Opens and runs to the end; a kill drops the engine and returns false.
    bool runUnlessKilled();

    std::string tree() const; ///< what observers were told, as text
    NodeId node(const std::string& title) const;
    NodeId idea(const std::string& title) const;
    const NodeSummary& summary(const std::string& title) const { return nodes.at(node(title)); }
    std::vector<StoredNode> storedNodes() const; ///< read from the closed session
    /// What a reader of the session sees of a branch's spending is what the search counts.
    void expectSpendingAsRead(NodeId branch) const;

    // The world around the engine.
    Task task = fakeTask();
    EngineOptions options;
    FakeLedger ledger;
    std::shared_ptr<int> losses = std::make_shared<int>(0);
    std::optional<unsigned> shuffle;
    int builders = 4;
    std::string author = "engineer";
    JudgeHello hello = fakeHello();
    std::optional<Error> noJudge;
    ListingSource listings;
    std::vector<std::string> devices; ///< asked of startJudge
    double now = 1000;                ///< seconds; moved by hand and by every turn
    double secondsPerTurn = 0.01;
    std::function<Result<int>(const std::vector<std::string>&, const std::string&, const std::string&)> keepLessons;
    int writesBeforeKill = -1; ///< -1: never
    int writes = 0;
    std::function<Result<std::vector<std::unique_ptr<Proposer>>>(const ProposerChoice&)> makeProposers;
    std::function<Result<Task>(std::string_view)> loadTask; ///< empty: `task` by its name or folder

    // What observers were told.
    std::map<NodeId, NodeSummary> nodes;
    RunStatus status;
    SessionInfo info;
    std::vector<std::string> log;
    std::vector<event::CommandFailed> failures;
    std::vector<RunSummary> finished;
    std::shared_ptr<const NodeDetail> detail;
    std::vector<std::string> exported;
    std::vector<event::ReproWritten> repros;
    std::vector<event::Standing> standing;
    std::vector<std::shared_ptr<const CodeListings>> codeListings;
    std::optional<event::Plan> plan;
    int changes = 0;

private:
    void observe(const event::Event& event);

    ScratchFolder m_folder;
    std::unique_ptr<EngineCore> m_core;
};

} // namespace espalier
