// SPDX-License-Identifier: Apache-2.0
#include "core/judge/device_session.h"

#include "core/base/file.h"
#include "core/device/sim/time_model.h"
#include "core/judge/sandbox.h"
#include "core/simgpu/sim_device.h"
#include "core/simgpu/sim_runner_device.h"
#include "core/simgpu/simgpu_client.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <sys/wait.h>

namespace espalier::judge {

namespace {

namespace fs = std::filesystem;

/// Enough for the largest simulated case, few enough that an endless loop ends within seconds.
constexpr std::uint64_t instructionsPerCall = 500'000'000;

class SimSession final : public DeviceSession
{
public:
    SimSession(std::unique_ptr<Device> device, sim::SimGpuSettings settings, std::string worker)
        : m_device(std::move(device)), m_settings(std::move(settings)), m_worker(std::move(worker))
    {
    }

    Device& device() override { return *m_device; }
    bool exactGrants() const override { return true; }
    bool simulated() const override { return true; }
    std::uint64_t bytesPerRunner() const override { return 0; }

    std::string architecture() const override
    {
        const DeviceInfo& info = m_device->info();
        return fmt::format("{}{}{}", info.smMajor, info.smMinor, info.smMajor >= 9 ? "a" : "");
    }

    bool lost() override
    {
        if (!m_gpu) {
            return true;
        }
        siginfo_t info = {};
        return ::waitid(P_PID, static_cast<id_t>(m_gpu->pid()), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
               info.si_pid != 0;
    }

    Result<void> restart() override
    {
        m_gpu.reset();
        ESPALIER_TRY(sim::SimGpu gpu, sim::SimGpu::start(m_settings));
        m_gpu.emplace(std::move(gpu));
        return {};
    }

    Result<RunnerPlan> planRunner(Queues) override
    {
        auto client = createClient();
        if (!client) { // a new simgpu would not know the runners that are there: whoever restarts it ends them, too
            return lost() ? fail(ErrorCode::WorkerLost, "the simulated device's process has ended")
                          : std::unexpected(client.error());
        }
        return RunnerPlan{{"--device", "sim"}, std::move(client->runnerEnd), client->id};
    }

    SandboxNeeds sandboxNeeds() const override
    {
        SandboxNeeds needs;
        const fs::path shim = fs::path(m_worker).parent_path() / sim::simrtName;
        needs.files = {shim.string()};
        needs.folders = loadedLibraryFolders();
        needs.folders.insert(needs.folders.end(),
                             {"/usr/lib/x86_64-linux-gnu"}); // libstdc++ of candidates, where it is not ours
        return needs;
    }

    Result<MapOrder> map(std::uint32_t client, const Region& region, Grant access, const std::string& name) override
    {
        sim::SimGrant grant{region.buffer, region.offset, region.bytes, access, name};
        ESPALIER_CHECK(withGpu([&](sim::SimGpu& gpu) -> Result<void> {
            ESPALIER_TRY(const std::uint64_t address, gpu.grant(client, grant));
            (void)address; // the runner's own address: only the runner needs it
            return {};
        }));
        return MapOrder{{region.buffer->bytes(), access}, region.offset, UniqueFd()};
    }

    void drop(std::uint32_t client) override
    {
        if (m_gpu && !lost()) {
            (void)m_gpu->dropClient(client);
        }
    }

    Result<void> beginBlock(std::uint32_t client) override
    {
        return withGpu([&](sim::SimGpu& gpu) { return gpu.beginBlock(client, {instructionsPerCall}); });
    }
    Result<sim::BlockReport> finishBlock(std::uint32_t client, std::chrono::milliseconds limit) override
    {
        return withGpu([&](sim::SimGpu& gpu) { return gpu.finishBlock(client, limit); });
    }
    Result<sim::BlockReport> releaseDeferred(std::uint32_t client, std::chrono::milliseconds limit) override
    {
        return withGpu([&](sim::SimGpu& gpu) { return gpu.releaseDeferred(client, limit); });
    }

private:
    Result<sim::SimGpu::NewClient> createClient()
    {
        return withGpu([](sim::SimGpu& gpu) { return gpu.createClient(); });
    }

    template <typename Use>
    auto withGpu(const Use& use) -> decltype(use(std::declval<sim::SimGpu&>()))
    {
        if (!m_gpu) {
            return fail(ErrorCode::WorkerLost, "the simulated device is not running");
        }
        return use(*m_gpu);
    }

    std::unique_ptr<Device> m_device;
    sim::SimGpuSettings m_settings;
    std::string m_worker;
    std::optional<sim::SimGpu> m_gpu;
};

} // namespace

namespace {

std::string findResource(const std::string& name)
{
    std::vector<fs::path> roots;
    if (const char* named = std::getenv("ESPALIER_RESOURCES"); named && *named) {
        roots.emplace_back(named);
    }
    roots.push_back(executableFolder() / ".." / "share" / "espalier" / "resources");
    roots.emplace_back(ESPALIER_SOURCE_RESOURCES);
    for (const fs::path& root : roots) {
        std::error_code error;
        const fs::path file = root / "devices" / name;
        if (fs::exists(file, error)) {
            return fs::weakly_canonical(file, error).string();
        }
    }
    return "resources/devices/" + name;
}

} // namespace

std::string findDeviceProfile()
{
    return findResource("h200.json");
}

std::string findRoofs()
{
    return findResource("roofs.json");
}

Result<std::unique_ptr<DeviceSession>> openSimSession(const SessionSettings& settings)
{
    const std::string file = settings.profile.empty() ? findDeviceProfile() : settings.profile;
    ESPALIER_TRY(const std::string json, readFile(file));
    ESPALIER_TRY(const sim::DeviceProfile profile, sim::DeviceProfile::parse(json, file));
    ESPALIER_TRY(std::unique_ptr<Device> device, sim::openSimDevice({profile, 0}));
    sim::SimGpuSettings gpu;
    gpu.command = {settings.worker, "simgpu"};
    gpu.profileJson = json;
    gpu.profileName = fs::path(file).filename().string();
    auto session = std::make_unique<SimSession>(std::move(device), std::move(gpu), settings.worker);
    ESPALIER_CHECK(session->restart());
    return session;
}

Result<std::unique_ptr<DeviceSession>> openSession(const SessionSettings& settings)
{
    const std::string& device = settings.device;
    if (device == "sim") {
        return openSimSession(settings);
    }
    if (device == "auto") {
        auto cuda = openCudaSession(settings, 0);
        return cuda ? std::move(cuda) : openSimSession(settings);
    }
    if (device.starts_with("cuda:") && device.size() > 5 &&
        device.find_first_not_of("0123456789", 5) == std::string::npos && device.size() < 9) {
        return openCudaSession(settings, std::stoi(device.substr(5)));
    }
    return fail(ErrorCode::InvalidInput, fmt::format("there is no device \"{}\"; use auto, sim or cuda:N", device));
}

} // namespace espalier::judge
