// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/search/session_journal.h"

#include <string>
#include <vector>

namespace espalier {

/// What an act replaced: enough to take it back. A value.
struct Replaced {
    std::string act;   ///< "pin"
    std::string field; ///< "pinned", "pruned", "boost", "words", "branch_budget", "hints", "bans", "budget", "strategy"
    NodeId node{0};    ///< 0: the session
    Json value;        ///< what stood there before
};

/// The engineer's acts, each stored with author and time before anybody is told of it, and which of them can be taken
/// back. What stands in the session's acts is the truth: a reopened session undoes as the old one would have. Thread: the
/// engine's. Refers to the journal. Errors: the store's.
class ActHistory
{
public:
    explicit ActHistory(SessionJournal& journal) : m_journal(journal) {}

    Result<void> restore(); ///< reads the acts of earlier runs
    Result<void> note(const Json& act);
    Result<void> note(Json act, Replaced replaced); ///< one that undo takes back
    const Replaced* last() const { return m_undoable.empty() ? nullptr : &m_undoable.back(); }
    /// The last one was taken back, or (`done` false) cannot be any more: the one before it is next.
    Result<void> noteUndone(bool done);

private:
    SessionJournal& m_journal;
    std::vector<Replaced> m_undoable; ///< oldest first
};

} // namespace espalier
