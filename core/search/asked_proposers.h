// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"
#include "core/search/session_journal.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace espalier {

/// Who was asked for ideas under which parent, as a session keeps it: whoever joins a search later is asked under the
/// parents that are there already, and nobody is asked twice. Thread: the engine's. Refers to the journal. Errors: the
/// store's.
class AskedProposers
{
public:
    explicit AskedProposers(SessionJournal& journal) : m_journal(journal) {}

    using Names = std::set<std::string, std::less<>>;

    Result<Names> under(NodeId parent) const;
    Result<void> add(NodeId parent, const Names& names) const; ///< they were asked as well
    /// The parents under which all of `names` were asked.
    Result<std::set<NodeId>> askedAll(const std::vector<std::string>& names) const;
    /// Before others take part for the first time: sessions of older versions say of a parent no more than that
    /// whoever took part then was asked, which means `names`.
    Result<void> keepFirst(const std::vector<std::string>& names) const;

private:
    Result<Names> first() const;

    SessionJournal& m_journal;
};

} // namespace espalier
