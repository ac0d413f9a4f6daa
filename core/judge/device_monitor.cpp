// SPDX-License-Identifier: Apache-2.0
#include "core/judge/device_monitor.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace espalier::judge {

namespace {

// The few declarations of NVIDIA's Management Library that are needed, as its documentation states them: the header is
// not part of every toolkit, and the library is bound at run time only.
using NvmlDevice = void*;
constexpr int nvmlSuccess = 0;
constexpr int nvmlNotFound = 6;
constexpr unsigned clockSm = 1, clockMemory = 2;
constexpr unsigned sensorGpu = 0;

struct NvmlProcess { // nvmlProcessInfo_v2_t
    unsigned pid;
    unsigned long long usedBytes;
    unsigned gpuInstance, computeInstance;
};
struct NvmlUtilization { // nvmlProcessUtilizationSample_t
    unsigned pid;
    unsigned long long timeStamp;
    unsigned sm, memory, encoder, decoder;
};

/// Reasons for a lower clock that make a block worthless. A power cap is not among them: a heavy kernel runs at it all
/// the time, and that is its honest speed, however low its clock.
constexpr std::int64_t powerCap = 0x04;
constexpr std::int64_t hardwareSlowdown = 0x08, softwareThermal = 0x20, hardwareThermal = 0x40, powerBrake = 0x80;
constexpr std::int64_t throttled = hardwareSlowdown | softwareThermal | hardwareThermal | powerBrake;
constexpr double leastClockShare = 0.75;

struct Nvml {
    int (*init)() = nullptr;
    int (*driverVersion)(char*, unsigned) = nullptr;
    int (*handleByUuid)(const char*, NvmlDevice*) = nullptr;
    int (*clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
    int (*power)(NvmlDevice, unsigned*) = nullptr;
    int (*temperature)(NvmlDevice, unsigned, unsigned*) = nullptr;
    int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
    int (*processes)(NvmlDevice, unsigned*, NvmlProcess*) = nullptr;
    int (*utilization)(NvmlDevice, NvmlUtilization*, unsigned*, unsigned long long) = nullptr;
};

template <typename Function>
bool bind(void* library, Function& function, std::initializer_list<const char*> names)
{
    for (const char* name : names) {
        if (void* symbol = ::dlsym(library, name)) {
            function = reinterpret_cast<Function>(symbol);
            return true;
        }
    }
    return false;
}

int parentOf(int pid)
{
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string text;
    std::getline(file, text);
    const auto close = text.rfind(')'); // a name may hold anything, parentheses too
    if (close == std::string::npos) {
        return 0;
    }
    std::istringstream rest(text.substr(close + 1));
    char state = 0;
    int parent = 0;
    rest >> state >> parent;
    return parent;
}

bool descendsFrom(int pid, int ancestor)
{
    for (int depth = 0; pid > 1 && depth < 64; ++depth) {
        if (pid == ancestor) {
            return true;
        }
        pid = parentOf(pid);
    }
    return false;
}

class Blind final : public DeviceMonitor
{
public:
    explicit Blind(const std::string& why) : m_name("none: " + why) {}
    BlockConditions read() override { return {}; }
    const std::string& name() const override { return m_name; }

private:
    std::string m_name;
};

class NvmlMonitor final : public DeviceMonitor
{
public:
    NvmlMonitor(const Nvml& api, NvmlDevice device, std::string name)
        : m_api(api), m_device(device), m_name(std::move(name))
    {
    }

    BlockConditions read() override
    {
        BlockConditions now;
        const auto number = [](int code, unsigned value) { return code == nvmlSuccess ? static_cast<int>(value) : -1; };
        unsigned value = 0;
        int code = m_api.clock(m_device, clockSm, &value);
        now.smMhz = number(code, value);
        code = m_api.clock(m_device, clockMemory, &value);
        now.memoryMhz = number(code, value);
        if (m_api.power && m_api.power(m_device, &value) == nvmlSuccess) {
            now.powerWatts = value / 1000.0;
        }
        if (m_api.temperature) {
            code = m_api.temperature(m_device, sensorGpu, &value);
            now.temperature = number(code, value);
        }
        unsigned long long reasons = 0;
        if (m_api.reasons && m_api.reasons(m_device, &reasons) == nvmlSuccess) {
            now.throttleReasons = static_cast<std::int64_t>(reasons);
        }
        now.foreignProcesses = foreign();
        return now;
    }

    const std::string& name() const override { return m_name; }

private:
    using Clock = std::chrono::steady_clock;

    int foreign()
    {
        constexpr auto validity = std::chrono::milliseconds(200);
        if (Clock::now() - m_lookedAt > validity) {
            m_foreign = countForeign();
            m_lookedAt = Clock::now();
        }
        return m_foreign;
    }

