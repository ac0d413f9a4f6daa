// SPDX-License-Identifier: Apache-2.0
// Candidates and references through the compilers.
#include "core/search/candidate_pipeline.h"

#include "core/search/program_identity.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace espalier {
namespace {

bool isOurs(const Evaluation& evaluation)
{
    return evaluation.outcome == Outcome::NotRun &&
           (evaluation.cause == NotRunCause::Infrastructure || evaluation.cause == NotRunCause::Cancelled);
}

} // namespace

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

bool CandidatePipeline::isFree(NodeId node, const Pass& pass) const
{
    return node == taskRoot || (pass.start.own && m_own == OwnKernels::Free) || pass.start.again.has_value();
}

bool CandidatePipeline::mayBuild(NodeId node, const Pass& pass) const
{
    return pass.step == Step::Queued && (!m_book.pruned(node) || pass.start.again) &&
           (isFree(node, pass) || active() < m_allowance);
}

/// Builders may be busy with what was built ahead.
bool CandidatePipeline::awaitsBuilder() const
{
    return m_launching && std::any_of(m_passes.begin(), m_passes.end(),
                                      [this](const auto& entry) { return mayBuild(entry.first, entry.second); });
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
        if (m_buildFaults.isControl(key)) {
            m_shelf.forget(key);
            endBuildControl(copy.evaluation);
            continue;
        }
        if (isOurs(copy.evaluation)) {
            m_shelf.forget(key);
            if (!ahead && isInfrastructure(copy.evaluation)) {
                if (isCandidates(key)) {
                    blame(key, copy.evaluation);
                } else {
                    trouble({ErrorCode::Internal, copy.evaluation.reason});
                }
            }
        } else {
            m_buildFaults.settled(key);
        }
        for (Reference& reference : m_references) {
            if (reference.key == key) {
                applyReference(reference, copy);
            }
        }
        for (const NodeId node : m_buildFaults.awaitsControl(key) ? std::vector<NodeId>() : awaiting(key)) {
            if (const auto found = m_passes.find(node); found != m_passes.end()) {
                applyBuild(found->second, copy);
            }
        }
    }
}

std::vector<NodeId> CandidatePipeline::awaiting(const std::string& key) const
{
    std::vector<NodeId> waiting;
    for (const auto& [node, pass] : m_passes) {
        if (pass.step == Step::Building && pass.key == key) {
            waiting.push_back(node);
        }
    }
    return waiting;
}

/// Those that were built before and whose own library fell off the shelf.
std::vector<NodeId> CandidatePipeline::rebuilding(const std::string& key) const
{
    std::vector<NodeId> nodes;
    for (const auto& [node, pass] : m_passes) {
        if (pass.step == Step::Built && pass.key == key) {
            nodes.push_back(node);
        }
    }
    return nodes;
}

/// One's own or its parent's; not the root's, which nothing goes on without, nor what candidates are compared with.
bool CandidatePipeline::isCandidates(const std::string& key) const
{
    return key != m_rootOrder.key() && std::none_of(m_references.begin(), m_references.end(),
                                                    [&key](const auto& reference) { return reference.key == key; });
}

/// A candidate's build ended for a reason of ours: it is queued once more, or waits for what a control says.
void CandidatePipeline::blame(const std::string& key, const Evaluation& fault)
{
    if (m_buildFaults.after(key, fault) == BuildFaults::Next::Control && !m_buildFaults.control()) {
        m_buildFaults.order(m_rootOrder, timestamp());
        m_shelf.order(*m_buildFaults.control());
    }
}

void CandidatePipeline::endBuildControl(const Evaluation& control)
{
    for (const auto& [key, fault] : m_buildFaults.end()) {
        if (!isOurs(control)) {
            convict(key, fault);
            continue;
        }
        for (const NodeId node : awaiting(key)) {
            Pass& pass = m_passes.at(node);
            pass.start.again ? forgetAgain(node, fault.reason) : toQueue(pass);
        }
    }
    if (isInfrastructure(control)) {
        trouble({ErrorCode::Internal, control.reason});
    }
}

/// The source is to blame: whoever it is of ends, and its children are judged beside the root alone.
void CandidatePipeline::convict(const std::string& key, const Evaluation& fault)
{
    m_buildFaults.convict(key);
    std::vector<NodeId> ending = awaiting(key);
    const std::vector<NodeId> again = rebuilding(key);
    ending.insert(ending.end(), again.begin(), again.end());
    for (const NodeId node : ending) {
        const Pass& pass = m_passes.at(node);
        if (pass.start.again) {
            forgetAgain(node, fault.reason);
            continue;
        }
        Evaluation evaluation = fault;
        evaluation.stage = Stage::Build;
        evaluation.epoch = m_setup.epoch;
        if (pass.start.built) {
            evaluation.stage = pass.start.verified ? Stage::Time : Stage::Verify; // behind what it has passed
            evaluation.build = pass.start.soFar.build;
            evaluation.verify = pass.start.verified;
        }
        evaluation.reason += "; it came twice, and the task's root builds";
        evaluation.evidence.push_back({"build", evaluation.reason});
        record({node, std::move(evaluation), 0, true});
    }
    if (ending.empty()) {
        m_events.push_back(pipeline::Note{
            fmt::format("A parent's source cannot be built any more, so that its children are timed beside the root "
                        "alone: {}",
                        fault.reason)});
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

} // namespace espalier
