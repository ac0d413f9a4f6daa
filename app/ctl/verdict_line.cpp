// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/verdict_line.h"

#include "app/ctl/output.h"
#include "core/model/node_text.h"

#include <fmt/format.h>
#include <string>

namespace espalier::ctl {

namespace {

std::string lineOf(const NodeSummary& node)
{
    std::string text = fmt::format("node {}: {}", node.id.value, outcomeText(node));
    const std::string reason = reasonText(node);
    if (node.outcome == Outcome::Passed && node.timeUs) {
        const Provenance provenance = node.provenance.value_or(Provenance::Model);
        const std::string_view sign = signOf(provenance);
        text += ", " + timeText(node.timeUs->value, provenance);
        if (node.speedupRoot) {
            text += fmt::format(", {}{:.3f}x of the root", sign, node.speedupRoot->value);
        }
        if (node.speedupParent) {
            text += fmt::format(", {}{:.3f}x of its parent{}", sign, node.speedupParent->value,
                                node.tieWithParent ? " (a tie)" : "");
        }
    }
    if ((node.overturned || node.outcome != Outcome::Passed || !node.timeUs) && !reason.empty()) {
        text += ": " + reason;
    }
    return text;
}

Json verdictJson(const NodeSummary& node)
{
    return {{"node", node.id.value},
            {"outcome", nameOf(node.outcome)},
            {"reason", node.reason},
            {"overturned", overturnJson(node.overturned)},
            {"time_us", node.timeUs ? Json(node.timeUs->value) : Json(nullptr)},
            {"speedup_root", node.speedupRoot ? Json(node.speedupRoot->value) : Json(nullptr)},
            {"speedup_parent", node.speedupParent ? Json(node.speedupParent->value) : Json(nullptr)}};
}

} // namespace

void printVerdict(const NodeSummary& node, bool json)
{
    print(json ? verdictJson(node).dump(-1, ' ', false, Json::error_handler_t::replace) : lineOf(node));
}

} // namespace espalier::ctl
