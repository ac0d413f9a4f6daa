// SPDX-License-Identifier: Apache-2.0
#include "core/search/candidate_pipeline.h"

#include "core/search/judged_again.h"
#include "core/search/node_payload.h"
#include "core/search/program_identity.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace espalier {
namespace {

constexpr int mostLosses = 2;
constexpr int mostInfrastructureInRow = 3;

bool isOurs(const Evaluation& evaluation)
{
    return evaluation.outcome == Outcome::NotRun &&
           (evaluation.cause == NotRunCause::Infrastructure || evaluation.cause == NotRunCause::Cancelled);
}

} // namespace

CandidatePipeline::CandidatePipeline(Setup setup, SessionJournal& journal, NodeBook& book, BuildPool& pool)
    : m_setup(std::move(setup)), m_heldTask(m_setup.task), m_journal(journal), m_book(book),
      m_shelf(pool, m_setup.task, m_setup.architecture, m_setup.builders),
      m_rootOrder{SourceRole::Candidate, m_setup.task->root.text, {}}
{
    m_references.push_back(
        {"oracle", {SourceRole::Oracle, m_setup.task->oracle.source.text, {}}, "", std::nullopt, false});
    if (m_setup.incumbent) {
        const Incumbent& incumbent = *m_setup.incumbent;
        m_references.push_back(
            {incumbent.name, {SourceRole::Incumbent, incumbent.source, {}}, "", incumbent.library, false});
    }
    if (m_setup.withBaselines) {
        for (const Baseline& baseline : m_setup.task->baselines) {
            m_references.push_back({baseline.id,
                                    {SourceRole::Baseline, baseline.source.text, baseline.libraries},
                                    "",
                                    std::nullopt,
                                    false});
        }
    }
    for (Reference& reference : m_references) {
        reference.key = reference.order.key();
    }
}

void CandidatePipeline::add(PassStart start)
{
    Pass pass;
    pass.order = {SourceRole::Candidate, start.source, {}};
    pass.key = pass.order.key();
    pass.host = hostIdentity(start.source);
    for (const std::string& source : start.foreseen) {
        pass.foreseen.push_back({SourceRole::Candidate, source, {}});
    }
    const NodeId node = start.node;
    pass.start = std::move(start);
    m_passes.insert_or_assign(node, std::move(pass));
}

void CandidatePipeline::endWithoutSource(NodeId node, std::string reason)
{
    Evaluation evaluation;
    evaluation.cause = NotRunCause::NoSource;
    evaluation.stage = Stage::Generate;
    evaluation.reason = std::move(reason);
    evaluation.epoch = m_setup.epoch;
    record({node, std::move(evaluation), 0, true});
}

void CandidatePipeline::setEvaluator(Evaluator* evaluator)
{
    for (const auto& [id, node] : m_judging) {
        if (Pass* pass = judged(id)) {
            pass->step = Step::Built;
            m_book.returnedToQueue(node);
        }
    }
    m_judging.clear();
    m_evaluator = evaluator;
}

void CandidatePipeline::setLaunching(bool launching, std::int64_t allowance)
{
    m_launching = launching;
    m_allowance = allowance;
    if (!launching) {
        cancelAhead();
    }
}

void CandidatePipeline::pump()
{
    startBuilds();
    startJudging();
    buildAhead(); // last: only what nobody needs a builder for
}

// --- build -------------------------------------------------------------------------------------------------------

void CandidatePipeline::startBuilds()
{
    for (Reference& reference : m_references) {
        if (m_launching && !reference.library && !reference.failed && m_shelf.room()) {
            m_shelf.order(reference.order);
        }
    }
    std::vector<NodeId> queued; // a pass may end, and leave the map, in this loop
    for (const auto& [node, pass] : m_passes) {
        if (pass.step == Step::Queued) {
            queued.push_back(node);
        }
    }
    for (const NodeId node : queued) {
        if (!m_launching || !m_shelf.room()) {
            return;
        }
        Pass& pass = m_passes.at(node);
        if (!mayBuild(node, pass)) {
            continue;
        }
        pass.step = Step::Building;
        m_book.stageBegan(node, Stage::Build);
        if (const BuildResult* result = m_shelf.find(pass.key)) {
            applyBuild(pass, *result);
        } else {
            m_ahead.erase(pass.key);
            m_shelf.order(pass.order);
        }
    }
}

bool CandidatePipeline::mayBuild(NodeId node, const Pass& pass) const
{
    const bool free = node == taskRoot || pass.start.again.has_value();
    return pass.step == Step::Queued && (!m_book.pruned(node) || pass.start.again) && (free || active() < m_allowance);
}

