// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/evaluation.h"
#include "core/model/task.h"
#include "core/propose/background.h"
#include "core/propose/exchange_log.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace espalier {

/// One idea a proposer offers. A value.
struct ProposedIdea {
    std::string key; ///< names the idea among its proposer's; the same key under the same parent is the same idea
    std::string title, text;
    std::string payload;     ///< JSON object of the proposer's own, handed back to implement()
    int implementations = 1; ///< candidates planned for it
};

/// An idea on the way from the root to a parent, nearest last.
struct LineageStep {
    std::string proposer, key;
    bool operator==(const LineageStep&) const = default;
};

/// What a proposer may know when it is asked for ideas under one root or candidate. Only outcomes that the search has
/// consumed are in it, so that the same seed and the same answers give the same tree.
struct IdeaContext {
    std::shared_ptr<const Task> task;
    std::uint64_t seed = 0;
    NodeId parent{0};
    bool parentIsTaskRoot = false;
    std::string parentSource;
    std::string parentTitle;           ///< "root" for the task's
    std::optional<double> parentScore; ///< speed-up over the root
    std::string parentProposer;        ///< who made the parent; "task" for the task's root
    std::vector<LineageStep> lineage;  ///< the ideas that the parent implements
    bool independent = false;          ///< everything that can be tried on the root by itself (strategy `sample`)
    std::shared_ptr<const Background> background; ///< where the proposer reads it (Proposer::readsBackground)
    std::string prompt; ///< the engineer's own words instead of the assembled prompt; empty: none
    int round = 0;      ///< above 0: asked again by the engineer, for the nth time
};

/// An earlier implementation of the same idea.
struct EarlierTry {
    int ordinal = 0;
    std::string payload;
    std::optional<Outcome> outcome; ///< nullopt: not known yet
    std::optional<double> score;    ///< speed-up over the root; only for Passed in the current epoch
};

/// What a proposer may know when it is asked for the next implementation of an idea.
struct ImplementContext {
    std::shared_ptr<const Task> task;
    std::uint64_t seed = 0;
    NodeId idea{0};
    std::string key, title, text, payload; ///< the idea's
    NodeId parent{0};
    std::string parentSource;
    std::optional<double> parentScore; ///< speed-up over the root
    int ordinal = 0;                   ///< of the wanted implementation, from 0; repairs do not count
    std::vector<EarlierTry> earlier;   ///< in order of their ordinals
    NodeId node{0};                    ///< the candidate that is to be written
    std::optional<FailedTry> failed;   ///< a repair: what is to be mended
    std::optional<RefinedTry> refined; ///< the fastest passed implementation before this one; never with `failed`
    std::shared_ptr<const Background> background;
    std::string prompt;           ///< the engineer's own words instead of the assembled prompt; empty: none
    std::optional<NodeId> second; ///< crossovers: the other parent
    std::string secondSource;
};

/// What a proposer may know when it is asked what a session has taught.
struct LessonsContext {
    std::shared_ptr<const Task> task;
    std::uint64_t seed = 0;
    NodeId node{0}; ///< under which the question is kept: the task's root
    std::shared_ptr<const Background> background;
};

/// Two kernels that are to be crossed.
struct CrossingContext {
    std::shared_ptr<const Task> task;
    std::uint64_t seed = 0;
    NodeId first{0};
    std::string firstSource;
    NodeId second{0};
    std::string secondSource, secondTitle;
};

namespace proposer {
/// An idea that was offered and does not enter the tree.
struct DroppedIdea {
    std::string title, text, reason;
};
struct Ideas {
    RequestId id;
    std::vector<ProposedIdea> ideas;
    std::vector<DroppedIdea> dropped;
    bool postponed = false; ///< no answer now (Proposer::held): to be asked again
};
struct Implementation {
    RequestId id;
    std::string source;     ///< the whole .cu; empty when there is none
    std::string title;      ///< a few words for the candidate; empty: the idea's
    std::string payload;    ///< JSON object of the proposer's own
    std::string reason;     ///< why there is no source: one sentence
    bool exhausted = false; ///< the idea has no further implementations (this answer has none either)
    std::int64_t tokens = 0;
    double usd = 0;
    bool postponed = false; ///< no answer now (Proposer::held): to be asked again
};
using Answer = std::variant<Ideas, Implementation>;
/// What a session has taught; none where `reason` says why.
struct Lessons {
    std::vector<std::string> lessons;
    std::string reason;
};
} // namespace proposer

/// Why a proposer asks nothing more for now.
struct Held {
    bool spent = false; ///< a cap of the engineer's; else something outside that a person must mend
    std::string sentence;
};

/// Where ideas and kernels come from. Requests carry an id of the caller's; answers are collected by receive().
/// Proposers that need nothing from outside answer at once: their descriptor is -1 and the answer to a request is there
/// when the call returns. Thread: the engine's; nothing blocks. Errors: a proposer that fails answers with no ideas, or
/// with no source and its reason; it never throws.
class Proposer
{
public:
    virtual ~Proposer() = default;
    virtual std::string_view name() const = 0;
    virtual void ideas(RequestId id, const IdeaContext& context) = 0;
    virtual void implement(RequestId id, const ImplementContext& context) = 0;
    virtual void cancel(RequestId id) = 0;
    /// An idea under the first of two kernels that takes over what is good in the second; nullopt: it cannot make one
    /// of these. Answered at once; the work is implement()'s.
    virtual std::optional<ProposedIdea> crossing(const CrossingContext&) const { return std::nullopt; }
    /// Kernels that will be asked for if the implementation of idea `key` passes (empty: the root), where that is
    /// known: idle builders compile them ahead. A hint: nothing depends on it.
    virtual std::vector<std::string> sourcesAfter(const Task&, const std::string& key) const
    {
        (void)key;
        return {};
    }
    /// It wants `background` in its contexts: that costs reading, so it is made for those only.
    virtual bool readsBackground() const { return false; }
    virtual int repairs() const { return 0; } ///< how often a candidate of its own that failed may be mended
    /// Set while requests cannot go out: a cap, a quota, a refused key. What it was asked is answered `postponed`, and
    /// other proposers go on.
    virtual std::optional<Held> held() const { return std::nullopt; }
    virtual void goOn() {} ///< the run goes on: what held it may be mended
    /// The run pauses, or ends: nobody waits for an answer any more. What was asked and has none stays open, and
    /// nothing new leaves, until resume() asks all of it again as it was. `readOn`: answers that are coming may still
    /// end (readsOn()).
    virtual void pause(bool readOn) { (void)readOn; }
    virtual void resume() {} ///< does nothing when nothing was paused
    /// Paused, and answers are coming still: for how many seconds more they are read at most.
    virtual std::optional<double> readsOn() const { return std::nullopt; }
    /// Before the first request: where exchanges are kept. The log outlives the proposer.
    virtual void keepExchanges(ExchangeLog&) {}
    /// What the session has taught, for later ones. One question at a time, asked when nothing else is; takeLessons()
    /// has the answer after some receive(). False: it has nothing to say.
    virtual bool askLessons(const LessonsContext&) { return false; }
    virtual std::optional<proposer::Lessons> takeLessons() { return std::nullopt; }
    virtual void cancelLessons() {}
    virtual int descriptor() const { return -1; }
    virtual int timeoutMilliseconds() const { return -1; } ///< until receive() is due without input; -1: none
    virtual std::vector<proposer::Answer> receive() = 0;
};

} // namespace espalier
