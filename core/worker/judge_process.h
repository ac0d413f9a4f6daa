// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/worker/evaluator.h"
#include "core/worker/launcher.h"

#include <chrono>
#include <memory>
#include <string>

namespace espalier {

struct JudgeSettings {
    Launcher launcher;
    std::string device = "auto"; ///< auto, sim, cuda:N
    std::chrono::milliseconds helloDeadline{
        30000}; ///< from the start to the judge's hello: driver, context, first runner
    std::chrono::milliseconds quickDeadline{180000}; ///< of one job, from when its turn comes
    std::chrono::milliseconds fullDeadline{1200000};
    std::chrono::milliseconds cancelDeadline{15000}; ///< from a cancel to its answer
    std::chrono::seconds lossWindow{60};             ///< two losses within it park the device
};

/// A judge as a child process (through a launcher, possibly on another machine): the engine's Evaluator. start() waits
/// for the judge's hello; everything else never blocks. A judge that ends, breaks the protocol or misses a deadline is
/// killed and reported as Lost; the next submit() starts a new one. After two losses within the window the device is
/// parked: every further job ends at once as not_run/infrastructure with the reason, until a new JudgeProcess is made.
/// Thread: the engine's. Owns the process; the destructor ends it.
/// Errors of start: NotFound, NotSupported, WorkerLost, VersionTooNew with the judge's own words.
Result<std::unique_ptr<Evaluator>> startJudge(const JudgeSettings& settings);

} // namespace espalier
