// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/search/session_journal.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace espalier {

/// What an act replaced: enough to take it back. A value.
struct Replaced {
    std::string act;   ///< "pin"
    std::string field; ///< "overturn", "pinned", "pruned", "boost", "words", "branch_budget", "hints", "bans",
                       ///< "attachment", "budget", "strategy"
    NodeId node{0};    ///< 0: the session
    Json value;        ///< what stood there before; of a node that grew: that it is pruned
    std::string words; ///< of the act, for a person: filled in by ActHistory
};

/// A change of the session: what is stored, and what follows in memory once it is. `apply` cannot fail.
struct Change {
    std::function<Result<void>()> store;
    std::function<void()> apply;
};

/// The engineer's acts, each stored with author and time before anybody is told of it, and which of them can be taken
/// back. What stands in the session's acts is the truth: a reopened session undoes as the old one would have. Thread:
/// the engine's. Refers to the journal. Errors: the store's.
class ActHistory
{
public:
    ActHistory(SessionJournal& journal, std::string author) : m_journal(journal), m_author(std::move(author)) {}

    const std::string& author() const { return m_author; } ///< of what is done from now on

    Result<void> restore(); ///< reads the acts of earlier runs
    /// Stores an act and its change together: after a crash there are both or none.
    Result<void> perform(const Json& act, const Change& change);
    Result<void> perform(Json act, Replaced replaced, const Change& change); ///< one that can be taken back
    const Replaced* last() const { return m_undoable.empty() ? nullptr : &m_undoable.back(); }
    Result<void> undo(const Change& change); ///< the last one is taken back: the one before it is next
    Result<void> passOver();                 ///< the last one cannot be taken back any more: likewise

private:
    Result<void> undone(bool done, const Change& change);

    SessionJournal& m_journal;
    std::string m_author;
    std::vector<Replaced> m_undoable; ///< oldest first
};

} // namespace espalier
