// SPDX-License-Identifier: Apache-2.0
#include "core/build/build_sandbox.h"

#include "core/base/subprocess.h"
#include "core/base/text.h"
#include "core/model/task_loader.h"

#include <fmt/format.h>

namespace espalier {

namespace {

namespace fs = std::filesystem;

void append(std::vector<std::string>& command, std::initializer_list<std::string> words)
{
    command.insert(command.end(), words);
}

bool isUnder(const fs::path& path, const fs::path& folder)
{
    const fs::path relative = path.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
}

/// /bin, /lib, … are links into /usr on some systems and folders on others.
void showTopLevel(std::vector<std::string>& command)
{
    for (const char* name : {"/bin", "/lib", "/lib32", "/lib64", "/libx32"}) {
        std::error_code error;
        if (fs::is_symlink(name, error)) {
            append(command, {"--symlink", fs::read_symlink(name, error).string(), name});
        } else if (fs::is_directory(name, error)) {
            append(command, {"--ro-bind", name, name});
        }
    }
}

} // namespace

std::string sandboxedIncludeRoot(std::size_t index)
{
    return fmt::format("/include/{}", index);
}

std::vector<std::string> compilerEnvironment(const Toolkit& toolkit, const std::string& temporaryFolder)
{
    return {fmt::format("PATH={}:/usr/bin:/bin", toolkit.nvcc.parent_path().string()),
            fmt::format("HOME={}", temporaryFolder), fmt::format("TMPDIR={}", temporaryFolder), "LC_ALL=C.UTF-8"};
}

std::vector<std::string> sandboxCommand(const Toolkit& toolkit, const std::vector<std::string>& includeRoots,
                                        const std::vector<SandboxFile>& files, std::uint64_t scratchBytes)
{
    std::vector<std::string> command = {"bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind",
                                        "/usr",  "/usr"};
    showTopLevel(command);
    append(command, {"--ro-bind-try", "/etc/alternatives", "/etc/alternatives"});
    // an installed Espalier keeps its tasks, oracles included, under /usr: a candidate must not compile them in
    std::error_code error;
    if (const fs::path tasks = fs::canonical(builtInTasksFolder(), error); !error && isUnder(tasks, "/usr")) {
        append(command, {"--tmpfs", tasks.string()});
    }
    for (std::size_t i = 0; i < includeRoots.size(); ++i) {
        append(command, {"--ro-bind", includeRoots[i], sandboxedIncludeRoot(i)});
    }
    const std::string size = fmt::format("{}", scratchBytes);
    append(command, {"--dev", "/dev", "--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", "/build", "--chdir",
                     "/build"});
    // after /tmp, where a toolkit may lie as well
    for (const fs::path& folder : toolkit.folders) {
        if (!isUnder(folder, "/usr")) {
            append(command, {"--ro-bind", folder.string(), folder.string()});
        }
    }
    for (const SandboxFile& file : files) {
        append(command, {"--ro-bind-data", fmt::format("{}", file.descriptor), "/build/" + file.name});
    }
    command.emplace_back("--");
    return command;
}

CompilerSandbox probeCompilerSandbox(const Toolkit& toolkit)
{
    if (findProgram("bwrap").empty()) {
        return {false, "none: bubblewrap is not installed"};
    }
    ProcessSpec spec;
    spec.argv = sandboxCommand(toolkit, {}, {}, 1 << 20);
    spec.tree = ProcessSpec::Tree::Own;
    spec.argv.emplace_back("/bin/true");
    const auto run = runToEnd(std::move(spec), {}, std::chrono::seconds(10), 4096);
    if (!run) {
        return {false, "none: " + run.error().message};
    }
    if (!run->status.success()) {
        return {false, fmt::format("none: bubblewrap cannot start here ({})", trimmed(printable(run->err, 200)))};
    }
    return {true, "bubblewrap"};
}

} // namespace espalier
