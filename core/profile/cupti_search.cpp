// SPDX-License-Identifier: Apache-2.0
#include "core/profile/cupti_search.h"

#include "core/base/subprocess.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <link.h>

namespace espalier::profile {

namespace {

namespace fs = std::filesystem;

constexpr const char* fileName = "libcupti.so.13";
constexpr const char* hostName = "libnvperf_host.so";

std::vector<fs::path> toolkitHomes()
{
    std::vector<fs::path> homes;
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* home = std::getenv(name); home && *home) {
            homes.emplace_back(home);
        }
    }
    if (const std::string nvcc = findProgram("nvcc"); !nvcc.empty()) {
        std::error_code error;
        homes.push_back(fs::canonical(nvcc, error).parent_path().parent_path());
    }
    for (const char* home : {"/usr/local/cuda", "/usr/local/cuda-13", "/usr/local/cuda-13.0", "/opt/cuda"}) {
        homes.emplace_back(home);
    }
    return homes;
}

/// site-packages of the Pythons that are usually there: PyTorch brings a CUPTI of its own.
std::vector<fs::path> pythonFolders()
{
    std::vector<fs::path> folders;
    for (const char* base : {"/usr/local/lib", "/usr/lib"}) {
        std::error_code error;
        for (const fs::directory_entry& entry : fs::directory_iterator(base, error)) {
            if (entry.path().filename().string().starts_with("python3")) {
                folders.push_back(entry.path() / "dist-packages/nvidia/cu13/lib");
                folders.push_back(entry.path() / "site-packages/nvidia/cu13/lib");
            }
        }
    }
    return folders;
}

std::vector<fs::path> places()
{
    std::vector<fs::path> all;
    for (const fs::path& home : toolkitHomes()) {
        for (const char* folder : {"lib64", "lib", "extras/CUPTI/lib64", "targets/x86_64-linux/lib"}) {
            all.push_back(home / folder);
        }
    }
    for (const fs::path& folder : pythonFolders()) {
        all.push_back(folder);
    }
    return all;
}

/// The loader's own copy, found without running any of its code twice: it is loaded anyway when it is used.
fs::path loaderPlace()
{
    void* handle = ::dlopen(fileName, RTLD_LAZY | RTLD_LOCAL);
    link_map* map = nullptr;
    if (!handle || ::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) {
        return {};
    }
    const fs::path place = map->l_name;
    ::dlclose(handle);
    return place;
}

} // namespace

Result<CuptiPlace> findCupti()
{
    CuptiPlace found;
    const auto take = [&](const fs::path& file) {
        std::error_code error;
        if (!fs::is_regular_file(file, error)) {
            return false;
        }
        const fs::path real = fs::canonical(file, error);
        for (const fs::path& folder : {file.parent_path(), real.parent_path()}) {
            if (fs::exists(folder / hostName, error)) {
                found.library = real.string();
                found.folder = folder.string();
                return true;
            }
        }
        found.notes.push_back(fmt::format("{} was passed over: it has no {} beside it", file.string(), hostName));
        return false;
    };
    if (const char* stated = std::getenv("ESPALIER_CUPTI"); stated && *stated) {
        std::error_code error;
        const fs::path path = stated;
        if (take(fs::is_directory(path, error) ? path / fileName : path)) {
            return found;
        }
        return fail(ErrorCode::NotFound, fmt::format("ESPALIER_CUPTI names {}, which is no {} with a {} beside it",
                                                     stated, fileName, hostName));
    }
    for (const fs::path& folder : places()) {
        if (take(folder / fileName)) {
            return found;
        }
    }
    if (const fs::path place = loaderPlace(); !place.empty() && take(place)) {
        return found;
    }
    std::string why;
    for (const std::string& note : found.notes) {
        why += " (" + note + ")";
    }
    return fail(
        ErrorCode::NotFound,
        fmt::format(
            "CUPTI 13 was not found{}: install it with the CUDA toolkit, or name its folder with ESPALIER_CUPTI", why));
}

} // namespace espalier::profile
