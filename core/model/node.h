// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"
#include "core/model/evaluation.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

enum class NodeKind { Root, Idea, Candidate };
/// Draft: written, not implemented or built yet. Queued: waits for its turn. Running: some stage is at work (never
/// found in a session after it was reopened). Done: has an outcome (candidates), or every planned implementation exists
/// (ideas).
enum class NodeState { Draft, Queued, Running, Done };
enum class EdgeRole { Primary, Crossover, Repair };

std::string_view nameOf(NodeKind kind);
std::string_view nameOf(NodeState state);
std::string_view nameOf(EdgeRole role);
std::optional<NodeKind> nodeKindNamed(std::string_view name);
std::optional<NodeState> nodeStateNamed(std::string_view name);
std::optional<EdgeRole> edgeRoleNamed(std::string_view name);

struct Edge {
    NodeId parent;
    EdgeRole role = EdgeRole::Primary;
    bool operator==(const Edge&) const = default;
};

/// A verdict that a person set aside. The judge's own stays in the records and is shown beside it.
struct Overturn {
    Outcome as = Outcome::Passed;     ///< Passed, or Incorrect for "rejected"
    std::string reason, author, at;   ///< `at`: ISO 8601, UTC
    Outcome judged = Outcome::NotRun; ///< what the judge had said
    bool operator==(const Overturn&) const = default;
};

/// What a branch (a node and everything below it) may spend, from the moment it is set: candidates, tokens and money of
/// models, seconds of the device. nullopt: no limit.
struct BranchBudget {
    std::optional<std::int64_t> evaluations, tokens;
    std::optional<double> usd, seconds;
    bool operator==(const BranchBudget&) const = default;
    bool none() const { return !evaluations && !tokens && !usd && !seconds; }
};
struct BranchSpending {
    std::int64_t evaluations = 0, tokens = 0;
    double usd = 0, seconds = 0;
    bool operator==(const BranchSpending&) const = default;
    BranchSpending operator+(const BranchSpending& other) const;
    BranchSpending operator-(const BranchSpending& other) const;
    bool reaches(const BranchBudget& budget) const; ///< some limit of it
};

/// The light part of a node: what a tree, a table or a strategy needs. A value; crosses threads by copy.
struct NodeSummary {
    NodeId id{0};
    NodeKind kind = NodeKind::Root;
    NodeState state = NodeState::Draft;
    std::vector<Edge> parents; ///< the Primary one first; empty for a root
    int ordinal = 0;           ///< among the children of its primary parent, from 0
    std::string title;         ///< a few words
    std::string proposer;      ///< "playbook", "tuner", "manual", "engineer", …
    bool pinned = false, pruned = false;
    double boost = 1;
    std::optional<Stage> runningStage;
    Outcome outcome = Outcome::NotRun;
    NotRunCause cause = NotRunCause::None;
    std::string reason; ///< one sentence
    std::optional<Provenance> provenance;
    std::optional<Interval> timeUs; ///< the objective
    std::optional<Interval> speedupRoot, speedupParent, speedupIncumbent;
    std::optional<Interval> speedupLibrary; ///< over the fastest library that was timed beside it
    std::string library;                    ///< that one's name; empty: none was
    std::string epoch;                      ///< of the figures; those of two epochs are never ranked with each other
    bool tieWithParent = false;
    int registers = 0;                  ///< a thread, of its kernel that takes most; 0: not built, or not known
    bool measuredAgain = false;         ///< a winner: its figures are those of the full tier, on new inputs
    bool timedElsewhere = false;        ///< on another device of the kind, which is a little faster or slower
    bool olderEdition = false;          ///< judged under an earlier edition of the task: ranked, never exported
    bool guardBroken = false;           ///< slower in some case than the objective's guard allows: never the best
    std::int64_t tokens = 0;            ///< of the requests to models about it
    std::optional<double> usd;          ///< likewise; nullopt: nothing was asked, or a price is not known
    std::optional<Overturn> overturned; ///< `outcome` is then the person's
    std::string banned;  ///< its build holds what the engineer has banned: it is out of the search; a sentence; empty:
                         ///< it does not
    BranchBudget budget; ///< of the branch, as the engineer set it
    BranchSpending branchSpent; ///< by the branch since then; nothing without a budget
    bool operator==(const NodeSummary&) const = default;
};

/// The heavy part, fetched on demand. Shared as `shared_ptr<const NodeDetail>`.
struct NodeDetail {
    NodeSummary summary;
    std::string ideaText;     ///< ideas: the words; candidates: those of the idea behind them
    std::string source;       ///< candidates and roots: the whole .cu
    std::string parentSource; ///< of the nearest candidate or root above; empty for a root
    std::optional<NodeId> parentCandidate;
    Evaluation evaluation;
    std::string createdAt; ///< ISO 8601, UTC
    std::string why;       ///< why the search chose it, for a person; empty: nobody chose (a root, the engineer's own)
};

} // namespace espalier
