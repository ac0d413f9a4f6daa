// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/node.h"
#include "core/model/task.h"
#include "core/search/node_book.h"
#include "core/search/standing.h"
#include "core/store/store.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace espalier {

/// A session opened for reading only, for showing and exporting: a running engine is not disturbed. Thread: one at a
/// time.
class SessionReader
{
public:
    static Result<SessionReader> open(const std::string& file);

    const SessionInfo& info() const { return m_store->info(); }
    Result<Task> task() const; ///< as the session carries it
    /// What figures of another device or of an earlier edition of the task are worth, where there are any.
    Result<std::vector<std::string>> remarks() const;
    double secondsSpent() const { return m_store->secondsSpent(); }
    Result<std::vector<StoredAct>> acts() const;         ///< of the engineer, oldest first
    std::optional<double> idleShare() const;             ///< of the device, 0 to 1
    std::string driverOf(const NodeSummary& node) const; ///< of the device that measured it; empty: not known
    Result<std::vector<std::string>> hints() const;      ///< as they stand
    Result<std::vector<BannedTechnique>> bans() const;   ///< likewise
    Result<std::vector<Attachment>> attachments() const; ///< likewise
    const std::map<NodeId, double>& deviceSeconds() const { return m_deviceSeconds; } ///< of the judge, by node
    const NodeBook& book() const { return m_book; }
    /// Errors: NotFound "SESSION has no node 99; its nodes are 1 to 23".
    Result<NodeDetail> detail(NodeId id) const;
    /// The questions to models behind a node and about it, oldest first.
    Result<std::vector<Exchange>> exchanges(NodeId id) const;
    const Spending& spending() const { return m_spending; } ///< of the session
    Spending branchSpending(NodeId id) const;               ///< of the node and all below it

private:
    Result<void> readBranchBudgets();
    bool isBelow(NodeId node, NodeId top) const; ///< or the same
    BranchSpending spentBelow(NodeId id, NodeId consumed) const;

    std::unique_ptr<Store> m_store;
    NodeBook m_book;
    Spending m_spending;
    std::map<NodeId, Spending> m_byNode;
    std::map<NodeId, double> m_deviceSeconds;
};

} // namespace espalier
