// SPDX-License-Identifier: Apache-2.0
#include "core/runner/runner_main.h"

#include "core/base/file.h"
#include "core/device/cuda/cuda_runner_device.h"
#include "core/simgpu/sim_runner_device.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <string_view>

namespace espalier::runner {

namespace {

constexpr int controlDescriptor = 3;
constexpr int simgpuDescriptor = 4;

struct Options {
    std::string device;
    std::string runtime = "libcudart.so.13";
    bool probe = false;
    bool oneQueue = false;
};

Result<Options> parse(int argc, char** argv)
{
    Options options;
    for (int i = 0; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--probe") {
            options.probe = true;
        } else if (word == "--one-queue") {
            options.oneQueue = true;
        } else if (word == "--device" && i + 1 < argc) {
            options.device = argv[++i];
        } else if (word == "--runtime" && i + 1 < argc) {
            options.runtime = argv[++i];
        } else {
            return fail(ErrorCode::InvalidInput, fmt::format("espalier-worker runner: unknown option {}", word));
        }
    }
    return options;
}

Result<int> versionOf(void* handle)
{
    using VersionFunction = int (*)(int*);
    int version = 0;
    if (auto* get = reinterpret_cast<VersionFunction>(::dlsym(handle, "cudaRuntimeGetVersion"))) {
        get(&version);
    }
    return version;
}

} // namespace

int runnerMain(int argc, char** argv, const RunnerDefences& defences)
{
    const auto options = parse(argc, argv);
    if (!options) {
        fmt::print(stderr, "{}\n", options.error().message);
        return 2;
    }
    if (options->probe) {
        return 0; // the sandbox works: that was the question
    }
    RunnerSetup setup;
    setup.defences = defences;
    if (options->device == "sim") {
        const std::string shim = (executableFolder() / sim::simrtName).string();
        setup.openDevice = [shim] { return sim::openSimRunnerDevice(UniqueFd(simgpuDescriptor), shim); };
        setup.bindRuntime = [] { return versionOf(RTLD_DEFAULT); }; // the shim is the runtime
    } else if (options->device.starts_with("cuda:")) {
        setup.spin =
            std::chrono::milliseconds(std::getenv("ESPALIER_LIBCUDA") ? 0 : 50); // a stand-in driver times nothing
        CudaRunnerOptions cuda;
        cuda.ordinal = std::atoi(options->device.c_str() + 5);
        cuda.runtimeLibrary = options->runtime;
        if (options->oneQueue) { // the driver reads it when it is initialised
            ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
        } else {
            ::unsetenv("CUDA_DEVICE_MAX_CONNECTIONS"); // a trusted runner would have it of its user
        }
        setup.openDevice = [cuda] { return openCudaRunnerDevice(cuda); };
        setup.bindRuntime = [cuda] { return bindCudaRuntime(cuda.runtimeLibrary); };
    } else {
        fmt::print(stderr, "espalier-worker runner is started by a judge; it needs --device cuda:N or sim\n");
        return 2;
    }
    return serveRunner(UniqueFd(controlDescriptor), setup);
}

} // namespace espalier::runner
