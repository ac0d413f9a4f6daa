// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/device/ops/ops.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace espalier {

/// Facts about a device, read from the driver (or from resources/devices for the simulated one), never from a table
/// of names.
struct DeviceInfo {
    std::string id;     ///< "cuda:0" or "sim"
    std::string name;   ///< "NVIDIA H200", "Simulated H200"
    std::string uuid;   ///< stable identity; empty for the simulated device
    std::string driver; ///< driver version; empty for the simulated device
    int smMajor = 0;    ///< compute capability
    int smMinor = 0;
    int multiprocessors = 0;
    std::size_t l2Bytes = 0;
    std::size_t totalBytes = 0;
    std::size_t granularity = 1; ///< allocation granularity in bytes
    bool simulated = false;
    /// Of the memory's peak clock and the width of its bus, as the driver tells them; 0: not told. (Of the
    /// multiprocessors it tells a typical clock, which is no bound.)
    double peakDramBytesPerSecond = 0;
};

struct DeviceMemory {
    std::size_t freeBytes = 0;
    std::size_t totalBytes = 0;
};

/// One allocation of the judge's that can be shared with runners. Thread: the judge's. Owned by the judge and freed by
/// the destructor; runners that still map it keep their mapping, never its address.
class DeviceBuffer
{
public:
    virtual ~DeviceBuffer() = default;
    virtual std::size_t bytes() const = 0;     ///< usable size, a multiple of the granularity
    virtual std::uint64_t address() const = 0; ///< in the judge's own address space, for ops
    /// A descriptor a runner can map (a new one at each call). On CUDA an exported VMM handle, on the simulated device
    /// a memfd (which goes to simgpu, not to the runner).
    virtual Result<UniqueFd> share() const = 0;
};

/// The judge's side of one device. Thread: the judge's only thread. All calls are synchronous: on return the work is
/// done. Errors: OutOfMemory when an allocation does not fit, Internal with the driver's words otherwise; after any
/// other error the device must be considered lost.
class Device
{
public:
    virtual ~Device() = default;
    virtual const DeviceInfo& info() const = 0;
    virtual Result<DeviceMemory> memory() const = 0;
    virtual Result<std::unique_ptr<DeviceBuffer>> allocate(std::size_t bytes) = 0;
    virtual Result<void> write(std::uint64_t address, std::span<const std::byte> from) = 0;
    virtual Result<void> read(std::span<std::byte> to, std::uint64_t address) = 0;
    /// Runs one of the judge's own operations (core/device/ops) over `count` elements: on CUDA the embedded kernel, on
    /// the simulated device the same function on the CPU, with the same bits. `args` is the op's argument struct.
    virtual Result<void> run(ops::Op op, std::span<const std::byte> args, std::uint64_t count) = 0;
    /// Puts back what one process can change for the next ones on the device: cache lines set aside for persisting
    /// data, the set-aside itself, the compute mode (which only an administrator can put back). Says what was found
    /// changed, as the rest of a sentence ("set aside 3 MiB of the L2 cache"); empty when nothing was, and on a device
    /// without such state. Never fails: a device that cannot tell has nothing to say.
    virtual std::string restoreState() { return {}; }
};

} // namespace espalier
