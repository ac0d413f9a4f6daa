// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/proposer_set.h"
#include "core/search/act_history.h"
#include "core/search/branch_limits.h"
#include "core/search/candidate_pipeline.h"
#include "core/search/ended_record.h"
#include "core/search/exchange_book.h"
#include "core/search/node_payload.h"
#include "core/search/record_merge.h"
#include "core/search/similarity.h"
#include "core/search/strategy.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace espalier {

/// Grows the tree: asks the strategy what to expand and the proposers for ideas and kernels, stores the new nodes and
/// hands them to the pipeline.
///
/// Determinism. Candidates are requested ahead of their outcomes, up to `window` at a time, and outcomes are consumed
/// in the order of the requests, whatever the order in which they arrive, and only when a decision needs one more. So
/// the n-th decision is a function of the outcomes before it and not of builders, pauses or restarts. What has been
/// consumed is stored; a reopened session decides what the old one would have decided.
///
/// Thread: the engine's. Refers to everything it is given. Errors: a store that fails stops planning (trouble()); the
/// decision is made again when the run goes on.
class Planner
{
public:
    struct Setup {
        std::shared_ptr<const Task> task;
        std::uint64_t seed = 1;
        int window = 6;
        ExchangeBook* exchanges = nullptr; ///< what requests have cost; nullptr: nothing is known
        std::string deviceSheet;           ///< for proposers that read it
        std::string lessons;               ///< of earlier sessions
        std::int64_t firstRequest = 1;     ///< above every id of an earlier planner with the same proposers
        /// Has a candidate's time taken in the full tier (onMeasuredAgain() brings it); false when that cannot be.
        /// Empty: figures need no second look.
        std::function<bool(NodeId)> takeFullTime;
    };
    enum class State {
        Working,   ///< waits for outcomes or answers
        Limited,   ///< could go on, but the budget or the step is used up
        Exhausted, ///< nothing is left to try
    };

    Planner(Setup setup, const Strategy& strategy, ProposerSet& proposers, SessionJournal& journal, ActHistory& acts,
            NodeBook& book, CandidatePipeline& pipeline);

    /// Takes the session's nodes and records. The task's root must be among them.
    /// `nodes`: without their sources (Store::Sources::Without).
    Result<void> restore(const std::vector<StoredNode>& nodes, const SearchFrame& frame);
    /// Decides as long as it can. `room`: evaluations that may still be requested; `steps`: expansions (nullopt: any).
    State pump(std::int64_t room, std::optional<int>& steps);
    void onEnded(NodeId node, const Evaluation& evaluation);
    /// A winner was measured once more: what is known of it changes, the decisions taken stay. `seconds`: that the
    /// device was busy with it; 0: its figures follow from measurements that there are.
    void onMeasuredAgain(NodeId node, const Evaluation& evaluation, double seconds);
    void onProposers(); ///< one of their descriptors is readable or a timeout passed
    std::optional<Error> takeTrouble();
    void goOn(); ///< the run goes on: what held proposers may be mended
    /// Nobody waits for answers any more: Proposer::pause().
    void pauseQuestions(bool readOn);
    void resumeQuestions(); ///< what rested is asked again, as it was
    /// Paused, and answers are coming still: for how many seconds more they are read at most.
    std::optional<double> readsOn() const;
    void setStrategy(const Strategy& strategy) { m_strategy = &strategy; } ///< decides from now on; must outlive this
    /// Others take part from now on (ProposerSet::change): whoever joins is asked under the parents that are there,
    /// what was asked of those who leave is asked of nobody, and ideas are open to whoever implements them now.
    void changeProposers(const std::vector<std::string>& names, ProposerSet::List made);
    /// What happens next, at most `most` entries; one call of the strategy, and nothing changes.
    std::vector<PlannedStep> plannedSteps(std::size_t most) const;
    /// A large session's texts are read for comparison a few at a time, before a model's first kernel needs them. True:
    /// more are left. To be called while nothing else is to do.
    bool indexAhead();
    /// Once nothing is left to try: what the search was kept from, and the remedy; else that every idea was tried.
    std::string whyExhausted() const;
    const SearchTree& tree() const { return m_tree; }
    std::int64_t nextRequest() const { return m_nextRequest; }
    bool awaitsProposers() const { return m_asking.has_value() || !m_generating.empty(); }
    std::int64_t tokens() const { return m_tokens; }
    /// What a notebook is written from: all that was consumed.
    Result<LessonsContext> lessonsContext();
    double usd() const { return m_usd; }

