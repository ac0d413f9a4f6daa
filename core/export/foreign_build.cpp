// SPDX-License-Identifier: Apache-2.0
#include "core/export/foreign_build.h"

#include "core/base/file.h"
#include "core/base/subprocess.h"
#include "core/base/text.h"
#include "core/build/compile_messages.h"
#include "core/export/export_text.h"
#include "core/model/task_loader.h"

#include <algorithm>
#include <fmt/format.h>
#include <system_error>
#include <utility>

namespace espalier {
namespace {

namespace fs = std::filesystem;

/// The first line in which one of the compiler's programs says that this machine lacks something; empty: none does.
std::string lackIn(std::string_view output)
{
    while (!output.empty()) {
        const std::string_view line = output.substr(0, output.find('\n'));
        output.remove_prefix(std::min(output.size(), line.size() + 1));
        if (line.starts_with(' ')) {
            continue; // a line of the source, which may say anything
        }
        for (const char* mark :
             {"No space left on device", "Disk quota exceeded", "Read-only file system", "File size limit exceeded",
              "Cannot allocate memory", "out of memory", "virtual memory exhausted", "std::bad_alloc"}) {
            if (line.find(mark) != std::string_view::npos) {
                return std::string(trimmed(printable(line, 300)));
            }
        }
    }
    return {};
}

EvidenceVerdict verdictOn(const RunResult& built, const StoredExport& stored, std::chrono::milliseconds deadline)
{
    const std::string file = stored.name + ".cu";
    const auto unknown = [](std::string sentence) {
        return EvidenceVerdict{EvidenceState::Unknown, std::move(sentence)};
    };
    if (built.cancelled) {
        return unknown(fmt::format("compiling {} was stopped", file));
    }
    if (built.timedOut) {
        return unknown(fmt::format("compiling {} took longer than {:g} s and was stopped", file,
                                   std::chrono::duration<double>(deadline).count()));
    }
    if (built.status.success()) {
        return {EvidenceState::Holds, ""};
    }
    const std::string output = built.err + built.out;
    const CompilerOutput said = parseCompilerOutput(output, stored.source, {}, file);
    const std::string lack = lackIn(output), error = firstError(said.messages);
    constexpr int ownErrors = 125; // above them a shell tells of programs that it could not start, or that died
    const bool died =
        said.crashed || built.status.signal != 0 || (built.status.code > ownErrors && built.status.code < 192);
    if (died || !lack.empty() || error.empty()) {
        return unknown(fmt::format("compiling {} did not come to an end here ({}{})", file, built.status.text(),
                                   lack.empty() ? "" : ": " + lack));
    }
    return {EvidenceState::Broken, fmt::format("{} does not compile beside its header: {}", file, error)};
}

} // namespace

Result<EvidenceVerdict> builtElsewhere(const StoredExport& stored, const Toolkit& toolkit, std::stop_token stop,
                                       std::chrono::milliseconds deadline)
{
    const auto task = loadTask(stored.task.string());
    if (!task) {
        return EvidenceVerdict{EvidenceState::Unknown,
                               fmt::format("its task cannot be read: {}", task.error().message)};
    }
    ESPALIER_TRY(const ScratchFolder scratch, ScratchFolder::create("espalier-verify"));
    std::error_code error;
    ProcessSpec spec;
    spec.tree = ProcessSpec::Tree::Own;
    spec.argv = compilerFlags(*task, stored.source);
    spec.argv.insert(spec.argv.begin(), toolkit.nvcc.string());
    // A library in which no name is open: what would be missing in a program is missing here.
    spec.argv.insert(spec.argv.end(), {"-shared", "-Xcompiler", "-fPIC", "-Xlinker", "-z,defs", "-o",
                                       (scratch.path() / "library.so").string(),
                                       fs::absolute(stored.folder / (stored.name + ".cu"), error).string()});
    const std::string architecture = stored.evaluation.build ? stored.evaluation.build->architecture : std::string();
    if (architecture.starts_with("sm_")) {
        spec.argv.push_back("-arch=" + architecture);
    }
    ESPALIER_TRY(const RunResult built, runToEnd(std::move(spec), "", deadline, std::size_t{1} << 20, std::move(stop)));
    return verdictOn(built, stored, deadline);
}

} // namespace espalier
