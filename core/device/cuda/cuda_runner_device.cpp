// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda/cuda_runner_device.h"

#include "core/device/cuda/driver_api.h"
#include "core/device/cuda/mapping.h"

#include <cassert>
#include <chrono>
#include <dlfcn.h>
#include <map>
#include <utility>

namespace espalier {

namespace {

using cuda::DriverApi;
using Clock = std::chrono::steady_clock;

double microsecondsSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

class CudaRunnerDevice final : public RunnerDevice
{
public:
    CudaRunnerDevice(const DriverApi& api, int ordinal) : m_api(api), m_ordinal(ordinal) {}
    ~CudaRunnerDevice() override;

    Result<void> open();
    Result<std::uint64_t> map(const BufferGrant& grant, UniqueFd handle, std::size_t offset) override;
    Result<void> unmap(std::uint64_t address) override;
    void* stream() override { return m_stream; }
    Result<BlockClock> runBlock(const BlockPlan& plan) override;
    Result<GraphFacts> capture(const BlockPlan& plan) override;
    Result<BlockClock> replay(bool displaceL2) override;
    Result<void> synchronize() override;

private:
    void keepPooledMemory();
    Result<void> prepareBlock(std::size_t count, bool displaceL2);
    Result<void> readEvents(BlockClock& clock);
    Result<void> lost(CUresult code);
    CUresult displace(std::size_t call);
    CUresult snapshot(const BlockPlan& plan, std::size_t call);
    void dropGraph();

    const DriverApi& m_api;
    int m_ordinal;
    bool m_lost = false;
    std::size_t m_granularity = 0;
    std::size_t m_displacementBytes = 0;
    CUcontext m_context = nullptr;
    CUstream m_stream = nullptr;
    CUdeviceptr m_displacement = 0;
    CUgraphExec m_graph = nullptr;                            ///< of the last capture
    std::vector<CUevent> m_events;                            ///< two per call of the largest block so far
    std::map<std::uint64_t, cuda::GuardedMapping> m_mappings; ///< by the address that was given out
};

CudaRunnerDevice::~CudaRunnerDevice()
{
    if (m_lost) {
        for (auto& [address, mapping] : m_mappings) {
            mapping.abandon();
        }
        return;
    }
    dropGraph();
    m_mappings.clear();
    for (const CUevent event : m_events) {
        m_api.cuEventDestroy(event);
    }
    if (m_displacement) {
        m_api.cuMemFree(m_displacement);
    }
    if (m_stream) {
        m_api.cuStreamDestroy(m_stream);
    }
    if (m_context) {
        m_api.cuDevicePrimaryCtxRelease(m_ordinal);
    }
}

Result<void> CudaRunnerDevice::open()
{
    ESPALIER_CUDA(m_api, "Starting the GPU in the runner failed",
                  m_api.cuDevicePrimaryCtxRetain(&m_context, m_ordinal));
    ESPALIER_CUDA(m_api, "Starting the GPU in the runner failed", m_api.cuCtxSetCurrent(m_context));
    ESPALIER_CUDA(m_api, "Making a stream failed", m_api.cuStreamCreate(&m_stream, CU_STREAM_NON_BLOCKING));
    ESPALIER_TRY(m_granularity, cuda::allocationGranularity(m_api, m_ordinal));
    int l2 = 0;
    ESPALIER_CUDA(m_api, "Reading the size of the L2 cache failed",
                  m_api.cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, m_ordinal));
    m_displacementBytes = 2 * static_cast<std::size_t>(l2);
    keepPooledMemory();
    return {};
}

/// By default the driver gives the memory of cudaFreeAsync back at the next synchronisation, so every block's first
/// cudaMallocAsync would map memory anew within the judge's clock but between the events. A device without memory pools
/// refuses, and has no cudaMallocAsync either.
void CudaRunnerDevice::keepPooledMemory()
{
    CUmemoryPool pool = nullptr;
    if (m_api.cuDeviceGetDefaultMemPool(&pool, m_ordinal) == CUDA_SUCCESS) {
        cuuint64_t everything = ~cuuint64_t{0};
        m_api.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &everything);
    }
}

