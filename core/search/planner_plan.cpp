// SPDX-License-Identifier: Apache-2.0
// What is planned next, for a person. Reads only, and never the whole tree.
#include "core/search/planner.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

/// What the strategy would do now; nullopt: wait.
std::optional<PlannedStep> stepOf(const Decision& decision)
{
    if (const auto* ask = std::get_if<decision::AskIdeas>(&decision)) {
        return PlannedStep{PlannedStep::Next, ask->parent, "ideas are asked for: " + ask->why};
    }
    if (const auto* expand = std::get_if<decision::Implement>(&decision)) {
        return PlannedStep{PlannedStep::Next, expand->idea, expand->why};
    }
    if (const auto* crossing = std::get_if<decision::Crossover>(&decision)) {
        return PlannedStep{PlannedStep::Next, crossing->first,
                           fmt::format("crossed with node {}: {}", crossing->second.value, crossing->why)};
    }
    return std::nullopt;
}

} // namespace

std::vector<PlannedStep> Planner::plannedSteps(std::size_t most) const
{
    std::vector<PlannedStep> steps;
    if (m_asking) {
        steps.push_back({PlannedStep::Running, m_asking->parent, "ideas are asked for"});
    }
    const auto again = m_pipeline.judgingAgain();
    if (again) {
        steps.push_back({PlannedStep::Running, *again, "judged again"});
    }
    for (const PlannedStep::Kind kind : {PlannedStep::Running, PlannedStep::Queued}) {
        for (const NodeId id : m_inFlight) {
            const NodeSummary* node = m_book.find(id);
            const bool running = node->state == NodeState::Running;
            if (node->state == NodeState::Done || running != (kind == PlannedStep::Running) || m_book.pruned(id)) {
                continue;
            }
            const auto why = m_whys.find(id);
            steps.push_back({kind, id, why == m_whys.end() ? std::string() : why->second});
        }
    }
    std::optional<PlannedStep> next;
    if (const auto failed = nextRepair()) {
        next = PlannedStep{PlannedStep::Next, *failed, "it is repaired"};
    } else if (const auto crossed = crossedByHand()) {
        next = PlannedStep{PlannedStep::Next, *crossed, "the engineer crossed two kernels"};
    } else if (m_tree.root() && !m_asking) {
        next = stepOf(m_strategy->next(m_tree));
    }
    if (next) {
        steps.push_back(*next);
    }
    for (const bool series : {false, true}) {
        for (const Ranked& open : m_tree.openIdeas(series)) {
            if (steps.size() >= most) {
                return steps;
            }
            if (!next || next->node != open.id) {
                steps.push_back({PlannedStep::Open, open.id, fmt::format("its promise is {:.2f}x", open.weight)});
            }
        }
    }
    steps.resize(std::min(steps.size(), most));
    for (auto id = m_unwritten.rbegin(); id != m_unwritten.rend() && steps.size() < most; ++id) {
        const NodeSummary* idea = m_book.find(*id);
        if (idea->state == NodeState::Draft && !m_book.pruned(*id)) {
            steps.push_back({PlannedStep::Open, *id, "no model takes part: give a kernel of your own under it"});
        }
    }
    return steps;
}

} // namespace espalier
