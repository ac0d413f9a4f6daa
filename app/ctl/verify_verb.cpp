// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"
#include "app/ctl/stop_on_interrupt.h"
#include "app/ctl/verbs.h"
#include "core/build/toolkit.h"
#include "core/engine/one_shot.h"
#include "core/export/export_check.h"
#include "core/export/foreign_build.h"
#include "core/model/evaluation_json.h"

#include <fmt/format.h>
#include <optional>

namespace espalier::ctl {

namespace {

struct Checked {
    EvidenceVerdict verdict;
    std::optional<Evaluation> now;
};

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
    const auto settled = [](EvidenceState state, std::string sentence) {
        return Checked{{state, std::move(sentence)}, {}};
    };
    if (std::string older = olderFormat(options.folder, name); !older.empty()) {
        return settled(EvidenceState::Unknown, std::move(older));
    }
    if (std::string changed = changedSince(options.folder, name); !changed.empty()) {
        return settled(EvidenceState::Broken, std::move(changed));
    }
    const auto stored = readExport(options.folder, name);
    if (!stored) {
        return settled(EvidenceState::Unknown, stored.error().message);
    }
    const auto toolkit = findToolkit();
    if (!toolkit) {
        return settled(EvidenceState::Unknown, toolkit.error().message);
    }
    ESPALIER_TRY(EvidenceVerdict built, builtElsewhere(*stored, *toolkit, stop));
    if (built.state != EvidenceState::Holds) {
        return Checked{std::move(built), {}};
    }
    return judged(*stored, options, std::move(stop));
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
