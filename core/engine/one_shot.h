// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/engine_parts.h"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace espalier {

/// One candidate through build, verify and time, without a session.
struct OneShotRequest {
    std::string task;                  ///< name or folder
    std::string source;                ///< the whole .cu
    std::string device = "auto";       ///< auto, sim, cuda:N
    std::vector<std::string> launcher; ///< put before the judge's command line
    std::vector<std::string> caseIds;  ///< empty: all that the device serves
    Tier tier = Tier::Quick;
    TimingSetting setting;
    Sanitizing sanitizing = Sanitizing::Off;
    Profiling profiling = Profiling::Off;
    std::string incumbent; ///< FILE.cu or FILE.so:SYMBOL; empty: the task's, else the root
    int builders = 0;      ///< 0: as many as cores
};

struct OneShotResult {
    Evaluation evaluation;
    JudgeHello device;
};

/// Blocks until the verdict is there. `progress` is called on the same thread with a line for people. A requested stop
/// ends with not_run, cause cancelled. Thread: any, the judge lives and dies with the call.
/// Errors: the task cannot be loaded, a case does not exist, no device, oracle or root do not build, the judge is lost
/// twice. What the candidate does wrong is in the evaluation.
Result<OneShotResult> evaluateOnce(const OneShotRequest& request,
                                   const std::function<void(Stage stage, const std::string& text)>& progress = {},
                                   std::stop_token stop = {});
/// The same on other parts: tests.
Result<OneShotResult> evaluateOnce(const OneShotRequest& request, const EngineParts& parts,
                                   const std::function<void(Stage stage, const std::string& text)>& progress,
                                   std::stop_token stop);

} // namespace espalier
