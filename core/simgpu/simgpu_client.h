// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/message_socket.h"
#include "core/base/subprocess.h"
#include "core/device/device.h"
#include "core/device/runner_device.h"
#include "core/simgpu/sim_report.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace espalier::sim {

class CancelFlag;

struct SimGpuSettings {
    std::vector<std::string> command; ///< {".../espalier-worker", "simgpu"}
    std::string profileJson;          ///< text of resources/devices/h200.json
    std::string profileName;          ///< its file name, for messages
    /// Bytes that one runner may allocate itself (cudaMallocAsync and module variables).
    std::uint64_t clientBytes = std::uint64_t{1} << 30;
};

using SimClientId = std::uint32_t;

/// One buffer of the judge's, as one runner's kernels see it.
struct SimGrant {
    const DeviceBuffer* buffer = nullptr; ///< of the SimDevice; its bytes stay shared until the client is dropped
    std::uint64_t offset = 0;             ///< first byte within the buffer that the kernels may touch
    std::uint64_t bytes = 0;              ///< exact extent of the argument: one byte further is out of bounds
    Grant access = Grant::ReadOnly;
    std::string name; ///< for messages: "input x", "output y", "workspace"
};

struct BlockLimits {
    std::uint64_t maxThreadInstructions = 0; ///< per call; 0: none
};

/// The judge's handle of its simgpu process: creates clients (one per runner), grants them buffers and has their work
/// executed. How a runner's life goes:
///
///   auto [id, fd] = createClient();      fd goes to the runner as a descriptor (openSimRunnerDevice there)
///   grant(id, …) once per argument, in the order in which the runner then calls RunnerDevice::map()
///   runner: map() …, loads the library
///   per block:  fresh inputs and poison;  beginBlock(id, limits);  tell the runner; RunnerDevice::runBlock(count, …);
///               wait for its answer;  finishBlock(id, …): the joined work is executed *now*, call after call;
///               read and check the outputs;  releaseDeferred(id): what was not joined runs;  check again.
///   dropClient(id) when the runner is gone.
///
/// Work that a runner sends outside beginBlock…end of its block is dropped and counted as stray.
/// Thread: the judge's only thread. Owns the process; the destructor kills it.
/// Errors: WorkerLost when simgpu died or did not answer: start a new one, every client is gone with it.
class SimGpu
{
public:
    static Result<SimGpu> start(const SimGpuSettings& settings);
    SimGpu(SimGpu&&) noexcept;
    SimGpu& operator=(SimGpu&&) noexcept;
    ~SimGpu();

    struct NewClient {
        SimClientId id = 0;
        UniqueFd runnerEnd; ///< for the runner; close it here once the runner has it
    };
    Result<NewClient> createClient();
    /// Returns the device address that RunnerDevice::map will answer in the runner for byte `grant.offset`.
    Result<std::uint64_t> grant(SimClientId client, const SimGrant& grant);
    Result<void> beginBlock(SimClientId client, const BlockLimits& limits);
    /// Executes the joined work of every call of the block, in order; ends with the first fault. When `limit` passes or
    /// `stop` is requested, the running launch is cancelled and its call's fault says so (hang).
    Result<BlockReport> finishBlock(SimClientId client, std::chrono::milliseconds limit, std::stop_token stop = {});
    /// Executes what finishBlock left because it was not joined to the given stream. The report has one call.
    Result<BlockReport> releaseDeferred(SimClientId client, std::chrono::milliseconds limit, std::stop_token stop = {});
    /// Forgets the client, its grants and its memory; cancels what it is running.
    Result<void> dropClient(SimClientId client);

    pid_t pid() const { return m_process.pid(); }

private:
    SimGpu(Subprocess process, MessageSocket control, std::unique_ptr<CancelFlag> cancel);
    Result<std::string> ask(const std::string& request, const std::vector<int>& descriptors,
                            std::chrono::milliseconds limit, std::stop_token stop);
    Result<BlockReport> execute(const std::string& request, std::chrono::milliseconds limit, std::stop_token stop);

    Subprocess m_process;
    MessageSocket m_control;
    std::unique_ptr<CancelFlag> m_cancel;
};

} // namespace espalier::sim
