// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"
#include "core/model/evaluation.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// A candidate whose outcome the search has consumed, as one may be told of it.
struct KnownTry {
    NodeId node{0};
    std::optional<NodeId> parent; ///< the root or candidate that its idea stands under
    std::string title, ideaText, proposer, payload;
    Outcome outcome = Outcome::NotRun;
    std::string reason;
    std::optional<double> score;       ///< speed-up over the root, of the current epoch
    std::optional<double> parentScore; ///< likewise, of `parent`
    std::int64_t tokens = 0;           ///< of the requests that made it
    std::optional<double> usd;
    Provenance provenance = Provenance::Model; ///< of the scores
};

/// An idea that stands in the tree, tried or not.
struct KnownIdea {
    NodeId node{0};
    std::optional<NodeId> parent;
    std::string title, text;
};

/// A kernel to learn from, fast or not.
struct Exemplar {
    NodeId node{0};
    std::string title, source;
    Outcome outcome = Outcome::Passed;
    std::string reason;
    std::optional<double> score;
    std::string times;                         ///< "4096x65536: 1.23 ms (measured)"
    Provenance provenance = Provenance::Model; ///< of score and times
};

/// A text of the engineer's that goes along: an example kernel, a document.
struct Attachment {
    std::string name, text;
    bool operator==(const Attachment&) const = default;
};

/// What a proposer that writes prompts may know beside its question. Only outcomes that the search has consumed are in
/// it. A value, shared by the questions of one moment.
struct Background {
    std::string deviceSheet;         ///< Markdown lines
    std::vector<KnownTry> tried;     ///< in id order
    std::vector<KnownIdea> ideas;    ///< in id order: under the parent all, under others what is open
    std::vector<Exemplar> exemplars; ///< the best first, then contrasts
    Evaluation parentEvaluation;     ///< of the parent
    std::string diagnosis;           ///< what the parent's metrics say, in words; empty: nothing is known
    std::vector<std::string> hints;  ///< the engineer's standing ones
    std::vector<Attachment> attachments;
    std::string lessons;  ///< of earlier sessions
    double bestScore = 1; ///< of everything consumed
    bool parentPinned = false;
};

/// A failed candidate that is to be mended.
struct FailedTry {
    NodeId node{0};
    std::string source;
    Evaluation evaluation;
    int number = 1; ///< of the repair, from 1
};

/// An implementation that passed and that the next one of the same idea starts from.
struct RefinedTry {
    NodeId node{0};
    std::string title, source;
    Evaluation evaluation;
    double score = 1;      ///< speed-up over the root
    std::string diagnosis; ///< what its metrics say; empty: nothing is known
};

} // namespace espalier
