// SPDX-License-Identifier: Apache-2.0
#include "core/runner/profiler_main.h"

#include "core/device/cuda/cuda_runner_device.h"
#include "core/profile/cupti_search.h"
#include "core/runner/runner_main.h"

#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

namespace espalier::runner {

namespace {

constexpr int judgeDescriptor = 3;

struct ProfilerOptions {
    CudaRunnerOptions cuda;
    profile::CollectorOptions collector;
    bool probe = false;
};

Result<ProfilerOptions> profilerOptions(int argc, char** argv)
{
    ProfilerOptions options;
    std::string device;
    for (int i = 0; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--warm") {
            options.collector.cold = false;
            continue;
        }
        if (word == "--probe") {
            options.probe = true;
            continue;
        }
        std::string* value = word == "--device"    ? &device
                             : word == "--runtime" ? &options.cuda.runtimeLibrary
                             : word == "--cupti"   ? &options.collector.cupti
                             : word == "--collect" ? &options.collector.what
                             : word == "--sets"    ? &options.collector.sets
                                                   : nullptr;
        if (!value || i + 1 == argc) {
            return fail(ErrorCode::InvalidInput, fmt::format("espalier-worker profiler: unknown option {}", word));
        }
        *value = argv[++i];
    }
    if (!device.starts_with("cuda:")) {
        return fail(ErrorCode::InvalidInput,
                    "espalier-worker profiler is started by a judge; it needs --device cuda:N");
    }
    options.cuda.ordinal = options.collector.ordinal = std::atoi(device.c_str() + 5);
    return options;
}

/// Everything a counter run needs but the run: what stands in its way is found here.
Result<std::string> probeCounters(ProfilerOptions options)
{
    if (options.collector.cupti.empty()) {
        ESPALIER_TRY(const profile::CuptiPlace place, profile::findCupti());
        options.collector.cupti = place.library;
    }
    options.collector.what = "ranges";
    options.collector.sets = "core,flops";
    ESPALIER_TRY(const auto device, openCudaRunnerDevice(options.cuda));
    ESPALIER_TRY(const auto collector, profile::openCollector(options.collector));
    ESPALIER_CHECK(collector->prepare());
    return options.collector.cupti;
}

} // namespace

int profilerMain(int argc, char** argv)
{
    const auto options = profilerOptions(argc, argv);
    if (!options) {
        fmt::print(stderr, "{}\n", options.error().message);
        return 2;
    }
    if (options->probe) {
        const auto able = probeCounters(*options);
        fmt::print(able ? stdout : stderr, "{}\n", able ? *able : able.error().message);
        std::fflush(stdout);
        std::fflush(stderr);
        std::_Exit(able ? 0 : 1); // CUPTI's threads may still be there
    }
    RunnerSetup setup;
    setup.openDevice = [options] { return openCudaRunnerDevice(options->cuda); };
    setup.bindRuntime = [options] { return bindCudaRuntime(options->cuda.runtimeLibrary); };
    setup.openCollector = [options] { return profile::openCollector(options->collector); };
    return serveRunner(UniqueFd(judgeDescriptor), setup);
}

} // namespace espalier::runner