    /// Processes with a compute context that are not ours and, where NVML tells, have done work of late. -1 where its
    /// process ids are not those of this name space: the judge itself, which has a context, is then not in the list.
    int countForeign()
    {
        if (!m_api.processes) {
            return -1;
        }
        std::array<NvmlProcess, 256> list{};
        auto count = static_cast<unsigned>(list.size());
        if (m_api.processes(m_device, &count, list.data()) != nvmlSuccess) {
            return -1;
        }
        const int own = ::getpid();
        bool seen = false;
        std::vector<unsigned> others;
        for (unsigned i = 0; i < count && i < list.size(); ++i) {
            const int pid = static_cast<int>(list[i].pid);
            seen = seen || pid == own;
            if (!descendsFrom(pid, own)) {
                others.push_back(list[i].pid);
            }
        }
        if (!seen) {
            return -1;
        }
        int busy = 0;
        for (const unsigned pid : others) {
            busy += working(pid) ? 1 : 0;
        }
        return busy;
    }

    /// Whether a process has used the GPU within the last second. True where NVML does not tell.
    bool working(unsigned pid)
    {
        if (!m_api.utilization) {
            return true;
        }
        std::array<NvmlUtilization, 256> samples{};
        auto count = static_cast<unsigned>(samples.size());
        const auto now =
            std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
        const auto since = static_cast<unsigned long long>(now.count()) - 1'000'000ULL;
        const int code = m_api.utilization(m_device, samples.data(), &count, since);
        if (code == nvmlNotFound) {
            return false;
        }
        if (code != nvmlSuccess) {
            return true;
        }
        for (unsigned i = 0; i < count && i < samples.size(); ++i) {
            if (samples[i].pid == pid && (samples[i].sm > 0 || samples[i].memory > 0)) {
                return true;
            }
        }
        return false;
    }

    Nvml m_api;
    NvmlDevice m_device;
    std::string m_name;
    Clock::time_point m_lookedAt{};
    int m_foreign = -1;
};

} // namespace

std::unique_ptr<DeviceMonitor> openDeviceMonitor(const std::string& uuid)
{
    if (uuid.empty()) {
        return std::make_unique<Blind>("the device is simulated");
    }
    const char* named = std::getenv("ESPALIER_LIBNVML");
    const std::string file = named && *named ? named : "libnvidia-ml.so.1";
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); // stays loaded: it has threads of its own
    if (!library) {
        return std::make_unique<Blind>(file + " can't be loaded");
    }
    Nvml api;
    const bool complete = bind(library, api.init, {"nvmlInit_v2"}) &&
                          bind(library, api.handleByUuid, {"nvmlDeviceGetHandleByUUID"}) &&
                          bind(library, api.clock, {"nvmlDeviceGetClockInfo"});
    if (!complete) {
        return std::make_unique<Blind>(file + " lacks functions");
    }
    bind(library, api.driverVersion, {"nvmlSystemGetDriverVersion"});
    bind(library, api.power, {"nvmlDeviceGetPowerUsage"});
    bind(library, api.temperature, {"nvmlDeviceGetTemperature"});
    bind(library, api.reasons, {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
    bind(library, api.processes, {"nvmlDeviceGetComputeRunningProcesses_v3"});
    bind(library, api.utilization, {"nvmlDeviceGetProcessUtilization"});
    if (const int code = api.init(); code != nvmlSuccess) {
        return std::make_unique<Blind>(fmt::format("NVML does not start (error {})", code));
    }
    NvmlDevice device = nullptr;
    if (const int code = api.handleByUuid(uuid.c_str(), &device); code != nvmlSuccess) {
        return std::make_unique<Blind>(fmt::format("NVML does not know {} (error {})", uuid, code));
    }
    std::array<char, 96> version{};
    if (!api.driverVersion || api.driverVersion(version.data(), version.size() - 1) != nvmlSuccess) {
        version[0] = '\0';
    }
    return std::make_unique<NvmlMonitor>(api, device, fmt::format("NVML {}", version.data()));
}

std::string disturbance(const BlockConditions& conditions, int fastestSmMhz)
{
    if (conditions.throttleReasons > 0 && (conditions.throttleReasons & throttled) != 0) {
        return "throttled";
    }
    const bool capped = conditions.throttleReasons > 0 && (conditions.throttleReasons & powerCap) != 0;
    if (!capped && conditions.smMhz > 0 && conditions.smMhz < leastClockShare * fastestSmMhz) {
        return "low clock";
    }
    if (conditions.foreignProcesses > 0) {
        return "foreign process";
    }
    return {};
}

} // namespace espalier::judge
