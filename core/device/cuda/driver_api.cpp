// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda/driver_api.h"

#include <cstdlib>
#include <dlfcn.h>

namespace espalier::cuda {

namespace {

#define ESPALIER_STRING2(text) #text
#define ESPALIER_STRING(text) ESPALIER_STRING2(text)

constexpr int oldestDriver = 13000;

std::string libraryName()
{
    const char* chosen = std::getenv("ESPALIER_LIBCUDA");
    return chosen && *chosen ? chosen : "libcuda.so.1";
}

Result<DriverApi> load()
{
    const std::string name = libraryName();
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        return fail(ErrorCode::NotFound, "There is no NVIDIA driver on this machine (" + name +
                                             " can't be loaded): install one, or use the simulated device.");
    }
    DriverApi api;
    const char* missing = nullptr;
    // The macro is expanded first, so the symbol is the versioned one that matches the type in cuda.h.
#define ESPALIER_DRIVER_LOAD(function)                                                                                 \
    api.function = reinterpret_cast<decltype(api.function)>(dlsym(library, ESPALIER_STRING(function)));                \
    if (!api.function) {                                                                                               \
        missing = ESPALIER_STRING(function);                                                                           \
    }
    ESPALIER_DRIVER_FUNCTIONS(ESPALIER_DRIVER_LOAD)
#undef ESPALIER_DRIVER_LOAD
    api.ownClock = reinterpret_cast<decltype(api.ownClock)>(dlsym(library, "espalierDriverClock"));
    if (missing) {
        return fail(ErrorCode::NotSupported, "The NVIDIA driver is too old (it has no " + std::string(missing) +
                                                 "): install a driver for CUDA 13.0 or newer.");
    }
    if (const CUresult code = api.cuInit(0); code != CUDA_SUCCESS) {
        return fail(ErrorCode::NotFound,
                    "The NVIDIA driver does not start (" + api.describe(code) + "): check nvidia-smi.");
    }
    api.cuDriverGetVersion(&api.version);
    if (api.version < oldestDriver) {
        return fail(ErrorCode::NotSupported, "The NVIDIA driver serves CUDA " + std::to_string(api.version / 1000) +
                                                 "." + std::to_string(api.version % 1000 / 10) +
                                                 ": install a driver for CUDA 13.0 or newer.");
    }
    return api;
}

} // namespace

std::string DriverApi::describe(CUresult code) const
{
    const char* name = nullptr;
    const char* text = nullptr;
    if (cuGetErrorName) {
        cuGetErrorName(code, &name);
        cuGetErrorString(code, &text);
    }
    return "CUDA " + std::to_string(static_cast<int>(code)) + (name ? std::string(" ") + name : std::string()) +
           (text ? std::string(": ") + text : std::string());
}

Result<const DriverApi*> driverApi()
{
    static const Result<DriverApi> loaded = load();
    if (!loaded) {
        return std::unexpected(loaded.error());
    }
    return &*loaded;
}

} // namespace espalier::cuda
