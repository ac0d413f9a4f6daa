// SPDX-License-Identifier: Apache-2.0
// Why nothing is left to try, for a person: a search may end with ideas that it was kept from. Looks at every node;
// asked once, at the end of a run.
#include "core/search/planner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

/// Ideas that one cause keeps from being tried, and the first node that a remedy names.
struct KeptBack {
    int ideas = 0;
    NodeId first{0};
    void add(NodeId node) { first = ideas++ == 0 ? node : first; }
    std::string counted() const { return fmt::format("{} {}", ideas, ideas == 1 ? "idea" : "ideas"); }
    const char* verb(const char* one, const char* several) const { return ideas == 1 ? one : several; }
};

std::string spentText(NodeId branch, const KeptBack& below)
{
    const std::string waiting = below.ideas == 0
                                    ? std::string()
                                    : fmt::format(" and {} {} below it", below.counted(), below.verb("waits", "wait"));
    return fmt::format(
        "the limit of node {0}'s branch is used up{1}: raise or lift it (steer budget --node {0} --unlimited)",
        branch.value, waiting);
}

} // namespace

/// The pruned node on the way up from an idea: it is what restoring has to name.
NodeId Planner::prunedAbove(NodeId id) const
{
    std::optional<NodeId> up = id;
    while (up && !m_tree.at(*up).pruned) {
        up = m_tree.at(*up).parent;
    }
    return up.value_or(id);
}

std::vector<std::string> Planner::keptBack() const
{
    KeptBack pruned, banned, unweighted;
    std::map<NodeId, KeptBack> spent;
    for (const auto& [id, node] : m_tree.nodes()) {
        const auto branch = m_book.pruned(id) ? std::nullopt : m_tree.spentBranch(id);
        if (node.kind != NodeKind::Idea) {
            const bool unasked =
                node.verdict && node.verdict->outcome == Outcome::Passed && !node.asked && !node.banned;
            if (branch && unasked) {
                spent.try_emplace(*branch);
            }
            continue;
        }
        const TreeNode* above = node.parent ? m_tree.find(*node.parent) : nullptr;
        const bool tryable = above && above->verdict && above->verdict->outcome == Outcome::Passed;
        if (!tryable || node.exhausted || node.tries() >= node.planned) {
            continue;
        }
        if (m_book.pruned(id)) {
            pruned.add(prunedAbove(id));
        } else if (branch) {
            spent[*branch].add(id);
        } else if (above->banned) {
            banned.add(above->id);
        } else if (node.boost <= 0 || above->boost <= 0) {
            unweighted.add(node.boost <= 0 ? id : above->id);
        }
    }
    std::vector<std::string> reasons;
    for (const auto& [branch, below] : spent) {
        reasons.push_back(spentText(branch, below));
    }
    if (pruned.ideas > 0) {
        reasons.push_back(fmt::format("{} {} pruned (steer restore --node {} puts one back)", pruned.counted(),
                                      pruned.verb("is", "are"), pruned.first.value));
    }
    if (banned.ideas > 0) {
        reasons.push_back(
            fmt::format("{} {} under kernels that hold what is banned (steer lift-ban takes the ban away)",
                        banned.counted(), banned.verb("stands", "stand")));
    }
    if (unweighted.ideas > 0) {
        reasons.push_back(fmt::format("{} {} left out by a boost of 0 (steer boost --node {} --factor 1 takes one in)",
                                      unweighted.counted(), unweighted.verb("is", "are"), unweighted.first.value));
    }
    return reasons;
}

/// Models that answered and gave nothing to try; empty where any idea of theirs stands in the tree.
std::string Planner::answersWithoutIdeas() const
{
    for (const auto& [id, node] : m_tree.nodes()) {
        const Proposer* proposer =
            node.kind == NodeKind::Idea && !node.byEngineer ? m_proposers.named(node.proposer) : nullptr;
        if (proposer && proposer->readsBackground()) {
            return {};
        }
    }
    const auto exchanges = m_journal.store().exchanges();
    std::set<std::string> who;
    std::optional<NodeId> first;
    int answers = 0;
    for (const Exchange& one : exchanges.value_or(std::vector<Exchange>())) {
        if (one.purpose == "idea" && one.state == Exchange::State::Answered) {
            ++answers;
            who.insert(one.profile.empty() ? one.provider : one.profile);
            first = first.value_or(one.node);
        }
    }
    return answers == 0 ? std::string()
                        : fmt::format("{} {} of {} held no usable idea (show --node {} prints {})", answers,
                                      answers == 1 ? "answer" : "answers", fmt::join(who, ", "), first->value,
                                      answers == 1 ? "it" : "them");
}

std::string Planner::whyExhausted() const
{
    std::vector<std::string> reasons = keptBack();
    const char* besides = reasons.empty() ? "" : " else";
    if (const std::string answers = answersWithoutIdeas(); !answers.empty()) {
        reasons.push_back(answers);
    }
    return reasons.empty() ? std::string("nothing is left to try: every idea of the proposers was tried")
                           : fmt::format("nothing{} is left to try: {}", besides, fmt::join(reasons, "; "));
}

} // namespace espalier
