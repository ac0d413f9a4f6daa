// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/sim_runner_device.h"

#include "core/simgpu/simrt_api.h"

#include <chrono>
#include <dlfcn.h>
#include <fmt/format.h>

namespace espalier::sim {

namespace {

using Clock = std::chrono::steady_clock;

double microsecondsSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

std::unexpected<Error> simgpuLost()
{
    return fail(ErrorCode::WorkerLost, "the simulated device's process is gone or ended the connection");
}

class SimRunnerDevice final : public RunnerDevice
{
public:
    explicit SimRunnerDevice(const EspalierSimrtApi& api) : m_api(api) {}

    Result<std::uint64_t> map(const BufferGrant& grant, UniqueFd, std::size_t offset) override
    {
        std::uint64_t address = 0;
        if (m_api.mapNext(grant.mappedBytes, grant.access == Grant::ReadWrite, offset, &address) != 0) {
            return fail(ErrorCode::Protocol, "the simulated device has no such grant for this runner");
        }
        return address;
    }

    Result<void> unmap(std::uint64_t address) override
    {
        if (m_api.unmap(address) != 0) {
            return simgpuLost();
        }
        return {};
    }

    void* stream() override { return m_api.stream(); }

    Result<GraphFacts> capture(const BlockPlan&) override
    {
        return fail(ErrorCode::NotSupported, "the simulated device captures no graphs");
    }
    Result<BlockClock> replay(bool) override
    {
        return fail(ErrorCode::NotSupported, "the simulated device captures no graphs");
    }

    /// Without displacement (a modelled time knows no cache of the call before) and without snapshots: what is not
    /// joined to the stream runs after the judge has read the outputs.
    Result<BlockClock> runBlock(const BlockPlan& plan) override
    {
        BlockClock clock;
        const auto start = Clock::now();
        for (std::size_t i = 0; i < plan.calls && clock.status == 0; ++i) {
            int sticky = 0;
            if (m_api.beginCall(&sticky) != 0) {
                return simgpuLost();
            }
            ESPALIER_CHECK(healthy(sticky));
            const auto callStart = Clock::now();
            clock.status = plan.call(i);
            clock.failedCall = clock.status == 0 ? 0 : i;
            clock.calls.push_back({0, microsecondsSince(callStart)});
            if (m_api.endCall(clock.status, clock.calls.back().hostMicroseconds) != 0) {
                return simgpuLost();
            }
        }
        if (m_api.endBlock() != 0) {
            return simgpuLost();
        }
        clock.hostMicroseconds = microsecondsSince(start);
        return clock;
    }

    Result<void> synchronize() override
    {
        int sticky = 0;
        if (m_api.status(&sticky) != 0) {
            return simgpuLost();
        }
        return healthy(sticky);
    }

private:
    Result<void> healthy(int sticky) const
    {
        if (sticky != 0) {
            return fail(ErrorCode::WorkerLost, fmt::format("CUDA {}: {}", sticky, m_api.errorName(sticky)));
        }
        return {};
    }

    const EspalierSimrtApi& m_api;
};

} // namespace

Result<std::unique_ptr<RunnerDevice>> openSimRunnerDevice(UniqueFd client, const std::string& simrtPath)
{
    void* library = ::dlopen(simrtPath.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        return fail(ErrorCode::NotFound,
                    fmt::format("the simulated device's runtime cannot be loaded: {}", ::dlerror()));
    }
    const auto entry = reinterpret_cast<EspalierSimrtEntry>(::dlsym(library, espalierSimrtSymbol));
    const EspalierSimrtApi* api = entry ? entry() : nullptr;
    if (!api || api->version != espalierSimrtVersion) {
        return fail(ErrorCode::NotSupported, fmt::format("{} belongs to another version of Espalier", simrtPath));
    }
    if (api->attach(client.release()) != 0) {
        return fail(ErrorCode::Internal,
                    "the runner cannot reserve the simulated device's addresses or reach its process");
    }
    return std::make_unique<SimRunnerDevice>(*api);
}

} // namespace espalier::sim
