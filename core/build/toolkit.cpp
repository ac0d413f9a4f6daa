// SPDX-License-Identifier: Apache-2.0
#include "core/build/toolkit.h"

#include "core/base/hash.h"
#include "core/base/subprocess.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

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
        std::error_code error;
        return fail(ErrorCode::NotFound,
                    fmt::format("CUDA_HOME is {}, {}; set it to the folder of a CUDA toolkit 13.x, or unset it", stated,
                                fs::exists(stated, error) ? "where there is no bin/nvcc" : "which does not exist"));
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

/// What nvcc says of itself before it would compile anything: lines such as `#$ TOP=/opt/conda/bin/..`.
class Layout
{
public:
    explicit Layout(std::string_view dryrun)
    {
        for (const std::string_view line : splitLines(dryrun)) {
            const std::size_t equals = line.find('=');
            if (line.starts_with("#$ ") && equals != std::string_view::npos) {
                m_values[std::string(line.substr(3, equals - 3))] = trimmed(line.substr(equals + 1));
            }
        }
    }

    fs::path folder(const std::string& name) const
    {
        const auto found = m_values.find(name);
        return found == m_values.end() ? fs::path() : fs::path(found->second).lexically_normal();
    }

    /// Of `"-I/usr/include" "-L/usr/lib"` those that begin with `option`; a path may hold blanks.
    std::vector<fs::path> folders(const std::string& name, std::string_view option) const
    {
        std::vector<fs::path> all;
        const auto found = m_values.find(name);
        const auto words = found == m_values.end() ? std::vector<std::string_view>() : splitOn(found->second, '"');
        for (const std::string_view word : words) {
            if (word.starts_with(option)) {
                all.push_back(fs::path(word.substr(option.size())).lexically_normal());
            }
        }
        return all;
    }

    /// Where nvcc looks for its own programs: before what was on the PATH already.
    std::vector<fs::path> programFolders(std::string_view pathBefore) const
    {
        std::vector<fs::path> all = {folder("CICC_PATH")};
        const auto found = m_values.find("PATH");
        std::string_view path = found == m_values.end() ? std::string_view() : std::string_view(found->second);
        if (!path.ends_with(pathBefore)) {
            return all;
        }
        path.remove_suffix(pathBefore.size());
        for (const std::string_view one : splitOn(path, ':')) {
            if (!one.empty()) {
                all.push_back(fs::path(one).lexically_normal());
            }
        }
        return all;
    }

private:
    std::map<std::string, std::string> m_values;
};

/// Ours, and behind it what a job of cron or systemd may lack: nvcc runs gcc even to say where it is.
std::string searchPath()
{
    const char* own = std::getenv("PATH");
    return fmt::format("{}{}/usr/local/bin:/usr/bin:/bin", own ? own : "", own && *own ? ":" : "");
}

/// The environment stays: a wrapper may live by it.
Result<RunResult> ask(const fs::path& nvcc, std::vector<std::string> arguments)
{
    ProcessSpec spec;
    spec.argv = {nvcc.string()};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = {"PATH=" + searchPath()};
    for (char** variable = environ; *variable; ++variable) {
        if (!std::string_view(*variable).starts_with("PATH=")) {
            variables.emplace_back(*variable);
        }
    }
    spec.environment = std::move(variables);
    return runToEnd(std::move(spec), {}, std::chrono::seconds(20));
}

void addFolder(std::vector<fs::path>& folders, const fs::path& folder)
{
    std::error_code error;
    for (const fs::path& one : {folder, fs::canonical(folder, error)}) {
        if (fs::is_directory(one, error) && one != one.root_path() &&
            std::find(folders.begin(), folders.end(), one) == folders.end()) {
            folders.push_back(one);
        }
    }
}

std::string identityOf(const Toolkit& toolkit)
{
    std::string all = toolkit.version;
    std::vector<fs::path> places = {toolkit.home / "bin", toolkit.home / "nvvm/bin"};
    places.insert(places.end(), toolkit.folders.begin(), toolkit.folders.end());
    for (const char* name : {"nvcc", "cudafe++", "ptxas", "fatbinary", "cicc"}) {
        for (const fs::path& place : places) {
            struct stat info = {};
            if (::stat((place / name).c_str(), &info) == 0) {
                all += fmt::format("\n{} {} {}.{}", name, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
                break;
            }
        }
    }
    return sha256(all);
}

/// Where the parts are that nvcc names; what it does not say is where NVIDIA puts it.
void readLayout(const Layout& layout, Toolkit& toolkit)
{
    std::error_code error;
    if (const fs::path own = fs::canonical(layout.folder("_HERE_") / "nvcc", error); !error) {
        toolkit.nvcc = own;
    }
    toolkit.home = toolkit.nvcc.parent_path().parent_path();
    toolkit.include = toolkit.home / "include";
    toolkit.lib = fs::exists(toolkit.home / "lib64", error) ? toolkit.home / "lib64" : toolkit.home / "lib";
    addFolder(toolkit.folders, toolkit.home);
    for (const fs::path& folder : layout.folders("INCLUDES", "-I")) {
        addFolder(toolkit.folders, folder);
        if (fs::exists(folder / "cuda_runtime.h", error) && !fs::exists(toolkit.include / "cuda_runtime.h", error)) {
            toolkit.include = folder;
        }
    }
    for (const fs::path& folder : layout.folders("SYSTEM_INCLUDES", "/")) {
        addFolder(toolkit.folders, fs::path("/") / folder);
    }
    for (const fs::path& folder : layout.folders("LIBRARIES", "-L")) {
        addFolder(toolkit.folders, folder);
        if (!fs::exists(toolkit.lib, error) && folder.filename() != "stubs" && fs::is_directory(folder, error)) {
            toolkit.lib = folder;
        }
    }
    addFolder(toolkit.folders, layout.folder("NVVMIR_LIBRARY_DIR"));
    for (const fs::path& folder : layout.programFolders(searchPath())) {
        addFolder(toolkit.folders, folder);
    }
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
    ESPALIER_TRY(const RunResult asked, ask(found, {"--version"}));
    toolkit.version = versionIn(asked.out);
    if (toolkit.version.empty()) {
        return fail(ErrorCode::NotFound, fmt::format("{} does not say its version ({}); {}", toolkit.nvcc.string(),
                                                     asked.status.text(), remedy));
    }
    ESPALIER_TRY(const RunResult shown, ask(found, {"--dryrun", "-x", "cu", "-c", "/dev/null", "-o", "/dev/null"}));
    readLayout(Layout(shown.err + "\n" + shown.out), toolkit);
    if (!toolkit.version.starts_with("13.")) {
        return fail(ErrorCode::NotSupported, fmt::format("{} is CUDA toolkit {}; Espalier needs 13.x: {}",
                                                         toolkit.home.string(), toolkit.version, remedy));
    }
    if (!fs::exists(toolkit.include / "cuda_runtime.h", error)) {
        return fail(ErrorCode::NotFound, fmt::format("the CUDA toolkit in {} lacks include/cuda_runtime.h; {}",
                                                     toolkit.home.string(), remedy));
    }
    toolkit.identity = identityOf(toolkit);
    return toolkit;
}

} // namespace espalier
