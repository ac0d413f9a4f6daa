// SPDX-License-Identifier: Apache-2.0
#include "core/runner/launch_gate.h"

#include "core/runner/runtime_function.h"

#include <cstddef>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace {

using espalier::runner::ask;
using espalier::runner::Extent;
using espalier::runner::RefusedLaunch;

/// cudaFuncAttributes, as far as it is read, and room for what follows.
struct FunctionFacts {
    std::size_t sharedBytes = 0, constantBytes = 0, localBytes = 0;
    int maxThreads = 0, registers = 0, ptxVersion = 0, binaryVersion = 0, cacheMode = 0, maxDynamicShared = 0;
    std::byte rest[256] = {};
};

/// cudaLaunchConfig_t.
struct LaunchConfig {
    Extent grid, block;
    std::size_t dynamicShared;
    void* stream;
    void* attributes;
    unsigned attributeCount;
};

/// The runtime's own, its handles and structures as plain pointers.
struct LaunchFunctions {
    int (*launch)(const void* function, Extent grid, Extent block, void** args, std::size_t shared,
                  void* stream) = nullptr;
    int (*launchKernel)(void* kernel, Extent grid, Extent block, void** args, std::size_t shared,
                        void* stream) = nullptr;
    int (*launchEx)(const LaunchConfig* config, const void* function, void** args) = nullptr;
    int (*launchCooperative)(const void* function, Extent grid, Extent block, void** args, std::size_t shared,
                             void* stream) = nullptr;
    int (*getKernel)(void** kernel, const void* function) = nullptr;
    void (*registerFunction)(void** module, const char* hostFunction, char* deviceFunction, const char* name, int,
                             void*, void*, void*, void*, int*) = nullptr;
    int (*deviceAttribute)(int* value, int attribute, int device) = nullptr;
    int (*functionAttributes)(FunctionFacts* facts, const void* function) = nullptr;
    int (*device)(int* device) = nullptr;
};

/// Lives as long as the process: what a library has registered may be asked for while the process ends.
struct Notes {
    std::mutex mutex;
    std::map<const void*, std::string> names;         ///< by host function
    std::map<const void*, const void*> hostFunctions; ///< by kernel handle
    std::optional<RefusedLaunch> first;
};

LaunchFunctions launching;

Notes& notes()
{
    static auto* all = new Notes;
    return *all;
}

int attribute(int number, int device)
{
    int value = 0;
    return ask(launching.deviceAttribute, &value, number, device) == 0 ? value : 0;
}

void readDevice(RefusedLaunch& launch)
{
    int device = 0;
    if (ask(launching.device, &device) != 0) {
        return;
    }
    // numbers of cudaDeviceAttr
    launch.mostThreads = attribute(1, device);
    const auto extent = [device](int first) {
        return Extent{static_cast<unsigned>(attribute(first, device)),
                      static_cast<unsigned>(attribute(first + 1, device)),
                      static_cast<unsigned>(attribute(first + 2, device))};
    };
    launch.mostBlock = extent(2);
    launch.mostGrid = extent(5);
    launch.mostRegisters = attribute(12, device);
    launch.optinShared = static_cast<std::uint64_t>(attribute(97, device));
}

/// Of functions that were registered only: asking for another one would leave an error behind, which the candidate
/// would find in place of its own.
void readKernel(const void* function, RefusedLaunch& launch)
{
    FunctionFacts facts;
    if (ask(launching.functionAttributes, &facts, function) == 0) {
        launch.kernelThreads = facts.maxThreads;
        launch.registers = facts.registers;
        launch.staticShared = facts.sharedBytes;
        launch.kernelShared = static_cast<std::uint64_t>(facts.maxDynamicShared);
    }
}

int noted(int status, const void* function, const Extent& grid, const Extent& block, std::size_t shared)
{
    // What a launch's shape can break: invalid value, configuration, too many resources, cooperative too large.
    if (status != 1 && status != 9 && status != 701 && status != 720) {
        return status;
    }
    Notes& all = notes();
    const std::lock_guard lock(all.mutex);
    if (all.first) {
        return status;
    }
    RefusedLaunch launch;
    launch.grid = grid;
    launch.block = block;
    launch.dynamicShared = shared;
    launch.status = status;
    if (const auto host = all.hostFunctions.find(function); host != all.hostFunctions.end()) {
        function = host->second;
    }
    readDevice(launch);
    if (const auto name = all.names.find(function); name != all.names.end()) {
        launch.kernel = name->second;
        readKernel(function, launch);
    }
    all.first = std::move(launch);
    return status;
}

std::string demangled(const std::string& name)
{
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                           &std::free);
    return text && status == 0 ? std::string(text.get()) : name;
}

std::string shown(const Extent& extent)
{
    return fmt::format("{} x {} x {}", extent.x, extent.y, extent.z);
}

std::uint64_t product(const Extent& extent)
{
    return std::uint64_t{extent.x} * extent.y * extent.z;
}

std::string brokenExtent(const char* what, const Extent& asked, const Extent& most)
{
    const std::pair<unsigned, unsigned> pairs[] = {{asked.x, most.x}, {asked.y, most.y}, {asked.z, most.z}};
    const char* axis = "xyz";
    for (const auto& [value, limit] : pairs) {
        if (value == 0) {
            return fmt::format("{} {} is 0", what, *axis);
        }
        if (limit > 0 && value > limit) {
            return fmt::format("{} {} is {}, at most {} on this device", what, *axis, value, limit);
        }
        ++axis;
    }
    return {};
}