Result<std::uint64_t> CudaRunnerDevice::map(const BufferGrant& grant, UniqueFd handle, std::size_t offset)
{
    assert(offset < grant.mappedBytes);
    if (grant.mappedBytes == 0 || grant.mappedBytes % m_granularity != 0) {
        return fail(ErrorCode::Protocol, "The judge granted a buffer of " + std::to_string(grant.mappedBytes) +
                                             " bytes, which is no multiple of the device's granule.");
    }
    CUmemGenericAllocationHandle imported{};
    ESPALIER_CUDA(m_api, "Importing a buffer failed",
                  m_api.cuMemImportFromShareableHandle(
                      &imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(handle.get())),
                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    auto mapping = cuda::GuardedMapping::create(m_api, m_ordinal, imported, grant.mappedBytes, m_granularity,
                                                grant.access == Grant::ReadWrite);
    m_api.cuMemRelease(imported); // the mapping keeps the memory alive
    if (!mapping) {
        return std::unexpected(mapping.error());
    }
    const std::uint64_t address = mapping->address() + offset;
    m_mappings.emplace(address, std::move(*mapping));
    return address;
}

Result<void> CudaRunnerDevice::unmap(std::uint64_t address)
{
    if (m_mappings.erase(address) == 0) {
        return fail(ErrorCode::Protocol, "The judge unmaps a buffer that is not mapped.");
    }
    return {};
}

Result<void> CudaRunnerDevice::lost(CUresult code)
{
    if (code == CUDA_ERROR_OUT_OF_MEMORY) { // the context lives, and the library is not to blame
        return fail(ErrorCode::OutOfMemory, m_api.describe(code));
    }
    m_lost = true;
    return fail(ErrorCode::WorkerLost, m_api.describe(code));
}

Result<void> CudaRunnerDevice::prepareBlock(std::size_t count, bool displaceL2)
{
    while (m_events.size() < 2 * count) {
        CUevent event = nullptr;
        ESPALIER_CUDA(m_api, "Making an event failed", m_api.cuEventCreate(&event, CU_EVENT_DEFAULT));
        m_events.push_back(event);
    }
    if (displaceL2 && !m_displacement) {
        ESPALIER_CUDA(
            m_api, "Allocating " + std::to_string(m_displacementBytes >> 20) + " MiB to displace the L2 cache failed",
            m_api.cuMemAlloc(&m_displacement, m_displacementBytes));
    }
    if (displaceL2) {
        // A library may have set lines aside that a displacement does not reach. Devices without this feature refuse.
        m_api.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
        m_api.cuCtxResetPersistingL2Cache();
    }
    return {};
}

Result<void> CudaRunnerDevice::readEvents(BlockClock& clock)
{
    for (std::size_t i = 0; i < clock.calls.size(); ++i) {
        float milliseconds = 0;
        ESPALIER_CUDA(m_api, "Reading an event failed",
                      m_api.cuEventElapsedTime(&milliseconds, m_events[2 * i], m_events[2 * i + 1]));
        clock.calls[i].eventMicroseconds = 1000.0 * static_cast<double>(milliseconds);
    }
    return {};
}

CUresult CudaRunnerDevice::displace(std::size_t call)
{
    return m_api.cuMemsetD8Async(m_displacement, static_cast<unsigned char>(call), m_displacementBytes, m_stream);
}

CUresult CudaRunnerDevice::snapshot(const BlockPlan& plan, std::size_t call)
{
    CUresult code = CUDA_SUCCESS;
    if (call < plan.snapshots.size()) {
        for (const DeviceCopy& copy : plan.snapshots[call]) {
            code = code ? code : m_api.cuMemcpyDtoDAsync(copy.to, copy.from, copy.bytes, m_stream);
        }
    }
    return code;
}

Result<BlockClock> CudaRunnerDevice::runBlock(const BlockPlan& plan)
{
    ESPALIER_CHECK(prepareBlock(plan.calls, plan.displaceL2));
    BlockClock clock;
    clock.calls.reserve(plan.calls);
    CUresult code = CUDA_SUCCESS;
    const auto start = Clock::now();
    for (std::size_t i = 0; i < plan.calls && !code && !clock.status; ++i) {
        code = plan.displaceL2 ? displace(i) : CUDA_SUCCESS;
        code = code ? code : m_api.cuEventRecord(m_events[2 * i], m_stream);
        if (code) {
            break;
        }
        const auto before = Clock::now();
        clock.status = plan.call(i);
        clock.calls.push_back({0, microsecondsSince(before)});
        clock.failedCall = clock.status ? i : 0;
        code = m_api.cuEventRecord(m_events[2 * i + 1], m_stream);
        code = code ? code : snapshot(plan, i);
    }
    const CUresult ended = m_api.cuStreamSynchronize(m_stream);
    clock.hostMicroseconds = microsecondsSince(start);
    if (ended || code) {
        return std::unexpected(lost(ended ? ended : code).error());
    }
    ESPALIER_CHECK(readEvents(clock));
    return clock;
}

void CudaRunnerDevice::dropGraph()
{
    if (m_graph) {
        m_api.cuGraphExecDestroy(std::exchange(m_graph, nullptr));
    }
}

/// Counts the nodes of a graph by kind, those of child graphs too.
CUresult countNodes(const DriverApi& api, CUgraph graph, GraphFacts& facts)
{
    std::size_t count = 0;
    CUresult code = api.cuGraphGetNodes(graph, nullptr, &count);
    std::vector<CUgraphNode> nodes(count);
    if (!code && count > 0) {
        code = api.cuGraphGetNodes(graph, nodes.data(), &count);
    }
    for (const CUgraphNode node : nodes) {
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
        code = code ? code : api.cuGraphNodeGetType(node, &type);
        if (code) {
            break;
        }
        switch (type) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            ++facts.kernels;
            break;
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            ++facts.copies;
            break;
        case CU_GRAPH_NODE_TYPE_MEMSET:
            ++facts.memsets;
            break;
        case CU_GRAPH_NODE_TYPE_HOST:
            ++facts.hosts;
            break;
        case CU_GRAPH_NODE_TYPE_GRAPH: {
            CUgraph child = nullptr;
            code = api.cuGraphChildGraphNodeGetGraph(node, &child);
            code = code ? code : countNodes(api, child, facts);
            break;
        }
        default:
            ++facts.others;
        }
    }
    return code;
}

