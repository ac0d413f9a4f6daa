// SPDX-License-Identifier: Apache-2.0
// What branches may spend. Tokens, money and device seconds of a candidate count once its outcome is consumed, as everything
// that decisions depend on: what is under way when a budget runs out ends and is paid for.
#include "core/search/planner.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr const char* budgetPrefix = "search.branch_budget.";

std::string budgetKey(NodeId node)
{
    return fmt::format("{}{}", budgetPrefix, node.value);
}

/// The budget and what the branch had spent when it was set.
Json limitsJson(const BranchBudget& budget, const BranchSpending& before)
{
    Json json = Json::object();
    const auto put = [&json](const char* name, const auto& limit, const auto& spent) {
        if (limit) {
            json[name] = {{"limit", *limit}, {"before", spent}};
        }
    };
    put("evaluations", budget.evaluations, before.evaluations);
    put("tokens", budget.tokens, before.tokens);
    put("usd", budget.usd, before.usd);
    put("seconds", budget.seconds, before.seconds);
    return json;
}

template <typename T>
void readLimit(const Json& json, const char* name, std::optional<T>& limit, T& before)
{
    if (!json.is_object() || !json.contains(name) || !json[name].is_object()) {
        return;
    }
    const Json& one = json[name];
    if (one.contains("limit") && one["limit"].is_number()) {
        limit = one["limit"].template get<T>();
    }
    if (one.contains("before") && one["before"].is_number()) {
        before = one["before"].template get<T>();
    }
}

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
    ESPALIER_CHECK(checkBranchBudget(budget));
    if (!m_book.find(node)) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", node.value));
    }
    ESPALIER_TRY(const auto before, m_journal.store().value(budgetKey(node)));
    const Json limits = limitsJson(budget, m_tree.spentBelow(node));
    Json act = {{"act", "budget"}, {"node", node.value}};
    for (const auto& [name, limit] : limits.items()) {
        act[name] = limit["limit"];
    }
    return m_acts.perform(std::move(act), {.field = "branch_budget", .node = node, .value = before.value_or("")},
                          branchBudgetChange(node, budget.none() ? std::string() : limits.dump()));
}

/// `text`: as stored; empty: no budget.
Change Planner::branchBudgetChange(NodeId node, const std::string& text)
{
    return {[this, node, text] { return m_journal.setValue(budgetKey(node), text); },
            [this, node, text] { applyBranchBudget(node, text); }};
}

void Planner::applyBranchBudget(NodeId node, const std::string& text)
{
    TreeNode* entry = m_tree.find(node);
    entry->budget = {};
    entry->spentBefore = {};
    if (const auto json = parseJson(text, "budget")) {
        readLimit(*json, "evaluations", entry->budget.evaluations, entry->spentBefore.evaluations);
        readLimit(*json, "tokens", entry->budget.tokens, entry->spentBefore.tokens);
        readLimit(*json, "usd", entry->budget.usd, entry->spentBefore.usd);
        readLimit(*json, "seconds", entry->budget.seconds, entry->spentBefore.seconds);
    }
    m_book.setBranchBudget(node, m_tree.at(node).budget, m_tree.spentOfBudget(node));
}

Result<void> Planner::restoreBranchBudgets()
{
    for (const auto& [id, node] : m_tree.nodes()) {
        if (node.verdict) {
            settleSpending(id);
        }
    }
    ESPALIER_TRY(const auto stored, m_journal.store().values(budgetPrefix));
    for (const auto& [number, text] : stored) {
        const NodeId node{std::strtoll(number.c_str(), nullptr, 10)};
        if (!text.empty() && m_book.find(node)) {
            applyBranchBudget(node, text);
        }
    }
    return {};
}

/// Charges the node with what it has cost meanwhile.
void Planner::settleSpending(NodeId id)
{
    const TreeNode& node = m_tree.at(id);
    BranchSpending now;
    now.seconds = node.verdict ? node.verdict->deviceSeconds : 0;
    if (m_setup.exchanges) {
        const Spending asked = m_setup.exchanges->of(id);
        now.tokens = asked.tokens();
        now.usd = asked.usd;
    }
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
