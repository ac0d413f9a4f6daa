// SPDX-License-Identifier: Apache-2.0
// Candidates through the judge of each device, and what comes back.
#include "core/search/candidate_pipeline.h"

#include "core/search/judged_again.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace espalier {
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
    if (m_buildFaults.convicted(key)) {
        return true;
    }
    m_ahead.erase(key);
    if (m_shelf.room() && !m_buildFaults.awaitsControl(key)) {
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
    if (m_judgeFaults.controlling()) {
        return; // first it must be known whether this device runs anything
    }
    const bool rootFirst = m_passes.contains(taskRoot);
    for (auto& [node, pass] : m_passes) {
        if (!m_launching || judging() >= m_evaluator->lanes() || (rootFirst && node != taskRoot)) {
            return;
        }
        if (pass.step != Step::Built || (m_book.pruned(node) && !pass.start.again) ||
            (!isFree(node, pass) && paidJudgings() >= m_allowance) || awaitsTwin(node, pass)) {
            continue;
        }
        if (m_losses.atLimit(node) && !pass.start.again && node != taskRoot) {
            m_judgeFaults.doubt(m_losses.why(node));
            return startJudgeControl();
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
    const auto found =
        std::find_if(m_judging.begin(), m_judging.end(), [node](const auto& job) { return job.second == node; });
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
    if (m_judgeFaults.isControl(event.id)) {
        m_judging.erase(event.id);
        return endJudgeControl(&event.evaluation);
    }
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
    if (pass->start.node == taskRoot && event.evaluation.outcome == Outcome::NotRun) {
        toQueue(*pass); // no verdict on the kernel: another device may serve
        return broken(
            fmt::format("The root kernel of task {} could not be run: {}", m_setup.task->id, event.evaluation.reason));
    }
    const bool control = m_judgeFaults.after(event.evaluation);
    endJudged(*pass, event.evaluation);
    if (control) {
        startJudgeControl();
    }
}

void CandidatePipeline::startJudgeControl()
{
    Pass root;
    root.start.node = taskRoot;
    root.order = m_rootOrder;
    auto job = m_evaluator ? jobFor(root) : std::nullopt;
    if (!job) {
        return; // the root is being built: the next candidate that cannot be run asks again
    }
    job->verifyOnly = true;
    m_judgeFaults.start(job->id);
    m_judging[job->id] = taskRoot;
    m_evaluator->submit(std::move(*job));
}

void CandidatePipeline::endJudgeControl(const Evaluation* control)
{
    if (control && control->cause == NotRunCause::Cancelled) {
        return m_judgeFaults.forget();
    }
    if (const std::string reason = m_judgeFaults.end(control); !reason.empty()) {
        trouble({ErrorCode::Internal, fmt::format("Candidates and then the task's root could not be run: {}", reason)});
    } else {
        endLost();
    }
}

/// The root can be run: who has lost the judge too often has done that by itself.
void CandidatePipeline::endLost()
{
    std::vector<NodeId> lost; // they leave the map
    for (const auto& [node, pass] : m_passes) {
        if (pass.step == Step::Built && !pass.start.again && node != taskRoot && m_losses.atLimit(node)) {
            lost.push_back(node);
        }
    }
    for (const NodeId node : lost) {
        Evaluation evaluation;
        evaluation.outcome = Outcome::NotRun;
        evaluation.cause = NotRunCause::Infrastructure;
        evaluation.stage = Stage::Verify;
        evaluation.reason =
            fmt::format("The judge was lost twice while it worked on this candidate: {}", m_losses.why(node));
        endJudged(m_passes.at(node), std::move(evaluation));
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

bool CandidatePipeline::onLost(const evaluator::Lost& event)
{
    bool rootToo = false;
    for (const RequestId id : event.unfinished) {
        Pass* pass = m_judgeFaults.isControl(id) ? nullptr : judged(id);
        m_judging.erase(id);
        if (m_judgeFaults.isControl(id)) {
            m_judgeFaults.forget();
            rootToo = true;
        }
        if (pass) {
            rootToo = lose(*pass, event.error.message) || rootToo;
        }
    }
    return rootToo;
}

/// True when it is the root itself that cannot be run.
bool CandidatePipeline::lose(Pass& pass, const std::string& why)
{
    const NodeId node = pass.start.node;
    pass.step = Step::Built;
    m_book.returnedToQueue(node);
    m_losses.lost(node, why);
    const bool atLimit = m_losses.atLimit(node);
    if (atLimit && (pass.start.again || node == taskRoot)) { // no candidate that could end: the next run tries anew
        m_losses.settled(node);
        if (pass.start.again) {
            forgetAgain(node, why);
        }
    }
    keepLosses();
    return atLimit && node == taskRoot;
}

void CandidatePipeline::keepLosses()
{
    if (const auto kept = m_journal.setValue(JudgeLosses::key, m_losses.text()); !kept) {
        trouble(kept.error());
    }
}

} // namespace espalier