Result<GraphFacts> CudaRunnerDevice::capture(const BlockPlan& plan)
{
    dropGraph();
    GraphFacts facts;
    // Relaxed: a first call that loads a module or asks for an attribute is no reason to end the capture.
    ESPALIER_CUDA(m_api, "Starting a capture failed",
                  m_api.cuStreamBeginCapture(m_stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (std::size_t i = 0; i < plan.calls && !facts.status; ++i) {
        facts.status = plan.call(i);
    }
    CUgraph graph = nullptr;
    CUresult code = m_api.cuStreamEndCapture(m_stream, &graph);
    if (!code && graph) {
        code = countNodes(m_api, graph, facts);
        code = code ? code : m_api.cuGraphInstantiate(&m_graph, graph, 0);
    }
    if (graph) {
        m_api.cuGraphDestroy(graph);
    }
    if (code == CUDA_ERROR_OUT_OF_MEMORY) {
        return fail(ErrorCode::OutOfMemory, m_api.describe(code));
    }
    if (code || !m_graph) {
        facts.error = code ? m_api.describe(code) : "the capture ended without a graph";
    }
    return facts;
}

Result<BlockClock> CudaRunnerDevice::replay(bool displaceL2)
{
    if (!m_graph) {
        return fail(ErrorCode::Protocol, "The judge replays a graph that was not captured.");
    }
    ESPALIER_CHECK(prepareBlock(1, displaceL2));
    BlockClock clock;
    clock.calls.resize(1);
    const auto start = Clock::now();
    CUresult code = displaceL2 ? displace(0) : CUDA_SUCCESS;
    code = code ? code : m_api.cuEventRecord(m_events[0], m_stream);
    const auto before = Clock::now();
    code = code ? code : m_api.cuGraphLaunch(m_graph, m_stream);
    clock.calls[0].hostMicroseconds = microsecondsSince(before);
    code = code ? code : m_api.cuEventRecord(m_events[1], m_stream);
    const CUresult ended = m_api.cuStreamSynchronize(m_stream);
    clock.hostMicroseconds = microsecondsSince(start);
    if (ended || code) {
        return std::unexpected(lost(ended ? ended : code).error());
    }
    ESPALIER_CHECK(readEvents(clock));
    return clock;
}

Result<void> CudaRunnerDevice::synchronize()
{
    const CUresult code = m_api.cuCtxSynchronize();
    return code ? lost(code) : Result<void>();
}

} // namespace

Result<std::unique_ptr<RunnerDevice>> openCudaRunnerDevice(const CudaRunnerOptions& options)
{
    ESPALIER_TRY(const DriverApi* api, cuda::driverApi());
    auto device = std::make_unique<CudaRunnerDevice>(*api, options.ordinal);
    ESPALIER_CHECK(device->open());
    if (!dlopen(options.runtimeLibrary.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
        const char* why = dlerror();
        return fail(ErrorCode::NotFound, "The CUDA runtime can't be loaded (" + std::string(why ? why : "unknown") +
                                             "): install CUDA toolkit 13.x or set CUDA_HOME.");
    }
    return device;
}

} // namespace espalier
