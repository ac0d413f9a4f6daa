// SPDX-License-Identifier: Apache-2.0
// A libnvidia-ml.so.1 without a GPU, for tests. ESPALIER_FAKE_NVML sets what it reads, as lists that are walked from
// read to read and start again: "sm=1980,1980,900 memory=2619 power=300000 temperature=50 reasons=0,64 foreign=0". A
// key that is missing makes its function fail, except `foreign` (0). It knows every device whose identity starts with
// "GPU-".
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr int success = 0, notSupported = 3, notFound = 6, tooSmall = 7;

struct Process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpuInstance, computeInstance;
};

std::vector<unsigned long long> listOf(const char* key)
{
    const char* text = std::getenv("ESPALIER_FAKE_NVML");
    const std::string all = text ? std::string(" ") + text : std::string();
    const std::string wanted = std::string(" ") + key + "=";
    std::vector<unsigned long long> list;
    const auto at = all.find(wanted);
    if (at == std::string::npos) {
        return list;
    }
    const char* next = all.c_str() + at + wanted.size();
    for (;;) {
        char* end = nullptr;
        list.push_back(std::strtoull(next, &end, 10));
        if (*end != ',') {
            return list;
        }
        next = end + 1;
    }
}

template <typename T>
int next(const char* key, T* value)
{
    static std::map<std::string, std::size_t> reads;
    const auto list = listOf(key);
    if (list.empty()) {
        return notSupported;
    }
    *value = static_cast<T>(list[reads[key]++ % list.size()]);
    return success;
}

} // namespace

extern "C" {

int nvmlInit_v2()
{
    return success;
}

int nvmlSystemGetDriverVersion(char* text, unsigned length)
{
    std::strncpy(text, "999.1", length);
    return success;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device)
{
    static char theDevice;
    *device = &theDevice;
    return std::strncmp(uuid, "GPU-", 4) == 0 ? success : notFound;
}

int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* megahertz)
{
    return next(type == 1 ? "sm" : "memory", megahertz);
}

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts)
{
    return next("power", milliwatts);
}

int nvmlDeviceGetTemperature(void*, unsigned, unsigned* degrees)
{
    return next("temperature", degrees);
}

int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons)
{
    return next("reasons", reasons);
}

/// The caller, and as many processes of others as `foreign` says (process 1 stands for each of them).
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, Process* list)
{
    unsigned long long foreign = 0;
    next("foreign", &foreign);
    if (*count < foreign + 1) {
        return tooSmall;
    }
    list[0] = {static_cast<unsigned>(getpid()), 1 << 20, 0, 0};
    for (unsigned i = 0; i < foreign; ++i) {
        list[i + 1] = {1, 1 << 20, 0, 0};
    }
    *count = static_cast<unsigned>(foreign + 1);
    return success;
}

} // extern "C"
