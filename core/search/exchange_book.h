// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/exchange_log.h"
#include "core/search/session_journal.h"

#include <map>
#include <set>
#include <vector>

namespace espalier {

/// A session's exchanges: writes them through the journal, adds up what they cost by node, and keeps the caps of the
/// session's budget. Thread: the engine's. Refers to the journal. Errors: the store's.
class ExchangeBook final : public ExchangeLog
{
public:
    explicit ExchangeBook(SessionJournal& journal) : m_journal(journal) {}

    Result<void> restore(); ///< adds up what earlier runs spent

    Result<std::optional<Exchange>> answered(const std::string& key) override;
    Result<std::optional<Exchange>> unanswered(const std::string& key) override;
    bool hasAnswered(const std::string& profile) const override { return m_answering.contains(profile); }
    std::optional<std::string> refusal(std::int64_t tokens, std::optional<double> usd) const override;
    Result<std::int64_t> sent(const Exchange& exchange) override;
    void leftOpen(const Exchange& exchange) override;
    Result<void> ended(const Exchange& exchange) override;
    void grew(const Exchange& exchange, std::string_view text) override;

    const Spending& total() const { return m_total; }
    Spending of(NodeId node) const;
    int underWay() const { return static_cast<int>(m_underWay.size()); }

    /// New text of answers that are arriving, since the last call.
    struct Grown {
        std::int64_t exchange = 0;
        NodeId node{0};
        std::string text;
    };
    std::vector<Grown> takeGrown();
    /// Of a node that has ended: what was asked for it and is open still, perhaps since an earlier run, is cancelled.
    Result<void> endOpen(NodeId node);
    void touch(NodeId node) { m_changed.insert(node); }
    void touchAll();                ///< every node that something was asked about
    std::set<NodeId> takeChanged(); ///< nodes whose exchanges began or ended

private:
    void count(const Exchange& exchange);

    SessionJournal& m_journal;
    Spending m_total;
    std::map<NodeId, Spending> m_byNode;
    std::map<std::int64_t, Exchange> m_underWay; ///< without their texts
    std::map<std::int64_t, Grown> m_grown;
    std::set<NodeId> m_changed;
    std::set<std::string> m_answering; ///< profiles that have answered
};

} // namespace espalier
