// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/message_socket.h"
#include "core/simgpu/simgpu_protocol.h"

#include <algorithm>
#include <cstring>
#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace espalier::sim {

/// A kernel that the loaded library registered; its address is the cudaKernel_t.
struct ShimKernel {
    std::uint32_t module = 0;
    std::string name;
    bool asked = false; ///< simgpu was asked for it, lazily, as CUDA loads lazily
    KernelAnswer facts;
    std::uint64_t maxDynamicShared = 0;
};

struct ShimVariable {
    std::uint32_t module = 0;
    std::string name;
    bool asked = false;
    std::uint64_t address = 0, bytes = 0;
};

/// State of the CUDA runtime in one runner process: the connection to simgpu and what the library registered. It
/// executes nothing: it checks arguments as CUDA does and forwards. Lives as long as the process (libraries unregister
/// at exit). Thread: any; one mutex covers connection and tables.
class Runtime
{
public:
    static Runtime& instance();

    bool attach(int socket);
    const DeviceLimits& limits() const { return m_limits; }

    /// Sends without waiting; false (and the sticky error cudaErrorDevicesUnavailable) when simgpu is gone.
    bool send(const ByteWriter& message);
    std::optional<std::string> ask(const ByteWriter& message, const std::vector<int>& descriptors = {});
    void noteMisuse(std::string_view what);
    void noteUnsupported(std::string_view what);
    /// Has the stream's work (or all streams') executed and returns the sticky error.
    cudaError_t synchronize(std::uint32_t stream);

    /// Remembers an error for cudaGetLastError and returns it; a sticky error wins.
    cudaError_t done(cudaError_t code);
    cudaError_t lastError(bool reset);

    std::uint32_t registerModule(std::string_view fatbin);
    void registerKernel(const void* hostFunction, std::uint32_t module, std::string name);
    void registerVariable(const void* hostVariable, std::uint32_t module, std::string name);
    /// The kernel of a host stub or of a cudaKernel_t, with its facts; nullptr when there is none that can run.
    ShimKernel* kernel(const void* function);
    ShimVariable* variable(const void* hostVariable);
    const void* handleOf(const void* hostFunction);

    cudaStream_t createStream(bool blocking);
    bool destroyStream(cudaStream_t stream);
    std::optional<std::uint32_t> streamId(cudaStream_t stream);
    cudaStream_t given() const { return m_given; }
    cudaEvent_t createEvent();
    bool destroyEvent(cudaEvent_t event);
    std::optional<std::uint32_t> eventId(cudaEvent_t event);

private:
    Runtime() = default;
    struct Handle {
        std::uint32_t id = 0;
    };
    std::optional<std::string> askLocked(const ByteWriter& message, const std::vector<int>& descriptors);

    std::recursive_mutex m_mutex;
    std::optional<MessageSocket> m_socket;
    DeviceLimits m_limits;
    cudaError_t m_sticky = cudaSuccess;
    std::map<const void*, std::unique_ptr<ShimKernel>> m_kernels; ///< by host stub
    std::set<const void*> m_kernelHandles;
    std::map<const void*, ShimVariable> m_variables;                    ///< by host variable
    std::map<const void*, std::unique_ptr<Handle>> m_streams, m_events; ///< by handle
    cudaStream_t m_given = nullptr;
    std::uint32_t m_nextStream = firstFreeStream;
    std::uint32_t m_nextEvent = 1;
};

/// True when the pointer lies in the window of device addresses.
bool isDevice(const void* pointer);
std::uint64_t addressOf(const void* pointer);

} // namespace espalier::sim