/// Builders may be busy with what was built ahead.
bool CandidatePipeline::awaitsBuilder() const
{
    return m_launching && std::any_of(m_passes.begin(), m_passes.end(), [this](const auto& entry) { return mayBuild(entry.first, entry.second); });
}

/// Gives idle builders what is likely to be asked for next, so that the judge need not wait for it.
void CandidatePipeline::buildAhead()
{
    for (const auto& [node, pass] : m_passes) {
        for (const BuildOrder& order : pass.foreseen) {
            if (!m_launching || !m_shelf.room() || active() >= m_allowance) {
                return;
            }
            const std::string key = order.key();
            if (pass.step != Step::Queued && !m_shelf.find(key) && !m_shelf.running(key)) {
                m_ahead.insert(key);
                m_shelf.order(order);
            }
        }
    }
}

void CandidatePipeline::cancelAhead()
{
    for (const std::string& key : std::exchange(m_ahead, {})) {
        m_shelf.cancel(key);
    }
}

void CandidatePipeline::onBuildPool()
{
    for (const std::string& key : m_shelf.receive()) {
        const BuildResult* result = m_shelf.find(key);
        if (!result) {
            continue;
        }
        const BuildResult copy = *result;
        const bool ahead = m_ahead.erase(key) > 0;
        if (isOurs(copy.evaluation)) {
            m_shelf.forget(key);
            if (!ahead && copy.evaluation.cause == NotRunCause::Infrastructure) {
                trouble({ErrorCode::Internal, copy.evaluation.reason});
            }
        }
        for (Reference& reference : m_references) {
            if (reference.key == key) {
                applyReference(reference, copy);
            }
        }
        std::vector<NodeId> waiting;
        for (const auto& [node, pass] : m_passes) {
            if (pass.step == Step::Building && pass.key == key) {
                waiting.push_back(node);
            }
        }
        for (const NodeId node : waiting) {
            if (const auto found = m_passes.find(node); found != m_passes.end()) {
                applyBuild(found->second, copy);
            }
        }
    }
}

void CandidatePipeline::applyReference(Reference& reference, const BuildResult& result)
{
    if (isOurs(result.evaluation)) {
        return;
    }
    reference.library = result.library;
    reference.failed = !result.library;
    if (!reference.failed) {
        return;
    }
    if (reference.order.role == SourceRole::Incumbent) {
        broken(fmt::format("The incumbent {} does not build: {}", reference.id, result.evaluation.reason));
    } else if (reference.order.role == SourceRole::Oracle) {
        broken(fmt::format("The oracle of task {} does not build: {}", m_setup.task->id, result.evaluation.reason));
    } else {
        m_events.push_back(pipeline::Note{
            fmt::format("Baseline {} does not build and is left out: {}", reference.id, result.evaluation.reason)});
    }
}

void CandidatePipeline::applyBuild(Pass& pass, const BuildResult& result)
{
    const NodeId node = pass.start.node;
    if (pass.start.again && !result.library) {
        return forgetAgain(node, result.evaluation.reason);
    }
    if (isOurs(result.evaluation)) {
        return toQueue(pass);
    }
    Evaluation evaluation = result.evaluation;
    evaluation.stage = Stage::Build;
    evaluation.epoch = m_setup.epoch;
    const double seconds = evaluation.build ? evaluation.build->seconds : 0;
    if (result.library) {
        if (endIfBanned(pass, result)) {
            return;
        }
        nameProgram(pass, *result.library, *evaluation.build);
        pass.step = Step::Built;
        m_book.returnedToQueue(node); // until the judge has time for it
        if (!pass.start.built) {      // else an earlier run of the session recorded it
            pass.start.built = true;
            pass.start.soFar.build = evaluation.build;
            pass.start.soFar.evidence = evaluation.evidence;
            record({node, std::move(evaluation), seconds, false});
        }
        return;
    }
    record({node, std::move(evaluation), seconds, true});
}

// --- verify and time ---------------------------------------------------------------------------------------------

bool CandidatePipeline::referencesReady() const
{
    return std::all_of(m_references.begin(), m_references.end(),
                       [](const Reference& reference) { return reference.library || reference.failed; }) &&
           m_references.front().library;
}

/// True when it is known: the library, or that there is none. Else it is ordered.
bool CandidatePipeline::obtain(const BuildOrder& order, std::optional<Library>& library)
{
    const std::string key = order.key();
    if (const BuildResult* result = m_shelf.find(key)) {
        library = result->library;
        return true;
    }
    m_ahead.erase(key);
    if (m_shelf.room()) {
        m_shelf.order(order);
    }
    return false;
}

