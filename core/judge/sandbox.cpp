// SPDX-License-Identifier: Apache-2.0
#include "core/judge/sandbox.h"

#include "core/base/text.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>

namespace espalier::judge {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

void append(Words& words, std::initializer_list<std::string> more)
{
    words.insert(words.end(), more);
}

/// /lib and /lib64 are links into /usr on today's systems: the sandbox gets the same links, or the folders where they
/// are real.
void bindLoaderFolders(Words& words, std::set<std::string>& bound)
{
    for (const std::string name : {"/lib", "/lib64"}) {
        std::error_code error;
        const fs::path target = fs::read_symlink(name, error);
        if (!error) {
            append(words, {"--symlink", target.string(), name});
        } else if (fs::is_directory(name, error) && bound.insert(name).second) {
            append(words, {"--ro-bind", name, name});
        }
    }
    const std::string loaders = "/usr/lib64"; // the ELF interpreter's folder behind /lib64
    std::error_code error;
    if (fs::is_directory(loaders, error) && bound.insert(loaders).second) {
        append(words, {"--ro-bind", loaders, loaders});
    }
}

/// True when a folder that is already bound holds `path`.
bool covered(const std::set<std::string>& bound, const fs::path& path)
{
    for (fs::path up = path; up != up.root_path(); up = up.parent_path()) {
        if (bound.contains(up.string())) {
            return true;
        }
    }
    return false;
}

void bindAll(Words& words, std::vector<std::string> paths, std::set<std::string>& bound)
{
    std::sort(paths.begin(), paths.end()); // a folder before what lies in it
    for (const std::string& path : paths) {
        std::error_code error;
        if (fs::exists(path, error) && !covered(bound, path)) {
            bound.insert(path);
            append(words, {"--ro-bind", path, path});
        }
    }
}

Words prefixOf(const SandboxNeeds& needs, const std::string& worker, bool ownUser, bool sized, bool first)
{
    Words words = {"bwrap",         "--unshare-net",     "--unshare-pid", "--unshare-ipc",
                   "--unshare-uts", "--die-with-parent", "--new-session", "--cap-drop",
                   "ALL",           "--clearenv"};
    if (first) {
        words.emplace_back("--as-pid-1");
    }
    if (ownUser) {
        append(words, {"--unshare-user", "--uid", "65534", "--gid", "65534"});
    }
    append(words, {"--dev", "/dev", "--proc", "/proc"});
    for (const std::string folder : {"/dev/shm", "/tmp", "/root", "/home"}) {
        if (sized) {
            append(words, {"--size", std::to_string(std::uint64_t{64} << 20)});
        }
        append(words, {"--tmpfs", folder});
    }
    for (const std::string& node : needs.nodes) {
        append(words, {"--dev-bind", node, node});
    }
    std::set<std::string> bound;
    bindAll(words, needs.folders, bound);
    bindLoaderFolders(words, bound);
    bindAll(words, needs.files, bound);
    bindAll(words, {"/etc/ld.so.cache", worker}, bound);
    append(words, {"--remount-ro", "/"}); // what is not mounted over stays as it is; scratch is of its own
    append(words,
           {"--setenv", "PATH", "/usr/bin", "--setenv", "LANG", "C", "--setenv", "HOME", "/home", "--chdir", "/tmp"});
    for (const std::string& variable : needs.environment) {
        const auto equals = variable.find('=');
        append(words, {"--setenv", variable.substr(0, equals), variable.substr(equals + 1)});
    }
    words.push_back("--");
    return words;
}

} // namespace

Sandbox Sandbox::none(const SandboxNeeds& needs, const std::string& reason)
{
    Sandbox sandbox;
    sandbox.m_grade = "none: " + reason;
    sandbox.m_environment = needs.environment;
    sandbox.m_environment.insert(sandbox.m_environment.end(), {"PATH=/usr/bin:/bin", "LANG=C", "HOME=/tmp"});
    return sandbox;
}

Sandbox Sandbox::probe(const SandboxNeeds& needs, const std::string& worker, bool first)
{
    Sandbox sandbox = none(needs, "bubblewrap is not installed (apt install bubblewrap)");
    if (findProgram("bwrap").empty()) {
        return sandbox;
    }
    std::string refusal;
    for (const auto& [ownUser, sized] :
         {std::pair(true, true), std::pair(true, false), std::pair(false, true), std::pair(false, false)}) {
        ProcessSpec spec;
        spec.argv = prefixOf(needs, worker, ownUser, sized, first);
        spec.tree = ProcessSpec::Tree::Own;
        const Words prefix = spec.argv;
        spec.argv.insert(spec.argv.end(), {worker, "runner", "--probe"});
        const auto tried = runToEnd(std::move(spec), {}, std::chrono::seconds(5), 4096);
        if (tried && tried->status.success()) {
            sandbox.m_prefix = prefix;
            sandbox.m_grade = "bubblewrap";
            return sandbox;
        }
        if (refusal.empty()) {
            refusal = tried ? printable(trimmed(tried->err), 200) : tried.error().message;
        }
    }
    sandbox.m_grade = fmt::format("none: bubblewrap is refused here ({})", refusal);
    return sandbox;
}

std::vector<std::string> Sandbox::wrap(const std::vector<std::string>& command) const
{
    Words words = m_prefix;
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

std::vector<std::string> Sandbox::wrap(const std::vector<std::string>& command,
                                       const std::vector<std::string>& readOnly) const
{
    Words words = m_prefix;
    if (!words.empty()) {
        std::erase(words, "--as-pid-1");
        // While the root can still be written to: a mount needs a place.
        const auto place = std::find_if(words.begin(), words.end(),
                                        [](const std::string& word) { return word == "--remount-ro" || word == "--"; });
        Words binds;
        for (const std::string& path : readOnly) {
            append(binds, {"--ro-bind", path, path});
        }
        words.insert(place, binds.begin(), binds.end());
    }
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

std::vector<std::string> loadedLibraryFolders()
{
    std::set<std::string> folders;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        const auto at = line.find('/');
        if (at != std::string::npos && line.find(".so") != std::string::npos) {
            folders.insert(fs::path(line.substr(at)).parent_path().string());
        }
    }
    return {folders.begin(), folders.end()};
}

} // namespace espalier::judge
