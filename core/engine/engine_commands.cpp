// SPDX-License-Identifier: Apache-2.0
// The engine's commands: each is done or refused before the next one is looked at, and before the next expansion.
#include "core/engine/command_json.h"
#include "core/engine/engine_core.h"
#include "core/engine/participants.h"

#include <utility>

namespace espalier {

struct EngineCore::Handler {
    EngineCore& core;

    void answer(const char* what, const Result<void>& result) const
    {
        if (!result) {
            core.refuse(what, result.error());
        }
    }
    void answer(const char* what, const Result<NodeId>& result) const
    {
        if (!result) {
            core.refuse(what, result.error());
        }
    }

    void operator()(const command::Run& c) const { core.run(c); }
    void operator()(const command::Pause&) const
    {
        if (core.m_state == RunState::Running) {
            core.noteControl("pause");
        }
        core.m_byEngineer = true;
        core.pause("");
    }
    void operator()(const command::Step&) const
    {
        core.noteControl("step");
        core.resumeRun(StepLimit::step(core.m_book.counts().evaluations, core.m_pipeline->hasCandidates()));
    }
    void operator()(const command::Stop&) const
    {
        if (core.m_state == RunState::Running ||
            core.m_state == RunState::Pausing) { // else a session is closed, no more
            core.noteControl("stop");
        }
        core.stop();
    }
    void operator()(const command::SetPinned& c) const { answer("pin", core.m_planner->setPinned(c.node, c.pinned)); }
    void operator()(const command::SetPruned& c) const { answer("prune", core.m_planner->setPruned(c.node, c.pruned)); }
    void operator()(const command::SetBoost& c) const { answer("boost", core.m_planner->setBoost(c.node, c.boost)); }
    void operator()(const command::EditIdea& c) const
    {
        answer("edit", core.m_planner->editIdea(c.node, c.title, c.text));
    }
    void operator()(const command::AddIdea& c) const
    {
        answer("add-idea", core.m_planner->addIdea(c.parent, c.title, c.text));
    }
    void operator()(const command::Inject& c) const
    {
        answer("inject", core.m_planner->inject(c.parent, c.title, c.source));
    }
    void operator()(const command::Overturn& c) const
    {
        answer("overturn", core.m_planner->overturn(c.node, c.passed ? Outcome::Passed : Outcome::Incorrect, c.reason));
    }
    void operator()(const command::Ask& c) const { answer("ask", core.m_planner->ask(c.node, c.prompt, c.ideas)); }
    void operator()(const command::JudgeAgain& c) const { answer("judge-again", core.judgeAgain(c)); }
    void operator()(const command::AddHint& c) const { answer("hint", core.m_planner->addHint(c.text)); }
    void operator()(const command::RemoveHint& c) const { answer("unhint", core.m_planner->removeHint(c.number)); }
    void operator()(const command::Attach& c) const { answer("attach", core.m_planner->attach({c.name, c.text})); }
    void operator()(const command::Ban& c) const { answer("ban", core.m_planner->ban(c.text, c.predicate)); }
    void operator()(const command::LiftBan& c) const { answer("lift-ban", core.m_planner->liftBan(c.number)); }
    void operator()(const command::SetBranchBudget& c) const
    {
        answer("budget", core.m_planner->setBranchBudget(c.node, c.budget));
    }
    void operator()(const command::ChangeBranchBudget& c) const
    {
        answer("budget", core.m_planner->changeBranchBudget(c.node, c.set, c.lift));
    }
    void operator()(const command::SetBudget& c) const { answer("budget", core.setBudget(c.budget)); }
    void operator()(const command::ChangeBudget& c) const { answer("budget", core.changeBudget(c)); }
    void operator()(const command::SetStrategy& c) const { answer("strategy", core.setStrategy(c.words)); }
    void operator()(const command::ChangeProposers& c) const { answer("proposers", core.changeProposers(c)); }
    void operator()(const command::CrossOver& c) const
    {
        answer("cross", core.m_planner->crossOver(c.first, c.second));
    }
    void operator()(const command::Kill& c) const { answer("kill", core.kill(c.node)); }
    void operator()(const command::Undo&) const { answer("undo", core.undo()); }
    void operator()(const command::FetchExchanges& c) const { core.tellExchanges(c.node); }
    void operator()(const command::FetchDetail& c) const
    {
        auto detail = core.detail(c.node);
        if (!detail) {
            return core.refuse("detail", detail.error());
        }
        core.tell(event::Detail{std::make_shared<const NodeDetail>(std::move(*detail))});
    }
    void operator()(const command::FetchListings& c) const { answer("listings", core.askListings(c.node)); }
    void operator()(const command::Export& c) const
    {
        auto files = core.exportNode(c);
        if (!files) {
            return core.refuse("export", files.error());
        }
        core.tell(event::Exported{c.node, std::move(*files)});
    }
    void operator()(const command::Repro& c) const
    {
        auto file = core.writeRepro(c);
        if (!file) {
            return core.refuse("repro", file.error());
        }
        core.tell(event::ReproWritten{c.node, std::move(*file),
                                      core.m_parts.compiler ? core.m_parts.compiler() : std::string()});
    }
};

void EngineCore::handle(const command::Command& command)
{
    if (m_ended) {
        return;
    }
    if (!m_planner && !std::holds_alternative<command::Stop>(command)) {
        return refuse("command", {ErrorCode::Io, m_why});
    }
    std::visit(Handler{*this}, command);
    if (!m_ended) {
        tellStanding();
        settle();
        reportChanges(false);
    }
}

/// The same, and whether it could be done.
Result<void> EngineCore::perform(const command::Command& command)
{
    m_refusal.reset();
    handle(command);
    const auto refusal = std::exchange(m_refusal, std::nullopt);
    return refusal ? Result<void>(std::unexpected(*refusal)) : Result<void>();
}

// --- from other processes ----------------------------------------------------------------------------------------

void EngineCore::listen()
{
    if (!m_parts.listen) {
        return;
    }
    auto socket = m_parts.listen(m_journal.info().file);
    if (!socket) {
        return log(socket.error().message);
    }
    m_socket = std::move(*socket);
}

void EngineCore::serveCommands()
{
    for (const CommandSocket::Asked& asked : m_socket ? m_socket->receive() : std::vector<CommandSocket::Asked>()) {
        if (!asked.command) {
            m_socket->answer(asked.peer, std::unexpected(asked.command.error()));
        } else if (!command::steers(*asked.command)) {
            m_socket->answer(asked.peer, fail(ErrorCode::NotSupported,
                                              "This is answered in the session's own window or process only."));
        } else {
            m_socket->answer(asked.peer, perform(*asked.command));
        }
    }
}

// --- what concerns the whole session -----------------------------------------------------------------------------

Result<void> EngineCore::setBudget(const Budget& budget)
{
    ESPALIER_CHECK(checkBudget(budget));
    const Json before = command::budgetJson(m_journal.info().budget);
    Json set = Json::object(), lift = Json::array(); // what it changes, for people
    const Json after = command::budgetJson(budget);
    for (const auto& [name, limit] : after.items()) {
        if (!before.contains(name) || before[name] != limit) {
            set[name] = limit;
        }
    }
    for (const auto& [name, limit] : before.items()) {
        if (!after.contains(name)) {
            lift.push_back(name);
        }
    }
    return m_acts.perform({{"act", "budget"}, {"budget", std::move(set)}, {"lift", std::move(lift)}},
                          {.field = "budget", .value = before}, budgetChange(budget));
}

/// What stands here is changed, not what somebody read before: two who change different limits both have their way.
Result<void> EngineCore::changeBudget(const command::ChangeBudget& change)
{
    ESPALIER_TRY(const Budget budget, command::changedBudget(m_journal.info().budget, change));
    return setBudget(budget);
}

Change EngineCore::budgetChange(const Budget& budget)
{
    return {[this, budget] {
                SessionInfo info = m_journal.info();
                info.budget = budget;
                return m_journal.setInfo(info);
            },
            [this] { m_spent.reset(); }}; // it may have grown
}

Result<void> EngineCore::setStrategy(const std::string& words)
{
    const std::string before = m_journal.info().strategy;
    ESPALIER_TRY(const Change change, strategyChange(words));
    return m_acts.perform({{"act", "strategy"}, {"strategy", words}}, {.field = "strategy", .value = before}, change);
}

Result<Change> EngineCore::strategyChange(const std::string& words)
{
    ESPALIER_TRY(std::shared_ptr<Strategy> strategy, makeStrategy(words, m_journal.info().seed));
    return Change{[this, words] {
                      SessionInfo info = m_journal.info();
                      info.strategy = words;
                      return m_journal.setInfo(info);
                  },
                  [this, words, strategy] {
                      m_planner->setStrategy(*strategy);
                      m_strategy = strategy;
                      m_strategyWords = words;
                      tell(event::SessionOpened{m_journal.info()});
                  }};
}

Result<void> EngineCore::kill(NodeId node)
{
    if (m_pipeline->judgedAgain(node)) {
        ESPALIER_CHECK(m_acts.perform({{"act", "kill"}, {"of", "judging again"}, {"node", node.value}}, {}));
        m_pipeline->kill(node);
        return {};
    }
    return m_planner->kill(node);
}

/// An act on the run itself. It is done even where it cannot be stored: a full disk keeps nobody from pausing.
void EngineCore::noteControl(const char* act)
{
    Json json = {{"act", act}};
    if (json["act"] == "run" || json["act"] == "step") { // by what it goes on
        json["strategy"] = m_strategyWords;
        json["budget"] = command::budgetJson(m_journal.info().budget);
    }
    if (const auto noted = m_acts.perform(json, {}); !noted) {
        log(noted.error().message);
    }
}

Result<void> EngineCore::undo()
{
    const Replaced* last = m_acts.last();
    if (!last) {
        return fail(ErrorCode::NotFound,
                    "There is nothing to undo: nothing that was set, written, grown or attached in this "
                    "session is left to take back.");
    }
    const auto change = changeBack(*last);
    if (!change) {
        if (change.error().code != ErrorCode::Io) { // else the store: to be tried again
            ESPALIER_CHECK(m_acts.passOver());
        }
        return std::unexpected(change.error());
    }
    return m_acts.undo(*change);
}

Result<Change> EngineCore::changeBack(const Replaced& replaced)
{
    if (replaced.field == "budget") {
        ESPALIER_TRY(const Budget budget, command::budgetFrom(JsonReader(replaced.value, "act")));
        return budgetChange(budget);
    }
    if (replaced.field == "proposers") {
        ESPALIER_TRY(const Participants participants, participantsFrom(replaced.value));
        return proposersChange(participants);
    }
    if (replaced.field == "strategy") {
        return strategyChange(replaced.value.is_string() ? replaced.value.get<std::string>() : std::string());
    }
    return m_planner->changeBack(replaced);
}

} // namespace espalier
