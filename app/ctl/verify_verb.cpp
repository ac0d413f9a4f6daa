// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"
#include "app/ctl/stop_on_interrupt.h"
#include "app/ctl/verbs.h"
#include "core/base/file.h"
#include "core/base/subprocess.h"
#include "core/base/text.h"
#include "core/build/toolkit.h"
#include "core/engine/one_shot.h"
#include "core/export/export_check.h"
#include "core/export/export_text.h"
#include "core/model/evaluation_json.h"
#include "core/model/task_loader.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace espalier::ctl {

namespace {

namespace fs = std::filesystem;

struct Checked {
    EvidenceVerdict verdict;
    std::optional<Evaluation> now;
};

/// Compiles the exported files as another program does, header and checks included. What the compiler complains of, in
/// one line; empty: nothing.
Result<std::string> complaintOfForeignBuild(const StoredExport& stored)
{
    ESPALIER_TRY(const Toolkit toolkit, findToolkit());
    ESPALIER_TRY(const ScratchFolder scratch, ScratchFolder::create("espalier-verify"));
    const std::string architecture = stored.evaluation.build ? stored.evaluation.build->architecture : std::string();
    std::error_code error;
    const fs::path source = fs::absolute(stored.folder / (stored.name + ".cu"), error);
    ProcessSpec spec;
    ESPALIER_TRY(const Task task, loadTask(stored.task.string()));
    spec.argv = compilerFlags(task, stored.source);
    spec.argv.insert(spec.argv.begin(), toolkit.nvcc.string());
    spec.argv.insert(spec.argv.end(), {"-c", "-o", (scratch.path() / "object").string(), source.string()});
    if (architecture.starts_with("sm_")) {
        spec.argv.push_back("-arch=" + architecture);
    }
    ESPALIER_TRY(const RunResult built, runToEnd(std::move(spec), "", std::chrono::seconds(300)));
    const std::string words(trimmed(printable(built.err + built.out, 300)));
    return built.status.success() ? std::string() : words.substr(0, words.find('\n'));
}

/// Everything at its place and compiling: is the judge's word the same?
Result<Checked> judged(const StoredExport& stored, const VerifyVerb& options, std::stop_token stop)
{
    OneShotRequest request;
    request.task = stored.task.string();
    request.source = stored.source;
    request.device = !options.device.empty() ? options.device : stored.provenance == Provenance::Model ? "sim" : "auto";
    if (const auto& timing = stored.evaluation.timing; timing && stored.provenance == Provenance::Measured) {
        request.tier = timing->tier == "full" ? Tier::Full : Tier::Quick;
        request.setting = {timing->regime, timing->mode, timing->rate};
    }
    ESPALIER_TRY(OneShotResult result,
                 evaluateOnce(
                     request,
                     [](Stage stage, const std::string& text) { note(fmt::format("{}: {}", nameOf(stage), text)); },
                     std::move(stop)));
    Checked checked{heldAgainst(stored, result.evaluation, result.device.deviceName), std::move(result.evaluation)};
    return checked;
}

Result<Checked> checked(const std::string& name, const VerifyVerb& options, std::stop_token stop)
{
    const auto broken = [](std::string sentence) { return Checked{{EvidenceState::Broken, std::move(sentence)}, {}}; };
    if (std::string changed = changedSince(options.folder, name); !changed.empty()) {
        return broken(std::move(changed));
    }
    ESPALIER_TRY(const StoredExport stored, readExport(options.folder, name));
    ESPALIER_TRY(const std::string complaint, complaintOfForeignBuild(stored));
    if (!complaint.empty()) {
        return broken(fmt::format("{}.cu does not compile beside its header: {}", name, complaint));
    }
    return judged(stored, options, std::move(stop));
}

int exitCodeOf(EvidenceState state)
{
    return state == EvidenceState::Holds    ? exitOk
           : state == EvidenceState::Broken ? espalier::exitCodeOf(Outcome::Incorrect)
                                            : exitNotRun;
}

const char* wordsOf(EvidenceState state)
{
    return state == EvidenceState::Holds    ? "the evidence holds"
           : state == EvidenceState::Broken ? "the evidence does not hold"
                                            : "whether the evidence holds cannot be told here";
}

} // namespace

int verify(const VerifyVerb& options)
{
    const StopOnInterrupt interrupt;
    const auto names = exportsIn(options.folder);
    if (!names) {
        return failWith(names.error(), options.json);
    }
    Json list = Json::array();
    int code = exitOk;
    for (const std::string& name : *names) {
        const auto done = checked(name, options, interrupt.token());
        if (interrupt.token().stop_requested()) {
            return exitInterrupted;
        }
        if (!done) {
            return failWith(done.error(), options.json);
        }
        const EvidenceVerdict& verdict = done->verdict;
        if (options.json) {
            list.push_back({{"name", name},
                            {"state", nameOf(verdict.state)},
                            {"sentence", verdict.sentence},
                            {"evaluation", done->now ? toJson(*done->now) : Json(nullptr)}});
        } else {
            print(fmt::format("{}: {}: {}.", name, wordsOf(verdict.state), verdict.sentence));
        }
        const int own = exitCodeOf(verdict.state);
        code = code == exitCodeOf(EvidenceState::Broken) || own == exitOk ? code : own;
    }
    if (options.json) {
        printJson({{"exports", std::move(list)}});
    }
    return code;
}

} // namespace espalier::ctl
