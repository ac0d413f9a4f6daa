// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/again.h"
#include "core/model/node.h"
#include "core/model/session.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace espalier::command {

/// What anybody may ask of a running engine: plain values, so that they can cross a thread today and a socket later.
/// Every command is answered by events; one that cannot be done is answered by event::CommandFailed with its text.

struct Run {
    std::optional<Budget> budget;
}; ///< start or go on; a budget replaces the session's
struct Pause {
}; ///< finish running: nothing new starts; running stages end and are stored
struct Step {
}; ///< one evaluation, of a candidate that waits or else of one new expansion; then paused
struct Stop {
}; ///< running stages are abandoned (their nodes return to the queue), the engine ends

struct SetPinned {
    NodeId node;
    bool pinned;
};
struct SetPruned {
    NodeId node;
    bool pruned;
};
struct SetBoost {
    NodeId node;
    double boost;
};
struct EditIdea {
    NodeId node;
    std::string title, text;
}; ///< only while it is a draft
struct AddIdea {
    NodeId parent;
    std::string title, text;
}; ///< under a root or candidate
struct Inject {
    std::optional<NodeId> parent;
    std::string title, source;
}; ///< an own kernel as a candidate or root

/// The engineer's word against the judge's. The judge's stays in the records; the act is stored and never removed.
struct Overturn {
    NodeId node;
    bool passed = false;
    std::string reason;
};

/// Asks a model again: for a candidate that it wrote another one under the same idea; for an idea, a root or any other
/// candidate (and where `ideas` is set) new ideas. `prompt`: own words instead of the assembled ones. It is sent when
/// the run goes on.
struct Ask {
    NodeId node;
    std::string prompt;
    bool ideas = false;
};
/// A kernel that has its verdict is judged once more on new inputs: at once, whether the session runs or not, and
/// beside its budget. What was not looked at again stays; a rejection replaces the verdict.
struct JudgeAgain {
    NodeId node;
    Again what = Again::Verify;
};
struct AddHint {
    std::string text;
}; ///< stands in every prompt from now on
struct RemoveHint {
    int number = 1;
}; ///< in the order in which they were given
struct Attach {
    std::string name, text;
}; ///< a document or example; an empty text removes it

/// A technique that is not wanted. `text` stands in every prompt; `predicate` (may be empty) is held by the judge for
/// every candidate judged from then on, in the language of the contract's limits: "fp16_instructions == 0".
struct Ban {
    std::string text;
    std::string predicate;
};
struct LiftBan {
    int number = 1;
}; ///< in the order in which they were given
struct SetBranchBudget {
    NodeId node;
    BranchBudget budget;
}; ///< from now on; none(): no limit any more
/// Some of the branch's limits, from now on; the others stay as they are. `lift`: as ChangeBudget's.
struct ChangeBranchBudget {
    NodeId node;
    BranchBudget set;
    std::vector<std::string> lift;
};
struct SetBudget {
    Budget budget;
}; ///< the session's limits; starts nothing
/// Some of the session's limits; the others stay as they are when it is done. `lift`: names of those that hold no more,
/// as Budget calls them ("usd", "roof"); what is in `set` as well holds.
struct ChangeBudget {
    Budget set;
    std::vector<std::string> lift;
};
struct SetStrategy {
    std::string words;
}; ///< another one takes over; the session keeps it
/// Others take part from now on, whether the session runs or not. `models`: records of profiles that join the session's
/// (profile_record.h); a model takes the place of one with its name. `llm`: how much they are asked for; empty: as
/// before.
struct ChangeProposers {
    std::vector<std::string> add, remove; ///< playbook, tuner, llm, command, manual, replay
    std::vector<std::string> models;
    std::string llm;
};
struct CrossOver {
    NodeId first, second;
}; ///< an idea of two passed kernels that comes next
/// What is asked, built or judged of a candidate is abandoned; it ends as cancelled and does not come back.
struct Kill {
    NodeId node;
};
/// Takes back the engineer's last pin, prune, boost, edit, hint, attached text, ban, budget, strategy or change of
/// proposers; what they let grow (an idea, an own kernel, a crossing) is pruned. Again: the act before.
struct Undo {
};

struct FetchExchanges {
    NodeId node;
}; ///< answered by event::Exchanges
struct FetchDetail {
    NodeId node;
}; ///< answered by event::Detail
struct FetchListings {
    NodeId node;
}; ///< PTX and machine code; answered by event::Listings
struct Export {
    NodeId node;
    std::string form;
    std::string folder;
}; ///< answered by event::Exported
struct Repro {
    NodeId node;
    std::string folder;
}; ///< one program to profile; answered by event::ReproWritten

using Command = std::variant<Run, Pause, Step, Stop, SetPinned, SetPruned, SetBoost, EditIdea, AddIdea, Inject,
                             Overturn, Ask, JudgeAgain, AddHint, RemoveHint, Attach, Ban, LiftBan, SetBranchBudget,
                             ChangeBranchBudget, SetBudget, ChangeBudget, SetStrategy, ChangeProposers, CrossOver, Kill,
                             Undo, FetchExchanges, FetchDetail, FetchListings, Export, Repro>;

} // namespace espalier::command
