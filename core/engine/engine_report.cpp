// SPDX-License-Identifier: Apache-2.0
// What the engine tells its observers, and what it reads from the session for them.
#include "core/base/file.h"
#include "core/engine/device_facts.h"
#include "core/engine/engine_core.h"
#include "core/engine/node_detail.h"
#include "core/engine/node_exchanges.h"
#include "core/export/kernel_export.h"
#include "core/export/repro_program.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr double secondsBetweenReports = 0.05;
constexpr double secondsBetweenIdleReports = 0.5; ///< while only the time goes on
constexpr double secondsBetweenSaves = 5;
constexpr double secondsBetweenPlans = 0.25;
constexpr std::size_t mostPlannedSteps = 50;

} // namespace

void EngineCore::log(std::string text)
{
    std::replace(text.begin(), text.end(), '\n', ' ');
    tell(event::Log{timestamp(), std::move(text)});
}

void EngineCore::refuse(std::string what, Error error)
{
    if (!m_refusal) {
        m_refusal = error;
    }
    tell(event::CommandFailed{std::move(what), std::move(error)});
}

/// At most one report per 50 ms, unless `now`.
void EngineCore::reportChanges(bool now)
{
    if (!m_planner) {
        return;
    }
    m_reportDue = false;
    if (now || m_clock.now() - m_lastGrown >= secondsBetweenReports || m_clock.now() < m_lastGrown) {
        m_lastGrown = m_clock.now();
        for (ExchangeBook::Grown& grown : m_exchanges.takeGrown()) {
            tell(event::AnswerGrew{grown.node, grown.exchange, std::move(grown.text)});
        }
    }
    tellPlan();
    const double time = m_clock.now();
    const bool due = now || m_lastReport < 0 || time - m_lastReport >= secondsBetweenReports || time < m_lastReport;
    m_reportDue = m_reportDue || !due;
    if (!due) {
        return;
    }
    RunStatus current = status();
    std::vector<NodeSummary> nodes = m_book.takeChanged();
    RunStatus comparable = current;
    comparable.seconds = m_reported.seconds;
    comparable.evaluationsPerSecond = m_reported.evaluationsPerSecond;
    comparable.secondsLeft = m_reported.secondsLeft;
    comparable.idleShare = m_reported.idleShare;
    const bool timeOnly = nodes.empty() && comparable == m_reported;
    if (timeOnly && !now && current.seconds - m_reported.seconds < secondsBetweenIdleReports) {
        return;
    }
    m_lastReport = time;
    m_reported = current;
    tell(event::Changes{++m_revision, std::move(nodes), std::move(current)});
}

RunStatus EngineCore::status() const
{
    const EvaluationCounts counts = m_book.counts();
    RunStatus status;
    status.state = m_state;
    status.why = m_why;
    status.byEngineer = m_state == RunState::Paused && m_byEngineer;
    if (const auto seconds = m_planner->readsOn()) {
        status.readsOn = static_cast<int>(std::ceil(*seconds));
    }
    status.budget = m_journal.info().budget;
    status.evaluations = counts.evaluations;
    status.passed = counts.passed;
    status.rejected = counts.rejected;
    status.failed = counts.failed;
    status.notRun = counts.notRun;
    status.building = m_pipeline->building();
    status.waiting = m_pipeline->waiting();
    status.judging = m_pipeline->judging();
    status.best = m_state == RunState::Finished ? m_book.headline() : m_book.best();
    if (status.best) {
        const NodeSummary* best = m_book.find(*status.best);
        status.bestSpeedupRoot = best->speedupRoot;
        status.bestTimeUs = best->timeUs;
    }
    status.seconds = m_clock.total();
    status.evaluationsPerSecond = m_clock.rate();
    status.idleShare = m_use.idleShare();
    if (status.budget.evaluations && status.evaluationsPerSecond > 0) {
        status.secondsLeft =
            static_cast<double>(std::max<std::int64_t>(0, *status.budget.evaluations - counts.evaluations)) /
            status.evaluationsPerSecond;
    }
    if (status.budget.seconds) {
        const double left = std::max(0.0, *status.budget.seconds - status.seconds);
        status.secondsLeft = std::min(status.secondsLeft.value_or(left), left);
    }
    status.usd = usd();
    status.tokens = tokens();
    status.asking = m_exchanges.underWay();
    status.spending = m_exchanges.total();
    return status;
}

/// What requests have cost goes to the nodes that they were about.
void EngineCore::takeSpending()
{
    for (const NodeId node : m_exchanges.takeChanged()) {
        if (!m_book.find(node)) { // its question was asked and the node is about to come
            m_exchanges.touch(node);
        } else {
            const Spending spending = m_exchanges.of(node);
            m_book.setSpending(node, spending.tokens(),
                               spending.unpriced > 0 || spending.requests == 0 ? std::nullopt
                                                                               : std::optional(spending.usd));
        }
    }
}

/// Candidates of models that were faster than everything before them, in the order of the ids.
std::int64_t EngineCore::improvements() const
{
    std::set<std::string_view> models;
    for (const auto& proposer : m_proposers) {
        if (proposer->readsBackground()) {
            models.insert(proposer->name());
        }
    }
    std::int64_t count = 0;
    double best = 1;
    for (const auto& [id, node] : m_book.nodes()) {
        if (node.kind == NodeKind::Candidate && node.outcome == Outcome::Passed && node.speedupRoot &&
            node.epoch == m_journal.info().epoch && node.speedupRoot->value > best) {
            best = node.speedupRoot->value;
            count += models.contains(node.proposer) ? 1 : 0;
        }
    }
    return count;
}

