// SPDX-License-Identifier: Apache-2.0
// One collector on one library, without a judge: what it costs and what it says, as JSON.
//   espalier_profile_probe ranges|activity|sampling|plain SETS LIBRARY.so CUDART.so [COLD [CASE]]
// The library has `int probe_call(int case, void* a, void* b, void* c, size_t bytes, void* stream)`.
#include "core/device/cuda/cuda_runner_device.h"
#include "core/device/cuda/driver_api.h"
#include "core/profile/collector.h"
#include "core/profile/cupti_search.h"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

using namespace espalier;
using Clock = std::chrono::steady_clock;

namespace {

double since(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Result<void> probe(int argc, char** argv)
{
    const auto start = Clock::now();
    ESPALIER_TRY(const profile::CuptiPlace place, profile::findCupti());
    const CudaRunnerOptions cuda{.ordinal = 0, .runtimeLibrary = argv[4]};
    ESPALIER_TRY(const std::unique_ptr<RunnerDevice> device, openCudaRunnerDevice(cuda));
    const double opened = since(start);
    profile::CollectorOptions options{.what = argv[1],
                                      .cupti = place.library,
                                      .sets = argv[2],
                                      .ordinal = 0,
                                      .cold = argc < 6 || std::atoi(argv[5]) != 0};
    const bool plain = argv[1] == std::string_view("plain"); // for ncu: no CUPTI of ours
    std::unique_ptr<profile::Collector> collector;
    if (!plain) {
        ESPALIER_TRY(collector, profile::openCollector(options));
        ESPALIER_CHECK(collector->prepare());
    }
    const double prepared = since(start);
    void* library = ::dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
    using Call = int (*)(int, void*, void*, void*, std::size_t, void*);
    const auto call = library ? reinterpret_cast<Call>(::dlsym(library, "probe_call")) : nullptr;
    if (!call) {
        return fail(ErrorCode::NotFound, ::dlerror());
    }
    ESPALIER_TRY(const cuda::DriverApi* api, cuda::driverApi());
    constexpr std::size_t bytes = std::size_t{256} << 20;
    CUdeviceptr buffers[3] = {};
    for (CUdeviceptr& buffer : buffers) {
        ESPALIER_CUDA(*api, "Allocating failed", api->cuMemAlloc(&buffer, bytes));
        api->cuMemsetD32Async(buffer, 0x3f000000, bytes / 4, nullptr);
    }
    ESPALIER_CHECK(device->synchronize());
    const int kind = argc > 6 ? std::atoi(argv[6]) : 0;
    profile::Workload work{device.get(), 3, [&](std::size_t) {
                               return call(kind, reinterpret_cast<void*>(buffers[0]),
                                           reinterpret_cast<void*>(buffers[1]), reinterpret_cast<void*>(buffers[2]),
                                           bytes, device->stream());
                           }};
    if (plain) {
        const int status = work.call(0) + work.call(1);
        return status == 0 ? device->synchronize() : fail(ErrorCode::InvalidInput, "the call failed");
    }
    const double before = since(start);
    ESPALIER_TRY(Json json, collector->collect(work));
    json["ms_open"] = opened;
    json["ms_prepare"] = prepared - opened;
    json["ms_collect"] = since(start) - before;
    fmt::print("{}\n", json.dump());
    return {};
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 5) {
        fmt::print(stderr, "usage: espalier_profile_probe COLLECTOR SETS LIBRARY.so CUDART.so [COLD [CASE]]\n");
        return 2;
    }
    const auto done = probe(argc, argv);
    if (!done) {
        fmt::print(stderr, "{}\n", done.error().message);
    }
    std::fflush(stdout);
    ::_exit(done ? 0 : 1);
}
