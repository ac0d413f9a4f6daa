// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/artefact_store.h"
#include "core/judge/buffer_pool.h"
#include "core/judge/device_session.h"
#include "core/judge/interrupts.h"
#include "core/judge/runner_pool.h"
#include "core/judge/work_area.h"

#include <functional>
#include <string>
#include <vector>

namespace espalier::judge {

/// What the parts of an evaluation share. All references outlive the evaluation. Thread: the judge's.
struct Context {
    DeviceSession& session;
    ArtefactStore& store;
    RunnerPool& runners;
    BufferPool& buffers;
    Interrupts& interrupts;
    Device& device() const { return session.device(); }
};

/// One block as the judge saw it.
struct BlockFacts {
    RunnerProcess::Block block;
    sim::BlockReport report; ///< simulated device only
};

/// Lets a runner make the calls. The verdict is about the runner's library: returned errors, faults, crashes,
/// deadlines, what the simulated device cannot run. `during` completes the sentence: "call 2 of case 8x4096".
Judged<BlockFacts> runCalls(const Context& context, LoadedRunner& runner, const std::vector<runner::Call>& calls,
                            bool displaceL2, std::chrono::milliseconds limit, const std::string& during,
                            bool wake = true);

/// The entry's call on one set of buffers, everything mapped in the runner. `workspaceBytes`: what this library asked
/// for, at most what the area has; the last bytes of the area's workspace are handed out.
Judged<runner::Call> entryCall(const Context& context, LoadedRunner& runner, const WorkArea& area, std::size_t set,
                               std::uint64_t workspaceBytes);

/// Bytes of workspace the library asks for in this case; 0 where it has no <entry>_workspace.
Judged<std::uint64_t> workspaceOf(const Context& context, LoadedRunner& runner, const CasePlan& plan);

std::vector<std::string> entryNames(const std::string& entry); ///< what a candidate's runner looks up

/// "CUDA error 700 (illegal address)"
std::string cudaErrorText(int code);

/// "; the launch of … was refused …", where the runtime refused one in these calls; empty where it took them all.
std::string refusedLaunch(const BlockFacts& facts);

/// For a call that returned "out of memory": not_run, and worth another try. Who took the memory cannot be told, so it
/// counts neither for nor against the library. Every other value says nothing here.
Judged<void> orNoMemory(int status, const std::string& during);

} // namespace espalier::judge
