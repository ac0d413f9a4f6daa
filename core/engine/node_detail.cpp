// SPDX-License-Identifier: Apache-2.0
#include "core/engine/node_detail.h"

#include "core/search/editions.h"
#include "core/search/node_payload.h"
#include "core/search/record_merge.h"

#include <fmt/format.h>

namespace espalier {

Result<NodeDetail> readDetail(Store& store, const NodeSummary& summary)
{
    ESPALIER_TRY(std::optional<StoredNode> node, store.node(summary.id));
    if (!node) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", summary.id.value));
    }
    ESPALIER_TRY(const std::vector<StoredStage> stages, editions::stagesOf(store, summary.id));
    NodeDetail detail;
    detail.summary = summary;
    detail.source = node->source;
    detail.ideaText = node->ideaText;
    detail.createdAt = node->createdAt;
    detail.why = NodePayload::parse(node->payload).why;
    detail.evaluation = mergeRecords(stages, std::nullopt).evaluation;
    if (summary.state != NodeState::Done) { // records of a pass that still goes on carry no verdict
        detail.evaluation.outcome = Outcome::NotRun;
    }
    for (std::vector<Edge> parents = node->parents; !parents.empty();) {
        ESPALIER_TRY(const std::optional<StoredNode> above, store.node(parents.front().parent));
        if (!above) {
            break;
        }
        if (above->kind != NodeKind::Idea) {
            detail.parentSource = above->source;
            detail.parentCandidate = above->id;
            break;
        }
        if (detail.ideaText.empty()) {
            detail.ideaText = above->ideaText;
        }
        parents = above->parents;
    }
    return detail;
}

} // namespace espalier
