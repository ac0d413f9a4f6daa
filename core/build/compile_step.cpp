// SPDX-License-Identifier: Apache-2.0
#include "core/build/compile_step.h"

#include "core/base/fd.h"
#include "core/base/file.h"
#include "core/build/build_sandbox.h"
#include "core/build/module_name.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace espalier {

namespace {

// the shell of the scripts below knows descriptors of one digit only; bubblewrap reads the rest
constexpr int hostOutFd = 6, resultFd = 9, firstInFd = 10;
constexpr int notJoined = 125;
constexpr std::uint64_t mostPtx = std::uint64_t{64} << 20;

// $0: the source; $@: nvcc and its arguments. A first byte says that the sandbox came up and the compiler was started;
// the library follows when it ended well. 255 is what nvcc ends with when ptxas finds an error: the PTX that it means
// is made once more, for its lines.
constexpr std::string_view start = "failed() { code=$1; shift; [ $code != 255 ] || { \"$@\" -ptx \"$0\" -o lib.ptx; "
                                   "cat lib.ptx >&6; } >/dev/null 2>&1; "
                                   "exit $code; }; printf + >&9 || exit 126; ";
constexpr std::string_view whole = "\"$@\" -shared \"$0\" -o lib.so || failed $? \"$@\"; cat lib.so >&9";
constexpr std::string_view parts = "\"$@\" -c \"$0\" -o whole.o || failed $? \"$@\"; "
                                   "\"$@\" -shared whole.o -o lib.so && cat whole.o >&6 && cat lib.so >&9";
constexpr std::string_view device = "\"$@\" -fatbin \"$0\" -o device.fatbin || failed $? \"$@\"; "
                                    "objcopy --update-section .nv_fatbin=device.fatbin host.o whole.o && "
                                    "\"$@\" -shared whole.o -o lib.so || exit 125; cat lib.so >&9";

std::string scriptFor(const CompileRequest& request)
{
    return std::string(start).append(request.host ? device : request.keepHost ? parts : whole);
}

Result<UniqueFd> memoryFile(const char* name, std::string_view content)
{
    UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
    if (!fd) {
        return fail(ErrorCode::Internal, fmt::format("cannot create a memory file: {}", std::strerror(errno)));
    }
    while (!content.empty()) {
        const ssize_t put = ::write(fd.get(), content.data(), content.size());
        if (put < 0 && errno != EINTR) {
            return fail(ErrorCode::OutOfMemory, fmt::format("cannot fill a memory file: {}", std::strerror(errno)));
        }
        content.remove_prefix(put > 0 ? static_cast<std::size_t>(put) : 0);
    }
    ::lseek(fd.get(), 0, SEEK_SET);
    return fd;
}

std::string contentsOf(const UniqueFd& fd, std::uint64_t limit)
{
    std::string all;
    char buffer[65536];
    while (all.size() <= limit) {
        const ssize_t got = ::pread(fd.get(), buffer, sizeof buffer, static_cast<off_t>(all.size()));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        all.append(buffer, static_cast<std::size_t>(got));
    }
    return all;
}

std::vector<std::string> compilerWords(const Toolkit& toolkit, const CompileRequest& request)
{
    std::vector<std::string> words = {"/bin/sh", "-c", scriptFor(request), request.sourceName, toolkit.nvcc.string()};
    words.insert(words.end(), request.arguments.begin(), request.arguments.end());
    for (std::size_t i = 0; i < request.includeRoots.size(); ++i) {
        words.push_back("-I" + (request.sandboxed ? sandboxedIncludeRoot(i) : request.includeRoots[i]));
    }
    return words;
}

ProcessSpec limited(const CompileRequest& request)
{
    ProcessSpec spec;
    spec.addressSpaceLimit = request.memoryLimit;
    spec.fileSizeLimit = request.fileSizeLimit;
    spec.tree = ProcessSpec::Tree::Own;
    return spec;
}

struct Outputs {
    UniqueFd library, host;
};

Result<CompileResult> run(ProcessSpec spec, const Outputs& outputs, const CompileRequest& request, std::stop_token stop)
{
    auto ran = runToEnd(std::move(spec), {}, request.deadline, request.outputCap, std::move(stop));
    if (!ran) {
        return std::unexpected(std::move(ran).error());
    }
    CompileResult compiled;
    compiled.status = ran->status;
    compiled.timedOut = ran->timedOut;
    compiled.cancelled = ran->cancelled;
    compiled.seconds = ran->seconds;
    compiled.dropped = ran->dropped;
    compiled.output = std::move(ran->err) + ran->out;
    const std::uint64_t limit = request.fileSizeLimit > 0 ? request.fileSizeLimit : UINT64_MAX;
    std::string written = contentsOf(outputs.library, limit);
    compiled.started = !written.empty();
    if (compiled.started && !compiled.status.success()) {
        compiled.ptx = contentsOf(outputs.host, std::min(limit, mostPtx));
    }
    compiled.joined = !(request.host && compiled.status.code == notJoined);
    if (compiled.started && compiled.status.success()) {
        compiled.library = written.substr(1);
        compiled.joined = !request.host || ofOneModule(compiled.library, request.sourceName);
        compiled.host = request.keepHost ? contentsOf(outputs.host, limit) : std::string();
    }
    return compiled;
}

} // namespace

Result<CompileResult> compile(const Toolkit& toolkit, const CompileRequest& request, std::stop_token stop)
{
    Outputs outputs;
    ESPALIER_TRY(outputs.library, memoryFile("library", {}));
    ESPALIER_TRY(outputs.host, memoryFile("host", {}));
    std::vector<std::pair<std::string, std::string_view>> inputs = {{request.sourceName, request.source}};
    for (const InputFile& file : request.files) {
        inputs.emplace_back(file.name, file.text);
    }
    if (request.host) {
        inputs.emplace_back("host.o", *request.host);
    }
    ProcessSpec spec = limited(request);
    spec.descriptors = {{outputs.library.get(), resultFd}, {outputs.host.get(), hostOutFd}};
    const std::vector<std::string> words = compilerWords(toolkit, request);
    if (request.sandboxed) {
        std::vector<UniqueFd> open;
        std::vector<SandboxFile> files;
        for (const auto& [name, text] : inputs) {
            const int target = firstInFd + static_cast<int>(files.size());
            ESPALIER_TRY(UniqueFd file, memoryFile("input", text));
            spec.descriptors.push_back({file.get(), target});
            files.push_back({target, name});
            open.push_back(std::move(file));
        }
        spec.argv = sandboxCommand(toolkit, request.includeRoots, files,
                                   request.memoryLimit > 0 ? request.memoryLimit : std::uint64_t{8} << 30);
        spec.argv.insert(spec.argv.end(), words.begin(), words.end());
        spec.environment = compilerEnvironment(toolkit, "/tmp");
        return run(std::move(spec), outputs, request, std::move(stop));
    }
    ESPALIER_TRY(const ScratchFolder scratch, ScratchFolder::create("espalier-build"));
    for (const auto& [name, text] : inputs) {
        std::error_code ignored; // what comes of it, writing says
        std::filesystem::create_directories((scratch.path() / name).parent_path(), ignored);
        ESPALIER_CHECK(writeFileAtomically(scratch.path() / name, text));
    }
    spec.argv = words;
    spec.workingDirectory = scratch.path().string();
    spec.environment = compilerEnvironment(toolkit, scratch.path().string());
    return run(std::move(spec), outputs, request, std::move(stop));
}

} // namespace espalier
