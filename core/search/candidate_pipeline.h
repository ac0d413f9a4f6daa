// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/incumbent.h"
#include "core/model/again.h"
#include "core/search/fault_blame.h"
#include "core/search/judge_losses.h"
#include "core/search/library_shelf.h"
#include "core/search/node_book.h"
#include "core/search/session_journal.h"
#include "core/worker/evaluator.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace espalier {

/// A candidate on its way through the stages, as it enters.
struct PassStart {
    NodeId node{0};
    std::string source;
    std::optional<std::string> parentSource; ///< of the nearest candidate above, unless that is the task's root
    Evaluation soFar;                        ///< records of stages that an earlier run finished
    bool built = false;                      ///< the build stage is among them
    std::optional<VerifyRecord> verified;    ///< the verify stage is among them
    std::vector<std::string> foreseen;       ///< sources that will follow if it passes: compiled ahead by idle builders
    std::vector<Evidence>
        remarks;      ///< what is known of the source before it is built; joins the evidence, changes no outcome
    bool own = false; ///< the engineer's: judged whatever is left of the budget
    std::optional<Again> again; ///< it has its verdict (`soFar`, whole) and is judged once more, beside the allowance
};

namespace pipeline {
struct Ended {
    NodeId node;
    Evaluation evaluation;
    bool again = false; ///< it had a verdict before
}; ///< stored
struct Trouble {
    Error error;
}; ///< of ours (store, compiler, judge): nothing new starts; the nodes are in the queue
struct Broken {
    Error error;
}; ///< oracle or root do not serve: the run cannot go on
struct Note {
    std::string text;
};
using Event = std::variant<Ended, Trouble, Broken, Note>;
} // namespace pipeline

/// Carries candidates through build → verify → time: on all builders, then one after the other through the judge (of
/// each device), which gets the oldest built candidate first and the task's root before all. Each stage's record is
/// stored before anything tells of it; a record that could not be stored is kept and written first when the run goes
/// on. Thread: the engine's; nothing blocks but the store. Refers to journal, book, pool; the evaluator comes and goes
/// (a lost judge is no verdict: the candidate is tried again).
class CandidatePipeline
{
public:
    struct Setup {
        std::shared_ptr<const Task> task;
        std::string architecture;
        std::string epoch;
        int builders = 1;
        bool withBaselines = true; ///< not on the simulated device
        bool simulated = false;    ///< the PTX is what runs
        std::optional<Incumbent> incumbent;
        Tier tier = Tier::Quick;
        Profiling profiling = Profiling::Off; ///< of every candidate that passes; winners are at least Core
    };

    CandidatePipeline(Setup setup, SessionJournal& journal, NodeBook& book, BuildPool& pool);

    void add(PassStart start);
    /// A program that has a verdict, of an earlier run; the oldest node counts. Empty: not known.
    void knowProgram(const std::string& program, NodeId node);
    /// Ends a candidate that has nothing to build: no answer, or a source that another node has.
    void endWithoutSource(NodeId node, std::string reason);
    /// Who verifies and times; nullptr while there is none.
    void setEvaluator(Evaluator* evaluator);
    /// Starts stages, or lets running ones end only. `allowance`: candidates that may still start (the root and the
    /// engineer's own kernels do whatever it is).
    /// `own`: whether the engineer's own kernels are held to the allowance (a step) or not (a budget).
    enum class OwnKernels { Free, Counted };
    void setLaunching(bool launching, std::int64_t allowance, OwnKernels own = OwnKernels::Free);
    void flush(); ///< writes what could not be written; Trouble again when it still cannot

    void pump();        ///< starts what can be started
    void onBuildPool(); ///< its descriptor is readable
    void onProgress(const evaluator::Progress& event);
    void onVerified(const evaluator::Verified& event);
    void onFinished(const evaluator::Finished& event);
    /// The judge is gone: its candidate goes back to the queue. One that has lost it too often ends as not run once a
    /// control has shown that the root can be run. True: it cannot, either; the device must be looked at.
    bool onLost(const evaluator::Lost& event);
    void abandon(); ///< cancels what runs; the nodes return to the queue
    /// Kernels that wait to be judged again keep the figures they have.
    void forgetAgain();
    bool judgedAgain(NodeId node) const; ///< waits for it, or is under way
    /// The engineer's bans, for every candidate judged from now on (the task's root is none): on what the code holds,
    /// and the task that says them to the judge.
    void setBans(std::vector<Limit> limits, std::shared_ptr<const Task> task);
    /// Abandons what is built or judged of it; it ends as cancelled. What is judged again keeps its verdict.
    void kill(NodeId node);
    std::vector<pipeline::Event> take();

