// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace espalier {

enum class Grant : std::uint8_t {
    ReadOnly,  ///< inputs: a write faults in the runner
    ReadWrite, ///< outputs and workspace
};

/// One buffer of the judge's, as handed to a runner.
struct BufferGrant {
    std::uint64_t mappedBytes = 0; ///< exactly DeviceBuffer::bytes() of the judge's allocation
    Grant access = Grant::ReadOnly;
};

/// What the runner says about one call. Both figures are claims of an untrusted process, never a verdict.
struct CallClock {
    double eventMicroseconds = 0; ///< between the device events before and after the call; 0 if the device has none
    double hostMicroseconds = 0;  ///< host time spent inside the call (launch overhead)
};

/// What the runner says about one block of calls.
struct BlockClock {
    std::vector<CallClock> calls; ///< one for each call that was made
    double hostMicroseconds = 0;  ///< from the first enqueued operation to the end of the last one
    int status = 0;               ///< 0, or the first non-zero value a call returned; the block ends with that call
    std::size_t failedCall = 0;   ///< index of that call
    std::string refused;          ///< the first launch that the runtime refused, in words; empty: none
};

/// A copy within the device's memory, of bytes.
struct DeviceCopy {
    std::uint64_t from = 0, to = 0, bytes = 0;
};

/// What a block consists of.
struct BlockPlan {
    std::size_t calls = 0;
    bool displaceL2 = false; ///< overwrite twice the L2 cache before each call (cold regime)
    /// Makes call `i` and returns the candidate's cudaError_t; must not throw.
    std::function<int(std::size_t)> call;
    /// By call, may be shorter: copies enqueued on the stream right behind the call. What work on another stream,
    /// thread or the host writes later is not in them.
    std::vector<std::vector<DeviceCopy>> snapshots;
};

/// What a captured graph holds. A claim as well.
struct GraphFacts {
    std::uint32_t kernels = 0, copies = 0, memsets = 0, hosts = 0, others = 0; ///< nodes, child graphs included
    std::string error; ///< why the calls could not be captured, in the device's words; empty: they were
    int status = 0;    ///< the first non-zero value a call returned while it was captured
};

/// The device as the runner process sees it: it maps the judge's buffers and runs blocks of calls on one stream.
/// Trusted only until the candidate's library is loaded: afterwards everything it says is a claim.
/// Thread: the runner's only thread. Owns its mappings, stream and events; the destructor frees them unless the
/// device is lost. Errors: WorkerLost with the device's words ("CUDA 700: …") after a sticky error: report it and end
/// the process; OutOfMemory and Internal otherwise.
class RunnerDevice
{
public:
    virtual ~RunnerDevice() = default;

    /// Maps a buffer between two unmapped guard ranges of at least one granule (2 MiB on CUDA) and returns the device
    /// address of its byte `offset` (the slack before it lets the judge end the data close to the upper guard). On
    /// the simulated device `handle` is empty: the address is only reserved, the bytes live in simgpu.
    virtual Result<std::uint64_t> map(const BufferGrant& grant, UniqueFd handle, std::size_t offset) = 0;
    /// Takes an address that map() returned. Work that uses it must have ended.
    virtual Result<void> unmap(std::uint64_t address) = 0;

    /// The cudaStream_t (CUstream) that every call is given.
    virtual void* stream() = 0;

    /// Makes the calls in order and waits for the stream once, at the end: [displace L2,] event, call(i), event,
    /// [snapshots(i)].
    virtual Result<BlockClock> runBlock(const BlockPlan& plan) = 0;

    /// Captures the calls, in order, into one graph instead of running them; it replaces the graph captured before.
    /// Errors: NotSupported on the simulated device, where what is not joined to the stream never runs in time.
    virtual Result<GraphFacts> capture(const BlockPlan& plan) = 0;
    /// Launches the captured graph once and waits: [displace L2,] event, graph, event. One entry in `calls`.
    virtual Result<BlockClock> replay(bool displaceL2) = 0;

    /// Waits for all work of the process on the device and reports sticky errors.
    virtual Result<void> synchronize() = 0;
};

} // namespace espalier