std::optional<EvaluationJob> CandidatePipeline::jobFor(Pass& pass)
{
    std::optional<Library> own, root, parent;
    const bool haveOwn = obtain(pass.order, own);
    const bool haveRoot = obtain(m_rootOrder, root);
    const bool haveParent =
        !pass.start.parentSource || obtain({SourceRole::Candidate, *pass.start.parentSource, {}}, parent);
    if (!haveOwn || !haveRoot || !haveParent) {
        return std::nullopt;
    }
    if (!root) {
        broken(fmt::format("The root kernel of task {} no longer builds.", m_setup.task->id));
        return std::nullopt;
    }
    if (!own) { // it was built before: build it again and hear why it fails now
        pass.step = Step::Queued;
        return std::nullopt;
    }
    EvaluationJob job;
    job.id = RequestId{m_nextRequest++};
    job.task = pass.start.node == taskRoot || pass.start.again ? m_setup.task : m_heldTask;
    job.candidate = *own;
    job.root = *root;
    job.oracle = *m_references.front().library;
    job.parent = parent;
    for (const Reference& reference : m_references) {
        if (reference.order.role == SourceRole::Incumbent && reference.library) {
            job.incumbent = IncumbentLibrary{*reference.library, m_setup.incumbent->symbol};
        }
        if (reference.order.role == SourceRole::Baseline && reference.library) {
            job.baselines.emplace_back(reference.id, *reference.library);
        }
    }
    job.tier = m_setup.tier;
    job.profiling = m_setup.profiling;
    job.verified = pass.start.verified;
    if (pass.start.again) {
        askAgain(job, *pass.start.again, m_setup.profiling);
    }
    return job;
}

void CandidatePipeline::startJudging()
{
    if (!m_evaluator || !referencesReady()) {
        return;
    }
    if (m_launching) {
        endTwins();
    }
    const bool rootFirst = m_passes.contains(taskRoot);
    for (auto& [node, pass] : m_passes) {
        if (!m_launching || judging() >= m_evaluator->lanes() || (rootFirst && node != taskRoot)) {
            return;
        }
        const bool free = node == taskRoot || pass.start.again.has_value();
        if (pass.step != Step::Built || (m_book.pruned(node) && !pass.start.again) || (!free && paidJudgings() >= m_allowance) || awaitsTwin(node, pass)) {
            continue;
        }
        if (auto job = jobFor(pass)) {
            pass.step = Step::Judging;
            m_judging[job->id] = node;
            m_book.stageBegan(node, job->verified ? Stage::Time : Stage::Verify);
            m_evaluator->submit(std::move(*job));
        }
    }
}

CandidatePipeline::Pass* CandidatePipeline::judged(RequestId id)
{
    const auto job = m_judging.find(id);
    if (job == m_judging.end()) {
        return nullptr; // an answer to something abandoned
    }
    const auto found = m_passes.find(job->second);
    return found == m_passes.end() ? nullptr : &found->second;
}

std::optional<RequestId> CandidatePipeline::judgingOf(NodeId node) const
{
    const auto found = std::find_if(m_judging.begin(), m_judging.end(), [node](const auto& job) { return job.second == node; });
    return found == m_judging.end() ? std::nullopt : std::optional(found->first);
}

std::int64_t CandidatePipeline::paidJudgings() const
{
    return std::count_if(m_judging.begin(), m_judging.end(), [this](const auto& job) {
        const auto pass = m_passes.find(job.second);
        return job.second != taskRoot && pass != m_passes.end() && !pass->second.start.again;
    });
}

void CandidatePipeline::onProgress(const evaluator::Progress& event)
{
    if (const Pass* pass = judged(event.id)) {
        const NodeSummary* summary = m_book.find(pass->start.node);
        if (summary && summary->runningStage != event.stage) {
            m_book.stageBegan(pass->start.node, event.stage);
        }
    }
}

void CandidatePipeline::onVerified(const evaluator::Verified& event)
{
    Pass* pass = judged(event.id);
    if (!pass || pass->start.verified) {
        return;
    }
    if (pass->start.again) { // its gate was passed before, and that record stays
        return m_book.stageBegan(pass->start.node, Stage::Time);
    }
    pass->start.verified = event.record;
    Evaluation evaluation;
    evaluation.outcome = Outcome::Passed;
    evaluation.stage = Stage::Verify;
    evaluation.verify = event.record;
    evaluation.epoch = m_setup.epoch;
    m_book.stageBegan(pass->start.node, Stage::Time);
    record({pass->start.node, std::move(evaluation), event.record.seconds, false});
}

