// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/toolchain.h"
#include "core/engine/command_socket.h"
#include "core/engine/engine.h"
#include "core/engine/listing_desk.h"
#include "core/model/task.h"
#include "core/propose/proposers.h"
#include "core/worker/evaluator.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// What an engine needs from outside, so that tests run it on fakes. Called on the engine's thread, loadTask and
/// toolkit on the thread that opens the engine too.
struct EngineParts {
    std::function<Result<Task>(std::string_view nameOrFolder)> loadTask; ///< loaded and supported
    std::function<std::unique_ptr<BuildPool>()> makeBuildPool;
    std::function<Result<std::unique_ptr<Evaluator>>(const std::string& device)> startJudge;
    std::function<Result<std::vector<std::unique_ptr<Proposer>>>(const ProposerChoice& choice)> makeProposers;
    std::function<std::string()> toolkit;  ///< version of the compiler, for the epoch; empty when there is none
    std::function<std::string()> compiler; ///< its program, for what people build themselves; empty when there is none
    std::function<double()> seconds;       ///< a clock that never goes back
    std::function<std::string()> lessons;  ///< of earlier sessions, for prompts; may be empty
    /// Keeps lessons for later sessions, said of a task and a device: how many were new. Empty: no model is asked for
    /// any.
    std::function<Result<int>(const std::vector<std::string>& lessons, const std::string& task,
                              const std::string& device)>
        keepLessons;
    std::function<void()> afterWrite; ///< after every write to the session; may be empty
    /// Where other processes steer the session while it is open; empty: they cannot.
    std::function<Result<std::unique_ptr<CommandSocket>>(const std::filesystem::path& session)> listen;
    ListingSource listings;          ///< called on a thread of its own
    std::string author = "engineer"; ///< who acts here, as the session names them
    int builders = 1;
    Profiling profiling = Profiling::Off; ///< of every candidate that passes
};

/// The compiler and the judge of this machine (or of the launcher's).
EngineParts realParts(const EngineOptions& options);

} // namespace espalier
