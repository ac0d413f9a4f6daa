// SPDX-License-Identifier: GPL-3.0-only
// How ScriptedLink answers the engineer's acts: as the engine does, as far as the window can see.
#include "tests/views/scripted_session.h"

#include <algorithm>

namespace espalier {

NodeId ScriptedLink::grow(NodeKind kind, NodeState state, std::vector<Edge> parents, const std::string& title,
                          NodeDetail detail)
{
    NodeSummary node;
    node.id = NodeId{details.rbegin()->first.value + 1};
    node.kind = kind;
    node.state = state;
    node.parents = std::move(parents);
    node.title = title;
    node.proposer = "engineer";
    if (!node.parents.empty()) {
        node.ordinal = int(std::count_if(details.begin(), details.end(), [&](const auto& one) {
            const auto& above = one.second.summary.parents;
            return !above.empty() && above.front().parent == node.parents.front().parent;
        }));
    }
    add(node, std::move(detail));
    return node.id;
}

bool ScriptedLink::steer(const command::Command& command)
{
    if (const auto* boost = std::get_if<command::SetBoost>(&command)) {
        change(boost->node, [&](NodeSummary& node) { node.boost = boost->boost; });
    } else if (const auto* edit = std::get_if<command::EditIdea>(&command)) {
        if (details.at(edit->node).summary.state != NodeState::Draft) {
            fail("edit", "That idea is no draft.");
            return true;
        }
        details.at(edit->node).ideaText = edit->text;
        change(edit->node, [&](NodeSummary& node) { node.title = edit->title; });
    } else if (const auto* idea = std::get_if<command::AddIdea>(&command)) {
        NodeDetail detail;
        detail.ideaText = idea->text;
        grow(NodeKind::Idea, NodeState::Draft, {{idea->parent, EdgeRole::Primary}}, idea->title, std::move(detail));
    } else if (const auto* own = std::get_if<command::Inject>(&command)) {
        NodeDetail detail;
        detail.source = own->source;
        std::vector<Edge> parents;
        if (own->parent) {
            parents.push_back({*own->parent, EdgeRole::Primary});
        }
        grow(own->parent ? NodeKind::Candidate : NodeKind::Root, NodeState::Queued, std::move(parents), own->title,
             std::move(detail));
    } else if (const auto* cross = std::get_if<command::CrossOver>(&command)) {
        grow(NodeKind::Idea, NodeState::Draft,
             {{cross->first, EdgeRole::Primary}, {cross->second, EdgeRole::Crossover}}, "What is good in both", {});
    } else if (const auto* kill = std::get_if<command::Kill>(&command)) {
        change(kill->node, [](NodeSummary& node) {
            node.state = NodeState::Done;
            node.runningStage.reset();
            node.outcome = Outcome::NotRun;
            node.reason = "the engineer killed it";
        });
    } else if (const auto* branch = std::get_if<command::SetBranchBudget>(&command)) {
        change(branch->node, [&](NodeSummary& node) { node.budget = branch->budget; });
    } else if (const auto* limits = std::get_if<command::SetBudget>(&command)) {
        status.budget = limits->budget;
        sendStatus();
    } else if (const auto* other = std::get_if<command::SetStrategy>(&command)) {
        info.strategy = other->words;
    } else if (const auto* hint = std::get_if<command::AddHint>(&command)) {
        standing.hints.push_back(hint->text);
        send(standing);
    } else if (const auto* unhint = std::get_if<command::RemoveHint>(&command)) {
        standing.hints.erase(standing.hints.begin() + unhint->number - 1);
        send(standing);
    } else if (const auto* ban = std::get_if<command::Ban>(&command)) {
        standing.bans.push_back({ban->text, ban->predicate});
        send(standing);
    } else if (const auto* lift = std::get_if<command::LiftBan>(&command)) {
        standing.bans.erase(standing.bans.begin() + lift->number - 1);
        send(standing);
    } else {
        return false;
    }
    return true;
}

void ScriptedLink::sendPlan()
{
    event::Plan plan;
    plan.strategy = info.strategy;
    std::vector<const NodeSummary*> open;
    for (const NodeState state : {NodeState::Running, NodeState::Queued}) {
        for (const auto& [id, detail] : details) {
            const NodeSummary& node = detail.summary;
            if (node.kind != NodeKind::Idea && node.state == state && !node.pruned) {
                const bool runs = state == NodeState::Running;
                plan.steps.push_back({runs ? PlannedStep::Kind::Running : PlannedStep::Kind::Queued, id,
                                      runs ? "try 2 of the series that promises most (gain 1.08x)"
                                           : "the new idea under the fastest parent (2.10x)"});
            } else if (node.kind == NodeKind::Idea && node.state == NodeState::Draft && state == NodeState::Queued &&
                       !node.pruned) {
                open.push_back(&node);
            }
        }
    }
    std::stable_sort(open.begin(), open.end(),
                     [](const NodeSummary* a, const NodeSummary* b) { return a->boost > b->boost; });
    for (const NodeSummary* node : open) {
        const bool next = node == open.front();
        plan.steps.push_back({next ? PlannedStep::Kind::Next : PlannedStep::Kind::Open, node->id,
                              next ? "the new idea under the fastest parent (3.43x)" : ""});
    }
    send(plan);
}

std::vector<StrategyDescription> ScriptedLink::strategies() const
{
    return {
        {"refine", "deeper from what is fast", {{"parents", 4, 1, 1000, "kernels whose series are worked on"}}},
        {"beam",
         "rounds: the fastest few survive",
         {{"width", 4, 1, 1000, "kernels that survive a round"}, {"tries", 2, 1, 1000, "implementations of an idea"}}},
        {"manual", "waits for the engineer", {}}};
}

} // namespace espalier