void CandidatePipeline::onFinished(const evaluator::Finished& event)
{
    Pass* pass = judged(event.id);
    if (!pass) {
        return;
    }
    m_judging.erase(event.id);
    if (pass->start.again && event.evaluation.outcome == Outcome::NotRun) { // no verdict: the first figures stay
        return forgetAgain(pass->start.node, event.evaluation.reason);
    }
    if (event.evaluation.outcome == Outcome::NotRun && event.evaluation.cause == NotRunCause::Cancelled) {
        return toQueue(*pass);
    }
    const bool infrastructure =
        event.evaluation.outcome == Outcome::NotRun && event.evaluation.cause == NotRunCause::Infrastructure;
    m_infrastructureInRow = infrastructure ? m_infrastructureInRow + 1 : 0;
    if (pass->start.node == taskRoot && event.evaluation.outcome == Outcome::NotRun) {
        toQueue(*pass); // no verdict on the kernel: another device may serve
        return broken(
            fmt::format("The root kernel of task {} could not be run: {}", m_setup.task->id, event.evaluation.reason));
    }
    endJudged(*pass, event.evaluation);
    if (m_infrastructureInRow >= mostInfrastructureInRow) {
        m_infrastructureInRow = 0;
        trouble({ErrorCode::Internal, fmt::format("{} candidates in a row could not be run: {}",
                                                  mostInfrastructureInRow, event.evaluation.reason)});
    }
}

void CandidatePipeline::endJudged(Pass& pass, Evaluation evaluation)
{
    evaluation.build = pass.start.soFar.build;
    std::vector<Evidence> before; // what the build had to say stays, once
    if (!pass.start.again) {
        before = pass.start.soFar.evidence;
    }
    before.insert(before.end(), pass.start.remarks.begin(), pass.start.remarks.end());
    for (const Evidence& one : before) {
        if (std::find(evaluation.evidence.begin(), evaluation.evidence.end(), one) == evaluation.evidence.end()) {
            evaluation.evidence.push_back(one);
        }
    }
    if (!evaluation.verify) {
        evaluation.verify = pass.start.verified;
    }
    evaluation.epoch = m_setup.epoch;
    const bool again = pass.start.again.has_value();
    if (again) {
        evaluation = recordAgain(*pass.start.again, pass.start.soFar, std::move(evaluation));
    } else if (evaluation.stage != Stage::Time) {
        evaluation.stage = Stage::Verify;
    }
    const double seconds = evaluation.stage == Stage::Time && evaluation.timing ? evaluation.timing->seconds
                           : evaluation.verify                                  ? evaluation.verify->seconds
                                                                                : 0;
    record({pass.start.node, std::move(evaluation), seconds, true, false, again});
}

void CandidatePipeline::onLost(const evaluator::Lost& event, bool verdict)
{
    for (const RequestId id : event.unfinished) {
        Pass* pass = judged(id);
        m_judging.erase(id);
        if (pass) {
            lose(*pass, event.error.message, verdict);
        }
    }
}

void CandidatePipeline::lose(Pass& pass, const std::string& why, bool verdict)
{
    pass.step = Step::Built;
    pass.losses = verdict ? pass.losses + 1 : 0;
    if (pass.start.again && (pass.losses >= mostLosses || !verdict)) {
        return forgetAgain(pass.start.node, why);
    }
    if (pass.losses >= mostLosses) {
        Evaluation evaluation;
        evaluation.outcome = Outcome::NotRun;
        evaluation.cause = NotRunCause::Infrastructure;
        evaluation.stage = Stage::Verify;
        evaluation.reason = fmt::format("The judge was lost twice while it worked on this candidate: {}", why);
        return endJudged(pass, std::move(evaluation));
    }
    m_book.returnedToQueue(pass.start.node);
}

// --- records -----------------------------------------------------------------------------------------------------

void CandidatePipeline::record(Unwritten item)
{
    if (m_unwritten.empty()) {
        const auto result = write(item);
        if (result) {
            return written(item);
        }
        trouble(result.error());
    }
    m_unwritten.push_back(std::move(item)); // behind what waits already: the order of records is their meaning
}

Result<void> CandidatePipeline::write(Unwritten& item)
{
    if (!item.stageWritten) {
        ESPALIER_CHECK(m_journal.addStage(item.node, item.record, item.seconds));
        item.stageWritten = true;
    }
    if (item.ends) {
        ESPALIER_TRY(std::optional<StoredNode> node, m_journal.store().node(item.node));
        if (node) {
            node->state = NodeState::Done;
            EndedRecord ended = EndedRecord::of(item.record, node->source);
            if (const auto before = NodePayload::parse(node->payload).ended; item.again && before) {
                ended.deviceSeconds += before->deviceSeconds;
            }
            node->payload = NodePayload::withEnded(node->payload, ended);
            ESPALIER_CHECK(m_journal.updateNode(*node));
        }
    }
    return {};
}

