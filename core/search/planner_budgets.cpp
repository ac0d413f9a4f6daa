// SPDX-License-Identifier: Apache-2.0
// What branches may spend. Tokens, money and device seconds of a candidate count once its outcome is consumed, as
// everything that decisions depend on: what is under way when a budget runs out ends and is paid for.
#include "core/search/branch_limits.h"
#include "core/search/planner.h"

#include <cmath>
#include <fmt/format.h>

namespace espalier {
namespace {

Result<void> checkBranchBudget(const BranchBudget& budget)
{
    const auto wrong = [](const auto& limit) { return limit && !(*limit >= 0); };
    const auto endless = [](const auto& limit) { return limit && !std::isfinite(*limit); };
    if (wrong(budget.evaluations) || wrong(budget.tokens) || wrong(budget.usd) || wrong(budget.seconds) ||
        endless(budget.usd) || endless(budget.seconds)) {
        return fail(ErrorCode::InvalidInput,
                    "A branch's budget cannot be negative: give evaluations, tokens, USD or seconds from 0 up.");
    }
    return {};
}

} // namespace

Result<void> Planner::setBranchBudget(NodeId node, const BranchBudget& budget)
{
    ESPALIER_CHECK(checkBranch(node, budget));
    return performBranchLimits(node, budget, {}, {budget, m_tree.spentBelow(node)});
}

/// What stands here is changed, not what somebody read before.
Result<void> Planner::changeBranchBudget(NodeId node, const BranchBudget& set, const std::vector<std::string>& lift)
{
    ESPALIER_CHECK(checkBranch(node, set));
    ESPALIER_TRY(const auto stored, m_journal.store().value(branchLimitsKey(node)));
    ESPALIER_TRY(const BranchLimits limits,
                 changedLimits(branchLimitsFrom(stored.value_or("")), set, lift, m_tree.spentBelow(node)));
    return performBranchLimits(node, set, lift, limits);
}

Result<void> Planner::checkBranch(NodeId node, const BranchBudget& budget) const
{
    ESPALIER_CHECK(checkBranchBudget(budget));
    return m_book.find(node) ? Result<void>()
                             : fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", node.value));
}

/// `set`, `lift`: what the act says; `limits`: what holds after it.
Result<void> Planner::performBranchLimits(NodeId node, const BranchBudget& set, const std::vector<std::string>& lift,
                                          const BranchLimits& limits)
{
    ESPALIER_TRY(const auto before, m_journal.store().value(branchLimitsKey(node)));
    Json act = {{"act", "budget"}, {"node", node.value}};
    const auto put = [&act](const char* name, const auto& limit) {
        if (limit) {
            act[name] = *limit;
        }
    };
    put("evaluations", set.evaluations);
    put("tokens", set.tokens);
    put("usd", set.usd);
    put("seconds", set.seconds);
    if (!lift.empty()) {
        act["lift"] = lift;
    }
    return m_acts.perform(std::move(act), {.field = "branch_budget", .node = node, .value = before.value_or("")},
                          branchBudgetChange(node, branchLimitsText(limits)));
}

/// `text`: as stored; empty: no budget.
Change Planner::branchBudgetChange(NodeId node, const std::string& text)
{
    return {[this, node, text] { return m_journal.setValue(branchLimitsKey(node), text); },
            [this, node, text] { applyBranchBudget(node, branchLimitsFrom(text)); }};
}

void Planner::applyBranchBudget(NodeId node, const BranchLimits& limits)
{
    TreeNode* entry = m_tree.find(node);
    entry->budget = limits.budget;
    entry->spentBefore = limits.before;
    m_book.setBranchBudget(node, m_tree.at(node).budget, m_tree.spentOfBudget(node));
}

Result<void> Planner::restoreBranchBudgets()
{
    for (const auto& [id, node] : m_tree.nodes()) {
        if (node.verdict) {
            settleSpending(id);
        }
    }
    ESPALIER_TRY(const auto stored, branchLimitsIn(m_journal.store()));
    for (const auto& [node, limits] : stored) {
        if (m_book.find(node)) {
            applyBranchBudget(node, limits);
        }
    }
    return {};
}

/// Charges the node with what it has cost meanwhile.
void Planner::settleSpending(NodeId id)
{
    const TreeNode& node = m_tree.at(id);
    const BranchSpending now = costInBranches(m_setup.exchanges ? m_setup.exchanges->of(id) : Spending(),
                                              node.verdict ? node.verdict->deviceSeconds : 0);
    if (now != node.spent) {
        m_tree.addSpending(id, now - node.spent);
    }
}

/// Observers see what branches with a budget have spent.
void Planner::showBranchBudgets()
{
    for (const NodeId id : m_tree.budgeted()) {
        m_book.setBranchBudget(id, m_tree.at(id).budget, m_tree.spentOfBudget(id));
    }
}

} // namespace espalier
