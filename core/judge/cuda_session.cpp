// SPDX-License-Identifier: Apache-2.0
#include "core/judge/device_session.h"

#include "core/device/cuda/cuda_device.h"
#include "core/device/cuda/driver_api.h"
#include "core/judge/sandbox.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

namespace espalier::judge {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> nvidiaNodes()
{
    std::vector<std::string> nodes;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator("/dev", error)) {
        const std::string name = entry.path().filename().string();
        const bool gpu = name.starts_with("nvidia") && name.size() > 6 && name[6] >= '0' && name[6] <= '9';
        if (gpu || name == "nvidiactl" || name == "nvidia-uvm" || name == "nvidia-caps") {
            nodes.push_back(entry.path().string());
        }
    }
    return nodes;
}

/// The CUDA runtime that runners bind candidates to: what the user named, else the toolkit's, else the loader's.
std::string findRuntime(const std::string& named)
{
    if (!named.empty()) {
        return named;
    }
    std::vector<std::string> folders;
    if (const char* path = std::getenv("ESPALIER_CUDART"); path && *path) {
        return path;
    }
    if (const char* home = std::getenv("CUDA_HOME"); home && *home) {
        folders.push_back(std::string(home) + "/lib64");
    }
    folders.insert(folders.end(), {"/usr/local/cuda/lib64", "/usr/local/cuda-13/lib64", "/usr/local/cuda-13.0/lib64",
                                   "/opt/cuda/lib64"});
    for (const std::string& folder : folders) {
        std::error_code error;
        const fs::path file = fs::path(folder) / "libcudart.so.13";
        if (fs::exists(file, error)) {
            return fs::canonical(file, error).string();
        }
    }
    return "libcudart.so.13";
}

/// Trusted runners inherit this process's environment: baselines find the toolkit's libraries (cuBLAS) beside the
/// runtime.
void exportToolkitFolder(const std::string& runtime)
{
    if (runtime.starts_with('/')) {
        const char* before = std::getenv("LD_LIBRARY_PATH");
        const std::string folder = fs::path(runtime).parent_path().string();
        ::setenv("LD_LIBRARY_PATH", (before && *before ? folder + ":" + before : folder).c_str(), 1);
    }
}

class CudaSession final : public DeviceSession
{
public:
    CudaSession(std::unique_ptr<Device> device, int ordinal, std::string runtime)
        : m_device(std::move(device)), m_ordinal(ordinal), m_runtime(std::move(runtime))
    {
    }

    Device& device() override { return *m_device; }
    bool exactGrants() const override { return false; }
    bool simulated() const override { return false; }

    std::chrono::nanoseconds now() const override
    {
        const auto driver = cuda::driverApi();
        return driver && (*driver)->ownClock ? std::chrono::nanoseconds((*driver)->ownClock()) : DeviceSession::now();
    }

    /// From sm_90 on the architecture-specific instruction set ("90a"): the code runs on this device only, by intent.
    std::string architecture() const override
    {
        const DeviceInfo& info = m_device->info();
        return fmt::format("{}{}{}", info.smMajor, info.smMinor, info.smMajor >= 9 ? "a" : "");
    }

    std::uint64_t bytesPerRunner() const override
    {
        constexpr std::uint64_t context = std::uint64_t{600} << 20; // as read on an H200 with nvidia-smi, rounded up
        return context + 2 * m_device->info().l2Bytes;
    }

    Result<RunnerPlan> planRunner(Queues queues) override
    {
        RunnerPlan plan{{"--device", fmt::format("cuda:{}", m_ordinal), "--runtime", m_runtime}, UniqueFd(), 0};
        if (queues == Queues::One) {
            plan.arguments.emplace_back("--one-queue");
        }
        return plan;
    }

    SandboxNeeds sandboxNeeds() const override
    {
        SandboxNeeds needs;
        std::string searched;
        for (const std::string& folder : loadedLibraryFolders()) {
            needs.folders.push_back(folder);
            searched += (searched.empty() ? "" : ":") + folder;
        }
        needs.nodes = nvidiaNodes();
        if (m_runtime.starts_with('/')) {
            needs.files.push_back(m_runtime);
        }
        needs.environment = {"LD_LIBRARY_PATH=" + searched, "CUDA_CACHE_DISABLE=1", "CUDA_DEVICE_ORDER=PCI_BUS_ID"};
        for (const char* name : {"ESPALIER_LIBCUDA", "CUDA_VISIBLE_DEVICES"}) {
            if (const char* value = std::getenv(name); value && *value) {
                needs.environment.push_back(fmt::format("{}={}", name, value));
                if (*value == '/') {
                    needs.files.push_back(value);
                }
            }
        }
        return needs;
    }

    Result<MapOrder> map(std::uint32_t, const Region& region, Grant access, const std::string&) override
    {
        ESPALIER_TRY(UniqueFd handle, region.buffer->share());
        return MapOrder{{region.buffer->bytes(), access}, 0, std::move(handle)};
    }

    void drop(std::uint32_t) override {}
    Result<void> beginBlock(std::uint32_t) override { return {}; }
    Result<sim::BlockReport> finishBlock(std::uint32_t, std::chrono::milliseconds) override
    {
        return sim::BlockReport{};
    }
    Result<sim::BlockReport> releaseDeferred(std::uint32_t, std::chrono::milliseconds) override
    {
        return sim::BlockReport{};
    }
    bool lost() override { return !m_device->memory(); }
    Result<void> restart() override
    {
        return fail(ErrorCode::WorkerLost,
                    fmt::format("{} does not work any more; its judge must be started anew", m_device->info().name));
    }

private:
    std::unique_ptr<Device> m_device;
    int m_ordinal;
    std::string m_runtime;
};

} // namespace

Result<std::unique_ptr<DeviceSession>> openCudaSession(const SessionSettings& settings, int ordinal)
{
    ESPALIER_TRY(std::unique_ptr<Device> device, openCudaDevice(ordinal));
    const std::string runtime = findRuntime(settings.runtime);
    exportToolkitFolder(runtime);
    return std::make_unique<CudaSession>(std::move(device), ordinal, runtime);
}

} // namespace espalier::judge