void CandidatePipeline::written(const Unwritten& item)
{
    if (!item.ends) {
        return;
    }
    m_book.finished(item.node, item.record);
    if (item.record.outcome != Outcome::NotRun && item.record.build) {
        knowProgram(item.record.build->program, item.node);
    }
    m_passes.erase(item.node);
    m_events.push_back(pipeline::Ended{item.node, item.record, item.again});
    if (item.again) {
        return;
    }
    if (item.node != taskRoot) {
        const NotRunCause cause = item.record.cause;
        m_allowance -= cause == NotRunCause::NoSource || cause == NotRunCause::Cancelled ? 0 : 1;
    } else if (item.record.outcome != Outcome::Passed) {
        broken(fmt::format("The root kernel of task {} does not pass ({}): {}", m_setup.task->id,
                           nameOf(item.record.outcome), item.record.reason));
    }
}

void CandidatePipeline::flush()
{
    while (!m_unwritten.empty()) {
        if (const auto result = write(m_unwritten.front()); !result) {
            return trouble(result.error());
        }
        const Unwritten item = std::move(m_unwritten.front());
        m_unwritten.erase(m_unwritten.begin());
        written(item);
    }
}

void CandidatePipeline::trouble(Error error)
{
    setLaunching(false, 0);
    m_events.push_back(pipeline::Trouble{std::move(error)});
}

void CandidatePipeline::broken(std::string message)
{
    setLaunching(false, 0);
    m_events.push_back(pipeline::Broken{{ErrorCode::InvalidInput, std::move(message)}});
}

// --- state -------------------------------------------------------------------------------------------------------

void CandidatePipeline::toQueue(Pass& pass)
{
    pass.step = Step::Queued;
    m_book.returnedToQueue(pass.start.node);
}

/// It has its figures already: it is no longer on its way.
void CandidatePipeline::forgetAgain(NodeId node, const std::string& why)
{
    m_passes.erase(node);
    m_book.returnedToQueue(node);
    m_book.setState(node, NodeState::Done);
    if (!why.empty()) {
        m_events.push_back(pipeline::Note{fmt::format(
            "Node {} could not be judged again and keeps its verdict and figures: {}", node.value, why)});
    }
}

void CandidatePipeline::forgetAgain()
{
    std::vector<NodeId> waiting;
    for (const auto& [node, pass] : m_passes) {
        if (pass.start.again && pass.step != Step::Judging) {
            waiting.push_back(node);
        }
    }
    for (const NodeId node : waiting) {
        forgetAgain(node, "");
    }
}

bool CandidatePipeline::judgedAgain(NodeId node) const
{
    const auto found = m_passes.find(node);
    return found != m_passes.end() && found->second.start.again;
}

void CandidatePipeline::abandon()
{
    m_launching = false;
    m_ahead.clear();
    m_shelf.cancelAll();
    for (const auto& [id, node] : m_judging) {
        if (m_evaluator) {
            m_evaluator->cancel(id);
        }
    }
    m_judging.clear();
    for (auto& [node, pass] : m_passes) {
        if (pass.step != Step::Queued) {
            toQueue(pass);
        }
    }
    forgetAgain();
}

std::vector<pipeline::Event> CandidatePipeline::take()
{
    return std::exchange(m_events, {});
}

bool CandidatePipeline::quiet() const
{
    return m_shelf.running() == static_cast<int>(m_ahead.size()) && m_judging.empty();
}

bool CandidatePipeline::idle() const
{
    return quiet() && m_unwritten.empty() && m_events.empty() && !awaitsBuilder();
}

int CandidatePipeline::building() const
{
    return m_shelf.running();
}

int CandidatePipeline::waiting() const
{
    return static_cast<int>(std::count_if(m_passes.begin(), m_passes.end(),
                                          [](const auto& entry) { return entry.second.step == Step::Built; }));
}

std::int64_t CandidatePipeline::active() const
{
    return std::count_if(m_passes.begin(), m_passes.end(), [this](const auto& entry) {
        const Step step = entry.second.step;
        return entry.first != taskRoot && !entry.second.start.again && (step == Step::Building || step == Step::Judging ||
                                           (step == Step::Built && !m_book.pruned(entry.first)));
    });
}

} // namespace espalier
