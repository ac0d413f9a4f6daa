// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/device.h"
#include "core/device/runner_device.h"
#include "core/simgpu/sim_report.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace espalier::judge {

/// The data of one argument within a buffer of the judge's.
struct Region {
    const DeviceBuffer* buffer = nullptr;
    std::uint64_t serial = 0; ///< of the buffer, never used twice
    std::uint64_t offset = 0; ///< first byte of the data
    std::uint64_t bytes = 0;  ///< exact size of the data

    std::uint64_t address() const { return buffer->address() + offset; } ///< in the judge
};

/// How to start a runner on this device and what its sandbox must hold.
struct RunnerPlan {
    std::vector<std::string> arguments; ///< after `espalier-worker runner`
    UniqueFd deviceEnd;                 ///< descriptor 4 of the runner; may be empty
    std::uint32_t client = 0;
};

/// Hardware queues of a runner's context. One is enough for calls that only follow each other on the stream that they
/// are given, and such a context costs a third: 15 side by side start in 0.76 s and are gone in 0.36, with the default
/// of 8 queues in 2.1 and 0.94 (H200, driver 580). Nothing but concurrency within one context depends on it.
enum class Queues { One, Default };

struct SandboxNeeds {
    std::vector<std::string> folders;     ///< bound read-only: libraries
    std::vector<std::string> files;       ///< bound read-only
    std::vector<std::string> nodes;       ///< device nodes, bound with device access
    std::vector<std::string> environment; ///< NAME=value
};

/// What one runner has to be sent so that it maps a region.
struct MapOrder {
    BufferGrant grant;
    std::uint64_t offset = 0;
    UniqueFd handle;
};

/// A device as the judge works with it: its memory and operations, and the way to its runners. One implementation for
/// CUDA, one for the simulated device. Thread: the judge's.
class DeviceSession
{
public:
    virtual ~DeviceSession() = default;
    virtual Device& device() = 0;
    virtual std::string architecture() const = 0; ///< "90a"
    /// True: one mapping per argument, to the byte (simulated). False: a buffer is mapped once and its guards are those
    /// of the whole buffer.
    virtual bool exactGrants() const = 0;
    /// True: a block only runs in finishBlock(), and times are modelled.
    virtual bool simulated() const = 0;
    /// What the judge's clock reads around a block.
    virtual std::chrono::nanoseconds now() const { return std::chrono::steady_clock::now().time_since_epoch(); }
    /// What one runner and the judge keep allocated on the device beside the buffers.
    virtual std::uint64_t bytesPerRunner() const = 0;

    virtual Result<RunnerPlan> planRunner(Queues queues) = 0;
    virtual SandboxNeeds sandboxNeeds() const = 0;
    virtual Result<MapOrder> map(std::uint32_t client, const Region& region, Grant access, const std::string& name) = 0;
    virtual void drop(std::uint32_t client) = 0;

    /// Around every block; on CUDA they do nothing. Errors: WorkerLost when simgpu is gone (then restart()).
    virtual Result<void> beginBlock(std::uint32_t client) = 0;
    virtual Result<sim::BlockReport> finishBlock(std::uint32_t client, std::chrono::milliseconds limit) = 0;
    virtual Result<sim::BlockReport> releaseDeferred(std::uint32_t client, std::chrono::milliseconds limit) = 0;
    /// True when the device cannot be used any more until restart().
    virtual bool lost() = 0;
    /// After a loss: every runner is useless. Errors: the device stays lost.
    virtual Result<void> restart() = 0;
};

struct SessionSettings {
    std::string device = "auto"; ///< auto, sim, cuda:N
    std::string worker;          ///< path of espalier-worker
    std::string runtime;         ///< path of libcudart.so.13; empty: looked for
    std::string profile;         ///< path of the simulated device's profile; empty: looked for
};

/// Opens the device that `settings` names; auto takes cuda:0 where there is one, else the simulated device.
/// Errors: NotFound, NotSupported with the remedy.
Result<std::unique_ptr<DeviceSession>> openSession(const SessionSettings& settings);
Result<std::unique_ptr<DeviceSession>> openCudaSession(const SessionSettings& settings, int ordinal);
Result<std::unique_ptr<DeviceSession>> openSimSession(const SessionSettings& settings);

/// resources/devices/h200.json: $ESPALIER_RESOURCES, beside the program's ../share/espalier, or the source tree's.
std::string findDeviceProfile();
/// resources/devices/roofs.json, found the same way.
std::string findRoofs();

} // namespace espalier::judge
