// SPDX-License-Identifier: Apache-2.0
#include "core/profile/cupti_api.h"

#include "core/profile/cupti_error.h"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace espalier::profile {

std::string CuptiApi::describe(CUptiResult code) const
{
    const char* name = nullptr;
    if (cuptiGetResultString) {
        cuptiGetResultString(code, &name);
    }
    return fmt::format("CUPTI {}{}{}", static_cast<int>(code), name ? " " : "", name ? name : "");
}

namespace {

/// CUPTI opens these by name alone, so that the loader's path decides which copy it gets, or none in a sandbox. The
/// ones beside it are loaded first: then the names mean them.
void loadCompanions(const std::string& path)
{
    namespace fs = std::filesystem;
    std::error_code error;
    for (const fs::path& folder : {fs::path(path).parent_path(), fs::canonical(path, error).parent_path()}) {
        for (const char* name : {"libnvperf_target.so", "libnvperf_host.so"}) {
            if (fs::exists(folder / name, error)) {
                ::dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL);
            }
        }
    }
}

} // namespace

Result<CuptiApi> loadCupti(const std::string& path)
{
    loadCompanions(path);
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* why = ::dlerror();
        return fail(ErrorCode::NotFound,
                    fmt::format("CUPTI cannot be loaded ({}): install the CUDA toolkit's CUPTI", why ? why : path));
    }
    CuptiApi api;
    const char* missing = nullptr;
#define ESPALIER_CUPTI_LOAD(function)                                                                                  \
    api.function = reinterpret_cast<decltype(api.function)>(::dlsym(library, #function));                              \
    if (!api.function) {                                                                                               \
        missing = #function;                                                                                           \
    }
    ESPALIER_CUPTI_FUNCTIONS(ESPALIER_CUPTI_LOAD)
#undef ESPALIER_CUPTI_LOAD
    if (missing) {
        return fail(ErrorCode::NotSupported,
                    fmt::format("{} is too old (it has no {}): use CUPTI of CUDA 13.0 or newer", path, missing));
    }
    std::error_code error;
    api.path = std::filesystem::canonical(path, error).string();
    ESPALIER_CUPTI(api, "Asking CUPTI for its version", api.cuptiGetVersion(&api.version));
    return api;
}

} // namespace espalier::profile
