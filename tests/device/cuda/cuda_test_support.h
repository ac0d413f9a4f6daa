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
#include <vector>

/// What the tests of device/cuda share. They run on the fake driver unless ESPALIER_GPU is 1; the environment names the
/// runtime (ESPALIER_TEST_CUDART) and a library with the entries of the spike (ESPALIER_TEST_CANDIDATE).
namespace espalier {

inline std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

inline bool onHardware()
{
    return environment("ESPALIER_GPU") == "1";
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
    if (const std::string runtime = environment("ESPALIER_TEST_CUDART"); !runtime.empty()) {
        options.runtimeLibrary = runtime;
    }
    return must(openCudaRunnerDevice(options));
}

struct Candidate {
    int (*stream)(const float*, float*, std::int64_t, void*) = nullptr;
    int (*poke)(float*, void*) = nullptr;
};

inline Candidate loadCandidate()
{
    void* library = dlopen(environment("ESPALIER_TEST_CANDIDATE").c_str(), RTLD_NOW | RTLD_LOCAL);
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
