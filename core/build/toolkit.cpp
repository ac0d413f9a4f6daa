// SPDX-License-Identifier: Apache-2.0
#include "core/build/toolkit.h"

#include "core/base/hash.h"
#include "core/base/subprocess.h"

#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view remedy = "install CUDA toolkit 13.x from NVIDIA, or set CUDA_HOME to its folder";

std::optional<fs::path> nvccIn(const fs::path& home)
{
    std::error_code error;
    const fs::path nvcc = home / "bin/nvcc";
    return fs::exists(nvcc, error) ? std::optional(nvcc) : std::nullopt;
}

/// The compiler that stands where one was asked for; the first place that has one decides.
Result<fs::path> findNvcc(const fs::path& home)
{
    if (!home.empty()) {
        if (const auto nvcc = nvccIn(home)) {
            return *nvcc;
        }
        return fail(ErrorCode::NotFound, fmt::format("there is no bin/nvcc in {}; {}", home.string(), remedy));
    }
    if (const char* stated = std::getenv("CUDA_HOME"); stated && *stated) {
        if (const auto nvcc = nvccIn(stated)) {
            return *nvcc;
        }
    }
    if (const std::string found = findProgram("nvcc"); !found.empty()) {
        return fs::path(found);
    }
    if (const auto nvcc = nvccIn("/usr/local/cuda")) {
        return *nvcc;
    }
    return fail(ErrorCode::NotFound, fmt::format("no CUDA toolkit was found; {}", remedy));
}

/// "13.0.88" out of `nvcc --version`.
std::string versionIn(std::string_view text)
{
    const std::size_t at = text.find(", V");
    if (at == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = text.substr(at + 3);
    return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

std::string identityOf(const Toolkit& toolkit)
{
    std::string all = toolkit.version;
    for (const char* name : {"bin/nvcc", "bin/cudafe++", "bin/ptxas", "bin/fatbinary", "nvvm/bin/cicc"}) {
        struct stat info = {};
        if (::stat((toolkit.home / name).c_str(), &info) == 0) {
            all += fmt::format("\n{} {} {}.{}", name, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
        }
    }
    return sha256(all);
}

} // namespace

Result<Toolkit> findToolkit(const fs::path& home)
{
    ESPALIER_TRY(const fs::path found, findNvcc(home));
    std::error_code error;
    Toolkit toolkit;
    toolkit.nvcc = fs::canonical(found, error);
    if (error) {
        return fail(ErrorCode::NotFound,
                    fmt::format("{} cannot be read ({}); {}", found.string(), error.message(), remedy));
    }
    toolkit.home = toolkit.nvcc.parent_path().parent_path();
    ESPALIER_TRY(const RunResult asked,
                 runToEnd({.argv = {toolkit.nvcc.string(), "--version"}}, {}, std::chrono::seconds(20)));
    toolkit.version = versionIn(asked.out);
    if (toolkit.version.empty()) {
        return fail(ErrorCode::NotFound, fmt::format("{} does not say its version ({}); {}", toolkit.nvcc.string(),
                                                     asked.status.text(), remedy));
    }
    if (!toolkit.version.starts_with("13.")) {
        return fail(ErrorCode::NotSupported, fmt::format("{} is CUDA toolkit {}; Espalier needs 13.x: {}",
                                                         toolkit.home.string(), toolkit.version, remedy));
    }
    toolkit.include = toolkit.home / "include";
    if (!fs::exists(toolkit.include / "cuda_runtime.h", error)) {
        return fail(ErrorCode::NotFound, fmt::format("the CUDA toolkit in {} lacks include/cuda_runtime.h; {}",
                                                     toolkit.home.string(), remedy));
    }
    toolkit.lib = fs::exists(toolkit.home / "lib64", error) ? toolkit.home / "lib64" : toolkit.home / "lib";
    toolkit.identity = identityOf(toolkit);
    return toolkit;
}

} // namespace espalier
