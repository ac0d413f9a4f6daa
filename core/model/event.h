// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/exchange.h"
#include "core/model/listing.h"
#include "core/model/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace espalier::event {

/// What the engine tells its observers: plain values. The engine sends meaning; words, icons and colours belong to the
/// observer.

struct SessionOpened {
    SessionInfo info;
    std::string viewedBecause = {}; ///< why it can only be looked at, a sentence; empty: it can be searched
};
/// Everything that changed since the revision before, at most one per 50 ms while running. The first one after
/// SessionOpened holds the whole tree.
struct Changes {
    std::uint64_t revision = 0;
    std::vector<NodeSummary> nodes; ///< new or changed, in id order
    RunStatus status;
};
/// What happens next, for a person: what runs and what waits for it, in the order in which it was decided; then what
/// the strategy would decide now; then the open ideas, the most promising first; at most 50. Sent when it has changed.
struct Plan {
    std::vector<PlannedStep> steps;
    std::string strategy; ///< with its parameters: "beam:width=2"
    bool operator==(const Plan&) const = default;
};
struct Detail {
    std::shared_ptr<const NodeDetail> detail;
};
struct Listings {
    std::shared_ptr<const CodeListings> listings;
};
/// The questions and answers behind a node, oldest first: those that made it, and those asked about it.
struct Exchanges {
    NodeId node;
    std::vector<Exchange> exchanges;
    std::vector<std::string> hints, attachments;
};
/// New text of an answer that is arriving; at most one per exchange and 50 ms.
struct AnswerGrew {
    NodeId node;
    std::int64_t exchange = 0;
    std::string text;
};
struct Exported {
    NodeId node;
    std::vector<std::string> files;
};
/// A program that runs this one kernel, for a profiler or debugger, and the compiler that it was written for.
struct ReproWritten {
    NodeId node;
    std::string file, compiler;
};
/// What the engineer told the session for good. Sent when it has changed, and once after SessionOpened.
struct Standing {
    std::vector<std::string> hints;    ///< in the order in which they were given
    std::vector<BannedTechnique> bans; ///< likewise
    bool operator==(const Standing&) const = default;
};
struct CommandFailed {
    std::string what;
    Error error;
};
/// A command that was posted with a ticket is done, or was refused (CommandFailed came before); in the order of
/// posting.
struct Answered {
    std::uint64_t ticket = 0;
    std::optional<Error> error;
};
struct Log {
    std::string time;
    std::string text;
}; ///< ISO 8601 UTC; one line
struct Finished {
    RunSummary summary;
}; ///< a run ended (budget, plateau, nothing left); the engine stays
struct Closed {
    std::optional<Error> error;
}; ///< the engine's thread has ended; nothing follows

using Event = std::variant<SessionOpened, Changes, Plan, Detail, Listings, Exchanges, AnswerGrew, Exported,
                           ReproWritten, Standing, CommandFailed, Answered, Log, Finished, Closed>;

} // namespace espalier::event