std::string brokenLimit(const RefusedLaunch& launch)
{
    if (std::string broken = brokenExtent("block", launch.block, launch.mostBlock); !broken.empty()) {
        return broken;
    }
    if (std::string broken = brokenExtent("grid", launch.grid, launch.mostGrid); !broken.empty()) {
        return broken;
    }
    const std::uint64_t threads = product(launch.block);
    if (launch.mostThreads > 0 && threads > static_cast<std::uint64_t>(launch.mostThreads)) {
        return fmt::format("{} threads a block, at most {} on this device", threads, launch.mostThreads);
    }
    if (launch.kernelThreads > 0 && threads > static_cast<std::uint64_t>(launch.kernelThreads)) {
        return fmt::format("{} threads a block, at most {} for this kernel (its __launch_bounds__ or its registers)",
                           threads, launch.kernelThreads);
    }
    if (launch.optinShared > 0 && launch.staticShared + launch.dynamicShared > launch.optinShared) {
        return fmt::format("{} bytes of shared memory a block ({} of them static), at most {} on this device",
                           launch.staticShared + launch.dynamicShared, launch.staticShared, launch.optinShared);
    }
    if (launch.kernelShared > 0 && launch.dynamicShared > launch.kernelShared) {
        return fmt::format("{} bytes of dynamic shared memory, at most {} unless cudaFuncSetAttribute(…, "
                           "cudaFuncAttributeMaxDynamicSharedMemorySize, …) asks for more",
                           launch.dynamicShared, launch.kernelShared);
    }
    const std::uint64_t registers = threads * static_cast<std::uint64_t>(launch.registers);
    if (launch.mostRegisters > 0 && registers > static_cast<std::uint64_t>(launch.mostRegisters)) {
        return fmt::format("{} threads of {} registers, at most {} registers a block on this device", threads,
                           launch.registers, launch.mostRegisters);
    }
    return {};
}

} // namespace

ESPALIER_EXPORTED int cudaLaunchKernel(const void* function, Extent grid, Extent block, void** args, std::size_t shared,
                                       void* stream)
{
    return noted(ask(launching.launch, function, grid, block, args, shared, stream), function, grid, block, shared);
}

ESPALIER_EXPORTED int __cudaLaunchKernel(void* kernel, Extent grid, Extent block, void** args, std::size_t shared,
                                         void* stream)
{
    return noted(ask(launching.launchKernel, kernel, grid, block, args, shared, stream), kernel, grid, block, shared);
}

ESPALIER_EXPORTED int cudaLaunchKernelExC(const LaunchConfig* config, const void* function, void** args)
{
    const int status = ask(launching.launchEx, config, function, args);
    return status == 0 || !config ? status
                                  : noted(status, function, config->grid, config->block, config->dynamicShared);
}

ESPALIER_EXPORTED int cudaLaunchCooperativeKernel(const void* function, Extent grid, Extent block, void** args,
                                                  std::size_t shared, void* stream)
{
    return noted(ask(launching.launchCooperative, function, grid, block, args, shared, stream), function, grid, block,
                 shared);
}

ESPALIER_EXPORTED int __cudaGetKernel(void** kernel, const void* function)
{
    const int status = ask(launching.getKernel, kernel, function);
    if (status == 0) {
        const std::lock_guard lock(notes().mutex);
        notes().hostFunctions[*kernel] = function;
    }
    return status;
}

ESPALIER_EXPORTED void __cudaRegisterFunction(void** module, const char* hostFunction, char* deviceFunction,
                                              const char* name, int threads, void* thread, void* block, void* blockSize,
                                              void* gridSize, int* warp)
{
    if (name) {
        const std::lock_guard lock(notes().mutex);
        notes().names[hostFunction] = name;
    }
    if (launching.registerFunction) {
        launching.registerFunction(module, hostFunction, deviceFunction, name, threads, thread, block, blockSize,
                                   gridSize, warp);
    }
}

namespace espalier::runner {

std::string textOf(const RefusedLaunch& launch)
{
    std::string text = fmt::format(
        "the launch of {} with grid {}, block {} and {} bytes of dynamic shared memory was refused with CUDA error {}",
        launch.kernel.empty() ? "a kernel" : demangled(launch.kernel), shown(launch.grid), shown(launch.block),
        launch.dynamicShared, launch.status);
    if (const std::string broken = brokenLimit(launch); !broken.empty()) {
        text += ": " + broken;
    }
    return text;
}

void installLaunchGate()
{
    find(launching.launch, "cudaLaunchKernel");
    find(launching.launchKernel, "__cudaLaunchKernel");
    find(launching.launchEx, "cudaLaunchKernelExC");
    find(launching.launchCooperative, "cudaLaunchCooperativeKernel");
    find(launching.getKernel, "__cudaGetKernel");
    find(launching.registerFunction, "__cudaRegisterFunction");
    find(launching.deviceAttribute, "cudaDeviceGetAttribute");
    find(launching.functionAttributes, "cudaFuncGetAttributes");
    find(launching.device, "cudaGetDevice");
}

std::string takeRefusedLaunch()
{
    const std::lock_guard lock(notes().mutex);
    const std::string text = notes().first ? textOf(*notes().first) : std::string();
    notes().first.reset();
    return text;
}

} // namespace espalier::runner