    bool hasUnwritten() const { return !m_unwritten.empty(); }
    bool quiet() const; ///< nothing runs
    bool idle() const;  ///< quiet, and nothing waits to be written or told, nor for a builder
    int building() const;
    int waiting() const;        ///< for the judge
    bool hasCandidates() const; ///< that can be built or judged, other than the root and what is judged again
    int judging() const { return static_cast<int>(m_judging.size()); }
    std::optional<NodeId> judgingAgain() const; ///< with the judge once more
    std::int64_t active() const;                ///< passes that have started, the root's not counted

private:
    enum class Step { Queued, Building, Built, Judging };
    struct Pass {
        PassStart start;
        BuildOrder order;
        std::string key;
        std::string host, program; ///< program_identity.h; the latter once it is built
        Step step = Step::Queued;
        std::vector<BuildOrder> foreseen;
    };
    struct Reference { ///< oracle, incumbent or baseline, by the order's role
        std::string id;
        BuildOrder order;
        std::string key;
        std::optional<Library> library;
        bool failed = false;
    };
    struct Unwritten {
        NodeId node;
        Evaluation record;
        double seconds;
        bool ends;
        bool stageWritten = false;
        bool again = false;
    };

    bool isFree(NodeId node, const Pass& pass) const; ///< the allowance does not hold it back
    void startBuilds();
    bool mayBuild(NodeId node, const Pass& pass) const;
    bool awaitsBuilder() const;
    void buildAhead();
    void cancelAhead();
    void startJudging();
    void startJudgeControl();
    void endJudgeControl(const Evaluation* control);
    void nameProgram(Pass& pass, const Library& library, BuildRecord& build);
    bool awaitsTwin(NodeId node, const Pass& pass) const;
    bool endIfTwin(NodeId node, Pass& pass);
    void endTwins();
    void applyBuild(Pass& pass, const BuildResult& result);
    std::vector<NodeId> awaiting(const std::string& key) const;
    std::vector<NodeId> rebuilding(const std::string& key) const;
    void convict(const std::string& key, const Evaluation& fault);
    bool isCandidates(const std::string& key) const;
    void blame(const std::string& key, const Evaluation& fault);
    void endBuildControl(const Evaluation& control);
    void applyReference(Reference& reference, const BuildResult& result);
    bool referencesReady() const;
    bool obtain(const BuildOrder& order, std::optional<Library>& library);
    std::optional<EvaluationJob> jobFor(Pass& pass);
    Pass* judged(RequestId id);
    std::int64_t paidJudgings() const; ///< under way, of those that the allowance counts
    std::optional<RequestId> judgingOf(NodeId node) const;
    void forgetAgain(NodeId node, const std::string& why);
    void endJudged(Pass& pass, Evaluation evaluation);
    bool lose(Pass& pass, const std::string& why);
    void endLost();
    void keepLosses();
    void toQueue(Pass& pass);
    void record(Unwritten item);
    Result<void> write(Unwritten& item);
    void written(const Unwritten& item);
    bool endIfBanned(const Pass& pass, const BuildResult& result);
    void trouble(Error error);
    void broken(std::string message);

    Setup m_setup;
    std::vector<Limit> m_bans;
    std::shared_ptr<const Task> m_heldTask; ///< with the bans
    SessionJournal& m_journal;
    NodeBook& m_book;
    LibraryShelf m_shelf;
    Evaluator* m_evaluator = nullptr;
    BuildOrder m_rootOrder;
    std::vector<Reference> m_references;
    std::map<NodeId, Pass> m_passes;
    std::map<std::string, NodeId> m_programs; ///< those with a verdict; the oldest node
    std::map<RequestId, NodeId> m_judging;    ///< at most one a lane of the evaluator's
    std::int64_t m_nextRequest = 1;
    bool m_launching = false;
    std::int64_t m_allowance = 0;
    OwnKernels m_own = OwnKernels::Free;
    BuildFaults m_buildFaults;
    JudgeFaults m_judgeFaults;
    JudgeLosses m_losses;
    std::set<std::string> m_ahead; ///< keys that are being compiled and that nothing waits for yet
    std::vector<Unwritten> m_unwritten;
    std::vector<pipeline::Event> m_events;
};

} // namespace espalier
