// SPDX-License-Identifier: Apache-2.0
#include "core/search/renewed_figures.h"

#include "core/analysis/fresh_runs.h"
#include "core/analysis/objective.h"
#include "core/search/editions.h"
#include "core/search/node_payload.h"
#include "core/search/record_merge.h"
#include "core/search/search_tree.h"
#include "core/search/session_journal.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier::renewed_figures {
namespace {

/// `renew` returns false where there is nothing to say about the record. All of them are written, or none.
Result<Renewed> renewAll(Store& store, const std::function<bool(NodeId, Evaluation&)>& renew)
{
    Renewed renewed;
    ESPALIER_TRY(const std::vector<StoredNode> nodes, store.nodes(Store::Sources::Without));
    ESPALIER_CHECK(store.together([&]() -> Result<void> {
        for (const StoredNode& outline : nodes) {
            if (outline.kind == NodeKind::Idea || outline.state != NodeState::Done) {
                continue;
            }
            ESPALIER_TRY(const std::vector<StoredStage> stages, editions::stagesOf(store, outline.id));
            Evaluation evaluation = mergeRecords(stages, std::nullopt).evaluation;
            if (!evaluation.timing || evaluation.timing->cases.empty() || !renew(outline.id, evaluation)) {
                continue;
            }
            ESPALIER_TRY(std::optional<StoredNode> node, store.node(outline.id));
            evaluation.stage = Stage::Time; // the stage whose last record decides
            StoredStage stage{outline.id, Stage::Time, 0, evaluation, 0, timestamp(), stages.back().edition};
            ESPALIER_CHECK(store.addStage(stage));
            EndedRecord ended = EndedRecord::of(evaluation, node->source);
            if (const auto before = NodePayload::parse(node->payload).ended) {
                ended.deviceSeconds = before->deviceSeconds;
            }
            node->payload = NodePayload::withEnded(node->payload, ended);
            ESPALIER_CHECK(store.updateNode(*node));
            renewed.emplace_back(outline.id, std::move(evaluation));
        }
        return {};
    }));
    return renewed;
}

const CaseTiming* caseOf(const Evaluation& evaluation, const std::string& id)
{
    if (!evaluation.timing) {
        return nullptr;
    }
    const auto& cases = evaluation.timing->cases;
    const auto found =
        std::find_if(cases.begin(), cases.end(), [&](const CaseTiming& one) { return one.caseId == id; });
    return found == cases.end() ? nullptr : &*found;
}

/// How many times as fast the new root is as the one before; nullopt: it cannot be said.
std::optional<Interval> gained(const std::optional<Interval>& paired, const std::optional<Interval>& before,
                               const std::optional<Interval>& now)
{
    return paired ? paired : before && now ? std::optional(statistics::quotient(*before, *now)) : std::nullopt;
}

void divide(std::optional<Interval>& ratio, const std::optional<Interval>& by)
{
    if (ratio && by && by->value > 0) {
        ratio = statistics::quotient(*ratio, *by);
    }
}

} // namespace

Result<Renewed> addUp(Store& store, const Task& task)
{
    const auto weightOf = [&task](std::string_view id) {
        const TaskCase* one = task.findCase(id);
        return one ? one->weight : 1;
    };
    return renewAll(store, [&](NodeId, Evaluation& evaluation) {
        const TimingRecord before = *evaluation.timing;
        addUpObjective(task.objective, weightOf, *evaluation.timing);
        return *evaluation.timing != before;
    });
}

Result<Renewed> overRoot(Store& store, const Evaluation& root, const Evaluation& before)
{
    if (!root.timing) {
        return Renewed();
    }
    const auto whole = gained(root.timing->speedupParent, before.timing ? before.timing->objectiveUs : std::nullopt,
                              root.timing->objectiveUs);
    return renewAll(store, [&](NodeId id, Evaluation& evaluation) {
        if (id == taskRoot || !whole) {
            return false;
        }
        for (CaseTiming& timing : evaluation.timing->cases) {
            const CaseTiming* now = caseOf(root, timing.caseId);
            const CaseTiming* then = caseOf(before, timing.caseId);
            divide(timing.speedupRoot,
                   now ? gained(now->speedupParent, then ? std::optional(then->timeUs) : std::nullopt, now->timeUs)
                       : whole);
        }
        divide(evaluation.timing->speedupRoot, whole);
        evaluation.evidence.push_back(
            {"edition", fmt::format("the task has another root, {:.4g} times as fast as the one that this kernel was "
                                    "timed beside: its ratio over the root follows from that",
                                    whole->value)});
        return true;
    });
}

} // namespace espalier::renewed_figures