void EngineCore::tellExchanges(NodeId node)
{
    auto exchanges = exchangesBehind(m_journal.store(), node);
    if (!exchanges) {
        return refuse("exchanges", exchanges.error());
    }
    std::vector<std::string> attachments;
    for (const Attachment& attachment : m_planner->attachments()) {
        attachments.push_back(attachment.name);
    }
    tell(event::Exchanges{node, std::move(*exchanges), m_planner->hints(), std::move(attachments)});
}

RunSummary EngineCore::summary()
{
    const SessionInfo& info = m_journal.info();
    RunSummary summary;
    summary.task = info.taskId;
    summary.why = m_why;
    summary.device = info.deviceName.empty() ? info.device : info.deviceName;
    summary.provenance = info.provenance;
    summary.counts = m_book.counts();
    summary.best = m_book.headline();
    summary.seconds = m_clock.total();
    summary.idleShare = m_use.idleShare();
    summary.usd = usd();
    summary.tokens = tokens();
    summary.spending = m_exchanges.total();
    summary.improvements = improvements();
    if (summary.improvements > 0 && summary.tokens > 0) {
        summary.tokensPerImprovement = static_cast<double>(summary.tokens) / static_cast<double>(summary.improvements);
    }
    summary.incumbent = m_incumbent ? m_incumbent->name : "";
    if (summary.best) {
        const NodeSummary* best = m_book.find(*summary.best);
        summary.bestFoundBy = best->proposer;
        summary.measuredAgain = best->measuredAgain;
        summary.speedupRoot = best->speedupRoot;
        summary.speedupIncumbent = best->speedupIncumbent;
        const auto full = detail(*summary.best);
        if (full && full->evaluation.timing && !full->evaluation.timing->cases.empty()) {
            summary.bestTiming = full->evaluation.timing->cases.front();
        }
    }
    return summary;
}

/// Run time goes into the session now and then, and at the end of every run.
void EngineCore::saveTime(bool now)
{
    const double unsaved = m_clock.unsaved();
    if (unsaved <= 0 || (!now && unsaved < secondsBetweenSaves)) {
        return;
    }
    if (const auto result = m_journal.addSeconds(unsaved); result) {
        m_clock.saved(unsaved);
        if (std::string use = m_use.text(); use != m_useKept && m_journal.setValue(DeviceUse::key, use)) {
            m_useKept = std::move(use);
        }
    } else if (!now) {
        pause(result.error().message);
    }
}

Result<NodeDetail> EngineCore::detail(NodeId node)
{
    const NodeSummary* summary = m_book.find(node);
    if (!summary) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", node.value));
    }
    return readDetail(m_journal.store(), *summary);
}

/// The listings come later, from a thread of their own.
Result<void> EngineCore::askListings(NodeId node)
{
    ESPALIER_TRY(const NodeDetail full, detail(node));
    if (!m_listings) {
        m_listings = std::make_unique<ListingDesk>(m_parts.listings);
    }
    m_listings->ask(node, full.evaluation.build ? full.evaluation.build->key : std::string());
    return {};
}

void EngineCore::tellListings()
{
    if (m_listings) {
        for (auto& listings : m_listings->take()) {
            tell(event::Listings{std::move(listings)});
        }
    }
}

Result<std::vector<std::string>> EngineCore::exportNode(const command::Export& command)
{
    ESPALIER_TRY(const NodeDetail full, detail(command.node));
    ESPALIER_TRY(const auto facts, m_journal.store().value(DeviceFacts::key));
    const std::string driver = DeviceFacts::parse(facts.value_or("")).driverOf(full.summary.epoch);
    ESPALIER_TRY(ExportedFiles exported,
                 exportKernel({*m_task, full, m_journal.info(), command.form, command.folder, "", driver}));
    if (!exported.replaced.empty()) {
        log(exported.replaced);
    }
    return std::move(exported.files);
}

Result<std::string> EngineCore::writeRepro(const command::Repro& command)
{
    ESPALIER_TRY(const NodeDetail full, detail(command.node));
    const auto timed = m_task->casesWith(CaseRole::Time); // what one profiles is what the objective is about
    const std::string caseId = timed.empty() || failedCall(full.evaluation) ? std::string() : timed.front()->id;
    ESPALIER_TRY(const std::string program, reproProgram({*m_task, full, caseId, std::nullopt, false}));
    const std::filesystem::path file =
        std::filesystem::path(command.folder) / fmt::format("node_{}.cu", command.node.value);
    ESPALIER_CHECK(writeFileAtomically(file, program));
    return file.string();
}

void EngineCore::tellStanding()
{
    if (!m_planner) {
        return;
    }
    event::Standing now{m_planner->hints(), m_planner->bans()};
    if (m_standing != now) {
        m_standing = now;
        tell(std::move(now));
    }
}

/// What is planned next, where it has changed.
void EngineCore::tellPlan()
{
    const double time = m_clock.now();
    if (m_lastPlan >= 0 && time >= m_lastPlan && time - m_lastPlan < secondsBetweenPlans) {
        m_reportDue = true;
        return;
    }
    m_lastPlan = time;
    event::Plan plan{m_planner->plannedSteps(mostPlannedSteps), m_strategyWords};
    if (m_plan != plan) {
        m_plan = plan;
        tell(std::move(plan));
    }
}

} // namespace espalier
