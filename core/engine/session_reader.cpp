// SPDX-License-Identifier: Apache-2.0
#include "core/engine/session_reader.h"

#include "core/engine/device_change.h"
#include "core/engine/device_facts.h"
#include "core/engine/device_use.h"
#include "core/engine/node_detail.h"
#include "core/engine/node_exchanges.h"
#include "core/engine/session_task.h"
#include "core/search/bans.h"
#include "core/search/branch_limits.h"
#include "core/search/editions.h"
#include "core/search/node_payload.h"
#include "core/search/overturns.h"
#include "core/search/record_merge.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {

Result<SessionReader> SessionReader::open(const std::string& file)
{
    SessionReader reader;
    ESPALIER_TRY(reader.m_store, Store::open(file, Store::Mode::ReadOnly));
    const SessionInfo& info = reader.m_store->info();
    reader.m_book.setFrame({info.provenance, info.epoch});
    ESPALIER_TRY(const auto bans, bansIn(*reader.m_store));
    reader.m_book.setBans(limitsOf(bans));
    ESPALIER_TRY(const editions::Since since, editions::since(*reader.m_store));
    ESPALIER_TRY(const auto nodes, reader.m_store->nodes());
    for (const StoredNode& node : nodes) {
        reader.m_book.add(node);
        ESPALIER_TRY(auto stages, reader.m_store->stages(node.id));
        const MergedRecords records = mergeRecords(editions::holding(std::move(stages), node.id, since), std::nullopt);
        if (records.final) {
            reader.m_book.finished(node.id, records.evaluation);
            const auto ended = NodePayload::parse(node.payload).ended; // adds up what was judged more than once
            reader.m_deviceSeconds[node.id] = ended ? ended->deviceSeconds : deviceSecondsOf(records.evaluation);
        }
    }
    ESPALIER_TRY(const auto outdated, editions::outdated(*reader.m_store));
    for (const NodeId id : outdated) {
        reader.m_book.setOlderEdition(id);
    }
    ESPALIER_CHECK(DeviceChange::mark(*reader.m_store, reader.m_book));
    ESPALIER_TRY(const std::vector<StoredAct> acts, reader.m_store->acts());
    for (const auto& [id, overturn] : overturnsIn(acts)) {
        if (reader.m_book.find(id)) {
            reader.m_book.overturn(id, overturn);
        }
    }
    ESPALIER_TRY(const std::vector<Exchange> exchanges, reader.m_store->exchanges());
    for (const Exchange& exchange : exchanges) {
        reader.m_spending.add(exchange);
        reader.m_byNode[exchange.node].add(exchange);
    }
    for (const auto& [id, spending] : reader.m_byNode) {
        if (reader.m_book.find(id)) {
            reader.m_book.setSpending(id, spending.tokens(),
                                      spending.unpriced > 0 ? std::nullopt : std::optional(spending.usd));
        }
    }
    ESPALIER_CHECK(reader.readBranchBudgets());
    return reader;
}

/// As the search counts them.
Result<void> SessionReader::readBranchBudgets()
{
    ESPALIER_TRY(const auto all, branchLimitsIn(*m_store));
    if (all.empty()) {
        return {};
    }
    ESPALIER_TRY(const NodeId consumed, lastConsumed(*m_store));
    for (const auto& [id, limits] : all) {
        if (m_book.find(id)) {
            m_book.setBranchBudget(id, limits.budget, spentBelow(id, consumed) - limits.before);
        }
    }
    return {};
}

/// `consumed`: what a candidate after it has cost does not count yet, as in the search.
BranchSpending SessionReader::spentBelow(NodeId id, NodeId consumed) const
{
    BranchSpending sum;
    for (const auto& [below, node] : m_book.nodes()) {
        if (!isBelow(below, id)) {
            continue;
        }
        const auto seconds = m_deviceSeconds.find(below);
        const bool judged = seconds != m_deviceSeconds.end() && below.value <= consumed.value;
        const auto counts = judged ? std::optional(countsAsEvaluation(node.cause)) : std::nullopt;
        sum.evaluations += below != id && countsInBranches(node.kind, counts, m_book.pruned(below)) ? 1 : 0;
        if (judged) {
            const auto asked = m_byNode.find(below);
            sum = sum + costInBranches(asked != m_byNode.end() ? asked->second : Spending(), seconds->second);
        }
    }
    return sum;
}

bool SessionReader::isBelow(NodeId node, NodeId top) const
{
    std::optional<NodeId> up = node;
    while (up && *up != top) {
        const NodeSummary* summary = m_book.find(*up);
        up = summary && !summary->parents.empty() ? std::optional(summary->parents.front().parent) : std::nullopt;
    }
    return up.has_value();
}

Result<Task> SessionReader::task() const
{
    return session_task::of(*m_store);
}

Result<std::vector<std::string>> SessionReader::remarks() const
{
    std::vector<std::string> remarks;
    ESPALIER_TRY(const DeviceChange change, DeviceChange::read(*m_store));
    if (!change.sentence().empty()) {
        remarks.push_back(change.sentence());
    }
    const auto outdated = std::count_if(m_book.nodes().begin(), m_book.nodes().end(), [](const auto& entry) {
        return entry.second.olderEdition && entry.second.outcome == Outcome::Passed;
    });
    if (outdated > 0) {
        remarks.push_back(
            fmt::format("{} {} an earlier edition of the task only: ranked until judged again, never exported.",
                        outdated, outdated == 1 ? "kernel passed" : "kernels passed"));
    }
    return remarks;
}

Result<std::vector<StoredAct>> SessionReader::acts() const
{
    return m_store->acts();
}

Result<std::vector<std::string>> SessionReader::hints() const
{
    return hintsIn(*m_store);
}

Result<std::vector<BannedTechnique>> SessionReader::bans() const
{
    return bansIn(*m_store);
}

Result<std::vector<Attachment>> SessionReader::attachments() const
{
    return attachmentsIn(*m_store);
}

Result<std::vector<Exchange>> SessionReader::exchanges(NodeId id) const
{
    return exchangesBehind(*m_store, id);
}

Spending SessionReader::branchSpending(NodeId id) const
{
    Spending sum;
    for (const auto& [node, spending] : m_byNode) {
        if (isBelow(node, id)) {
            sum.add(spending);
        }
    }
    return sum;
}

Result<NodeDetail> SessionReader::detail(NodeId id) const
{
    const NodeSummary* summary = m_book.find(id);
    if (!summary) {
        return fail(ErrorCode::NotFound, fmt::format("{} has no node {}; its nodes are 1 to {}", info().file, id.value,
                                                     m_book.nextId().value - 1));
    }
    return readDetail(*m_store, *summary);
}

std::string SessionReader::driverOf(const NodeSummary& node) const
{
    const auto kept = m_store->value(DeviceFacts::key);
    return DeviceFacts::parse(kept ? kept->value_or("") : "").driverOf(node.epoch);
}

std::optional<double> SessionReader::idleShare() const
{
    const auto kept = m_store->value(DeviceUse::key);
    return kept && *kept ? DeviceUse([] { return 0.0; }, **kept).idleShare() : std::nullopt;
}

} // namespace espalier