    // The engineer's acts. Errors: NotFound, InvalidInput, the store's.
    Result<NodeId> addIdea(NodeId parent, const std::string& title, const std::string& text);
    Result<void> editIdea(NodeId idea, const std::string& title, const std::string& text);
    /// `as`: Passed or Incorrect. Errors: no verdict of the judge's to overturn, no reason given.
    Result<void> overturn(NodeId node, Outcome as, const std::string& reason);
    Result<NodeId> inject(std::optional<NodeId> parent, const std::string& title, const std::string& source);
    Result<void> setPinned(NodeId node, bool pinned);
    Result<void> setPruned(NodeId node, bool pruned);
    Result<void> setBoost(NodeId node, double boost);
    /// Asks a model again for what it made: a candidate anew under its idea, or (an idea, a root, `ideas`) new ideas
    /// under the parent. `prompt`: the engineer's own words; empty: as assembled. It is asked when the run goes on.
    Result<void> ask(NodeId node, const std::string& prompt, bool ideas);
    Result<void> addHint(const std::string& text);
    Result<void> removeHint(int number);               ///< from 1, in the order in which they stand
    Result<void> attach(const Attachment& attachment); ///< an empty text takes it away
    Result<void> ban(const std::string& text, const std::string& predicate);
    Result<void> liftBan(int number); ///< from 1, in the order in which they stand
    Result<void> setBranchBudget(NodeId node, const BranchBudget& budget);
    /// Limit by limit; `lift`: names of those that hold no more.
    Result<void> changeBranchBudget(NodeId node, const BranchBudget& set, const std::vector<std::string>& lift);
    /// An idea with both parents, from the first proposer that can make one; it is the next to be implemented.
    Result<NodeId> crossOver(NodeId first, NodeId second);
    Result<void> kill(NodeId node);
    /// What puts in place again what an act replaced; acts of the engine's own fields are not known here. Errors:
    /// InvalidInput: it cannot be taken back any more.
    Result<Change> changeBack(const Replaced& replaced);
    const std::vector<BannedTechnique>& bans() const { return m_bans; }
    const std::vector<std::string>& hints() const { return m_hints; }
    const std::vector<Attachment>& attachments() const { return m_attachments; }

private:
    struct AskedProposer {
        RequestId request{0};
        Proposer* proposer = nullptr;
        std::optional<proposer::Ideas> answer;
    };
    struct Asking {
        NodeId parent{0};
        std::vector<AskedProposer> answers;
        bool byHand = false; ///< the engineer asked
        std::string why;     ///< for a person
    };
    struct IdeaRequest { ///< of the engineer's
        NodeId parent{0};
        std::string prompt;
        int round = 1;
    };
    struct Generating {
        RequestId request{0};
        NodeId node{0};
        std::optional<proposer::Implementation> answer;
    };

