// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/counters.h"
#include "core/device/sim/interpreter.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace espalier::sim {

/// Launches of one kernel with one shape within one call, added up.
struct LaunchSummary {
    std::string kernel; ///< mangled, as in the PTX
    Dim3 grid, block;
    std::uint32_t sharedBytes = 0; ///< static and dynamic, per block
    std::uint64_t times = 0;
    Counters counters;
    double modelledSeconds = 0; ///< modelled, never measured
};

/// What ended a call on the device. `cudaCode` is what a real device would answer from then on (700, 716, 719, …).
struct CallFault {
    int cudaCode = 0;
    FaultKind kind = FaultKind::OutOfBounds;
    bool hang = false; ///< barrier deadlock, instruction limit or the judge's deadline: a time-out, not a crash
    std::string sentence;
    std::string file; ///< of the candidate's source, may be empty
    int line = 0;
};

/// One call of the candidate's entry, as simgpu saw it. Trusted: nothing here comes from the runner but `hostStatus`,
/// `hostMicroseconds` and `misuse`.
struct CallReport {
    Counters counters;
    std::vector<LaunchSummary> launches; ///< at most maxLaunchSummaries, in order of the first launch
    double modelledSeconds = 0;          ///< all launches, copies and memsets of the call, one after the other
    std::uint64_t launchCount = 0;
    std::uint64_t unjoined = 0; ///< launches, copies and memsets not joined to the given stream when the call ended
    std::optional<CallFault> fault;
    std::vector<std::string>
        unsupported;                 ///< not empty: the call could not run here (Outcome NotRun), each a sentence part
    std::vector<std::string> misuse; ///< what the contract forbids and the runtime saw ("cudaMalloc"), each once
    int hostStatus = 0;              ///< claim: what the entry returned
    double hostMicroseconds = 0;     ///< claim
};

struct BlockReport {
    std::vector<CallReport>
        calls; ///< of the calls that ended, in order; one more when a call that never ended has something to say
    bool ended = false;       ///< the runner's device said that the block ended
    std::uint64_t stray = 0;  ///< launches, copies and memsets sent outside a block: dropped
    std::string disconnected; ///< not empty: the runner closed or broke the connection, why
};

inline constexpr std::size_t maxLaunchSummaries = 64;

} // namespace espalier::sim
