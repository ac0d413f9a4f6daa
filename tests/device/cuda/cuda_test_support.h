// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/cuda/cuda_device.h"
#include "core/device/cuda/cuda_runner_device.h"
#include "core/device/ops/ops_cpu.h"

#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#ifdef ESPALIER_ON_HARDWARE
#include <sys/mman.h>
namespace spike {
extern const char spikeCandidate[];
extern const unsigned long spikeCandidateSize;
} // namespace spike
#endif

/// What the tests of device/cuda share. On the fake driver the environment names the runtime (ESPALIER_TEST_CUDART) and
/// a library with the entries of the spike (ESPALIER_TEST_CANDIDATE); on a GPU that library is embedded.
namespace espalier {

inline std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

inline bool onHardware()
{
#ifdef ESPALIER_ON_HARDWARE
    return true;
#else
    return false;
#endif
}

/// The value, or a failed test and the end of the program: nothing after it would mean anything.
template <typename T>
T must(Result<T> result)
{
    if (!result) {
        ADD_FAILURE() << result.error().message;
        std::abort();
    }
    if constexpr (!std::is_void_v<T>) {
        return std::move(*result);
    }
}

inline std::unique_ptr<RunnerDevice> openRunner()
{
    CudaRunnerOptions options;
    for (const std::string& path :
         {environment("ESPALIER_TEST_CUDART"), environment("CUDA_HOME") + "/lib64/libcudart.so.13",
          std::string("/usr/local/cuda/lib64/libcudart.so.13")}) {
        if (!path.empty() && access(path.c_str(), R_OK) == 0) {
            options.runtimeLibrary = path;
            break;
        }
    }
    return must(openCudaRunnerDevice(options));
}

inline std::string candidatePath()
{
#ifdef ESPALIER_ON_HARDWARE
    static const int fd = memfd_create("candidate", 0);
    const bool written = pwrite(fd, spike::spikeCandidate, spike::spikeCandidateSize, 0) ==
                         static_cast<ssize_t>(spike::spikeCandidateSize);
    return written ? "/proc/self/fd/" + std::to_string(fd) : "";
#else
    return environment("ESPALIER_TEST_CANDIDATE");
#endif
}

struct Candidate {
    int (*stream)(const float*, float*, std::int64_t, void*) = nullptr;
    int (*poke)(float*, void*) = nullptr;
};

inline Candidate loadCandidate()
{
    void* library = dlopen(candidatePath().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        ADD_FAILURE() << dlerror();
        std::abort();
    }
    Candidate candidate;
    candidate.stream = reinterpret_cast<decltype(candidate.stream)>(dlsym(library, "spike_stream"));
    candidate.poke = reinterpret_cast<decltype(candidate.poke)>(dlsym(library, "spike_poke"));
    return candidate;
}

template <typename Args>
void runOp(Device& device, ops::Op op, const Args& args, std::uint64_t count)
{
    must(device.run(op, std::as_bytes(std::span(&args, 1)), count));
}

template <typename T>
std::vector<T> readBack(Device& device, std::uint64_t address, std::size_t count)
{
    std::vector<T> values(count);
    must(device.read(std::as_writable_bytes(std::span(values)), address));
    return values;
}

} // namespace espalier