    State decide(std::int64_t room, std::optional<int>& steps);
    bool consumeHead();
    bool awaitsFullTime(NodeId head);
    std::int64_t unfinished() const;
    void askIdeas(NodeId parent, const IdeaRequest* byHand, const std::string& why);
    std::string whyAsked(NodeId parent);
    void finishAsking();
    bool addIdeas(const TreeNode& parent, const Proposer& proposer, const std::vector<ProposedIdea>& ideas,
                  const std::string& why);
    StoredNode ideaNode(NodeId parent, const Proposer& proposer, const ProposedIdea& idea,
                        const std::string& why) const;
    void crossOver(const decision::Crossover& decided);
    Result<std::optional<StoredNode>> crossing(NodeId first, NodeId second, const std::string& why, bool byHand);
    std::optional<NodeId> crossedByHand() const;
    void endKilled(NodeId node);
    void restoreKills(const std::vector<StoredAct>& acts);
    Change overturnChange(NodeId node, const std::optional<Overturn>& overturn);
    Change bansChange(std::vector<BannedTechnique> bans);
    void applyBans();
    void noteBan(NodeId node, const Evaluation& evaluation);
    void followBook(NodeId node);
    std::optional<NodeId> twinOf(const std::string& identity) const;
    bool prunedUnjudged(NodeId node) const;
    Result<std::optional<NodeId>> putBack(std::optional<NodeId> parent, const std::string& identity);
    Result<void> restoreBans();
    Change branchBudgetChange(NodeId node, const std::string& text);
    Result<void> checkBranch(NodeId node, const BranchBudget& budget) const;
    Result<void> performBranchLimits(NodeId node, const BranchBudget& set, const std::vector<std::string>& lift,
                                     const BranchLimits& limits);
    void applyBranchBudget(NodeId node, const BranchLimits& limits);
    Result<void> restoreBranchBudgets();
    void settleSpending(NodeId node);
    void showBranchBudgets();
    Change hintsChange(std::vector<std::string> hints);
    Change attachmentChange(const Attachment& attachment);
    static Replaced grown(NodeId node); ///< what has grown is never removed: taken back it is pruned
    Result<Change> nodeChange(NodeId node, const std::function<void(StoredNode&)>& edit);
    void unparkRestored();
    std::vector<std::string> hintsForPrompts() const;
    NodeId prunedAbove(NodeId id) const;
    std::vector<std::string> keptBack() const;
    std::string answersWithoutIdeas() const;
    bool implement(NodeId idea, std::optional<NodeId> failed, const std::string& why);
    std::optional<NodeId> nextRepair() const;
    bool mendable(const TreeNode& node) const;
    void applyHolds();
    void park(NodeId node);
    void unpark(NodeId node);
    void noteDropped(NodeId parent, const Proposer& proposer, const std::vector<proposer::DroppedIdea>& dropped);
    Result<void> keepIdeaRequests();
    Result<void> restoreAsks();
    void requestUnanswered(std::optional<int>& steps);
    Result<void> restoreNode(const StoredNode& outline, const NodePayload& payload);
    void restoreEnded(NodeId id, const EndedRecord& record);
    void restoreIdeaState(const TreeNode& idea);
    void findCutOffAsk();
    void collect();
    void finishGenerating();
    Result<void> addCandidate(StoredNode node);
    void placeCandidate(const StoredNode& node);
    void enter(StoredNode node, const proposer::Implementation& answer, bool stored);
    std::vector<std::string> foreseenAfter(const StoredNode& node) const;
    void admit(const StoredNode& node, const MergedRecords* records);
    void updateIdeaState(NodeId idea);
    Result<void> grow(const StoredNode& node);
    void place(const StoredNode& node);
    void place(const StoredNode& node, const NodePayload& payload);
    Result<StoredNode> stored(NodeId id);
    Result<void> change(NodeId id, const char* what, const char* field, const std::function<void(StoredNode&)>& edit);
    void release(Proposer& leaving);
    Result<void> settleAsked();
    Result<void> settleWriters();
    void applyWords(TreeNode& idea, const StoredNode& node, const NodePayload& payload) const;
    Result<ImplementContext> implementContext(NodeId idea, NodeId node, std::optional<NodeId> failed);
    Result<IdeaContext> ideaContext(NodeId parent);
    Result<std::shared_ptr<const Background>> background(NodeId parent);
    Result<void> addOpenIdeas(Background& background, NodeId parent);
    KnownTry knownTry(const TreeNode& node) const;
    Result<std::vector<Exemplar>> exemplars(NodeId parent, const std::vector<KnownTry>& tried);
    Result<std::optional<RefinedTry>> refinedTry(NodeId idea, NodeId before);
    Result<Evaluation> evaluationOf(NodeId node);
    std::vector<LineageStep> lineageOf(NodeId id) const;
    std::vector<NodeId> mayHaveReadFrom(NodeId node) const;
    std::vector<Evidence> likeness(const StoredNode& node);
    std::optional<NodeId> firstWithIdentity(const std::string& identity, NodeId before);
    void knowSource(const std::string& identity, NodeId node);
    void indexTexts(std::size_t most);
    void trouble(Error error) { m_trouble = std::move(error); }

    Setup m_setup;
    const Strategy* m_strategy;
    ProposerSet& m_proposers;
    SessionJournal& m_journal;
    ActHistory& m_acts;
    NodeBook& m_book;
    CandidatePipeline& m_pipeline;
    SearchTree m_tree;
    std::shared_ptr<const Task> m_heldTask;   ///< the task as candidates are held to it: with the bans
    std::deque<NodeId> m_inFlight;            ///< requested, not consumed; in id order
    std::set<NodeId> m_parked;                ///< taken out because they were pruned before they ran
    std::map<NodeId, Verdict> m_arrived;      ///< not consumed yet
    std::set<NodeId> m_fullTimeAsked;         ///< since the run last went on
    std::map<NodeId, std::string> m_payloads; ///< of candidates, the proposer's part
    std::map<std::string, NodeId> m_sources;  ///< by identity; the oldest node
    std::set<NodeId> m_endedByBan;            ///< built and never judged
    SimilarityIndex m_similar;
    std::deque<NodeId> m_unindexed; ///< nodes whose texts m_similar does not know yet, in the order in which they came
    std::optional<Asking> m_asking;
    std::deque<Generating> m_generating; ///< in request order
    std::vector<NodeId> m_unwritten;     ///< the engineer's ideas that no proposer implements
    std::vector<NodeId> m_unanswered;    ///< asked for in an earlier run that ended before the answer
    std::vector<NodeId> m_postponed;     ///< asked for while their proposer is held
    std::optional<NodeId> m_cutOffAsk;   ///< a parent that an earlier run was asking when it ended
    std::set<NodeId> m_heldIdeas;        ///< no candidates of them while their proposer is held
    std::set<NodeId> m_askAgain;         ///< parents whose ideas were asked for while a proposer was held
    std::deque<IdeaRequest> m_ideaRequests;
    std::map<NodeId, std::string> m_whys; ///< of what is in flight: why it was chosen
    std::vector<std::string> m_hints;
    std::vector<BannedTechnique> m_bans;
    std::vector<Attachment> m_attachments;
    std::int64_t m_nextRequest;
    std::int64_t m_consumed = 0;
    std::int64_t m_tokens = 0;
    double m_usd = 0;
    std::optional<Error> m_trouble;
};

} // namespace espalier
