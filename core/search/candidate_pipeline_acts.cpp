// SPDX-License-Identifier: Apache-2.0
// What the engineer does to candidates on their way: kernels that are banned, and one that is killed.
#include "core/search/candidate_pipeline.h"

#include "core/build/contract_check.h"
#include "core/search/bans.h"

#include <algorithm>

namespace espalier {

void CandidatePipeline::setBans(std::vector<Limit> limits, std::shared_ptr<const Task> task)
{
    m_bans = std::move(limits);
    m_heldTask = std::move(task);
    for (auto& [node, pass] : m_passes) {
        if (pass.step == Step::Built && node != taskRoot && !pass.start.again) {
            toQueue(pass); // its library is on the shelf: it is looked at again before it reaches the judge
        }
    }
}

/// A built candidate that holds what is banned has ended: nothing of it runs.
bool CandidatePipeline::endIfBanned(const Pass& pass, const BuildResult& result)
{
    const NodeId node = pass.start.node;
    if (m_bans.empty() || node == taskRoot || pass.start.again || !result.evaluation.build) {
        return false;
    }
    const auto broken = brokenLimit(m_bans, *result.evaluation.build, result.library->bytes->size());
    if (!broken) {
        return false;
    }
    Evaluation evaluation = result.evaluation;
    evaluation.outcome = Outcome::Incorrect;
    evaluation.stage = Stage::Build;
    evaluation.epoch = m_setup.epoch;
    evaluation.reason = broken->sentence;
    evaluation.evidence.push_back({std::string(banCheck), broken->sentence});
    const double seconds = evaluation.build->seconds;
    record({node, std::move(evaluation), seconds, true});
    return true;
}

void CandidatePipeline::kill(NodeId node)
{
    Evaluation evaluation;
    evaluation.cause = NotRunCause::Cancelled;
    evaluation.stage = Stage::Generate;
    evaluation.reason = "The engineer killed it.";
    evaluation.epoch = m_setup.epoch;
    if (const auto job = judgingOf(node)) {
        if (m_evaluator) {
            m_evaluator->cancel(*job);
        }
        m_judging.erase(*job);
    }
    if (const auto found = m_passes.find(node); found != m_passes.end()) {
        const Pass& pass = found->second;
        if (pass.start.again) {
            return forgetAgain(node, "");
        }
        const bool shared = std::any_of(m_passes.begin(), m_passes.end(), [&](const auto& other) {
            return other.first != node && other.second.step == Step::Building && other.second.key == pass.key;
        });
        if (pass.step == Step::Building && !shared) {
            m_shelf.cancel(pass.key);
        }
        evaluation.stage = pass.start.verified ? Stage::Time : pass.start.built ? Stage::Verify : Stage::Build;
        evaluation.build = pass.start.soFar.build;
        evaluation.verify = pass.start.verified;
        evaluation.evidence = pass.start.soFar.evidence;
    }
    record({node, std::move(evaluation), 0, true});
}

std::optional<NodeId> CandidatePipeline::judgingAgain() const
{
    for (const auto& [id, node] : m_judging) {
        if (judgedAgain(node)) {
            return node;
        }
    }
    return std::nullopt;
}

} // namespace espalier
