// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/live_table.h"
#include "app/ctl/output.h"
#include "app/ctl/profile_text.h"
#include "app/ctl/stop_on_interrupt.h"
#include "app/ctl/timing_text.h"
#include "app/ctl/verbs.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/engine/one_shot.h"
#include "core/model/evaluation_json.h"

#include <fmt/format.h>

namespace espalier::ctl {

namespace {

void printReport(const Evaluation& evaluation, const JudgeHello& device)
{
    print(fmt::format("{} on {}{}", nameOf(evaluation.outcome), device.deviceName,
                      evaluation.reason.empty() ? "" : fmt::format(": {}", evaluation.reason)));
    for (const Evidence& evidence : evaluation.evidence) {
        print(fmt::format("  [{}] {}", evidence.check, evidence.sentence));
    }
    if (evaluation.build) {
        for (const CompileMessage& message : evaluation.build->messages) {
            print(fmt::format("  {}:{}:{}: {}: {}", message.file, message.line, message.column,
                              message.error ? "error" : "warning", message.text));
        }
        for (const KernelResources& kernel : evaluation.build->kernels) {
            print(fmt::format("  {}: {} registers, {} B shared, {} B spilled", kernel.kernel, kernel.registers,
                              kernel.sharedBytes, kernel.spillStoreBytes));
        }
    }
    if (evaluation.verify && evaluation.verify->repeat) {
        print(fmt::format("  {}", repeatText(*evaluation.verify->repeat)));
    }
    for (const SanitizerFinding& finding : evaluation.sanitizer) {
        print(fmt::format("  {}: {}", finding.tool,
                          finding.state == "errors"  ? fmt::format("{} errors", finding.errors)
                          : finding.state == "clean" ? "clean"
                                                     : "not run"));
    }
    if (evaluation.timing) {
        for (const std::string& line : timingLines(*evaluation.timing)) {
            print("  " + line);
        }
    }
    if (evaluation.profile) {
        for (const std::string& line : profileLines(evaluation)) {
            print("  " + line);
        }
    }
    if (evaluation.judgeSeconds > 0) {
        double sanitizer = 0;
        for (const SanitizerFinding& finding : evaluation.sanitizer) {
            sanitizer += finding.seconds;
        }
        std::string line = fmt::format("  judged in {:.2f} s beyond the build", evaluation.judgeSeconds);
        if (sanitizer > 0) {
            line += fmt::format(", {:.2f} of it for compute-sanitizer", sanitizer);
        }
        if (evaluation.profile) {
            line += fmt::format(", {:.2f} for the profile", evaluation.profile->seconds);
        }
        print(line);
    }
}

} // namespace

int evaluate(const EvalVerb& options)
{
    if (const auto possible = checkSetting(options.setting); !possible) {
        return failWith(possible.error(), options.json);
    }
    const StopOnInterrupt interrupt;
    const auto source = readFile(options.file, std::size_t{8} << 20);
    if (!source) {
        return failWith(source.error(), options.json);
    }
    OneShotRequest request;
    request.task = options.task;
    request.source = *source;
    request.device = options.device;
    request.caseIds = options.cases;
    request.incumbent = options.incumbent;
    request.sanitizing = options.sanitize ? Sanitizing::Required : Sanitizing::Off;
    request.profiling = options.exactCounts ? Profiling::Exact : options.profile ? Profiling::Full : Profiling::Off;
    request.tier = options.full ? Tier::Full : Tier::Quick;
    request.setting = options.setting;
    const auto result = evaluateOnce(
        request, [](Stage stage, const std::string& text) { note(fmt::format("{}: {}", nameOf(stage), text)); },
        interrupt.token());
    if (!result) {
        return failWith(result.error(), options.json);
    }
    const Evaluation& evaluation = result->evaluation;
    if (options.json) {
        printJson(evaluationReport(evaluation));
    } else {
        printReport(evaluation, result->device);
    }
    return evaluation.cause == NotRunCause::Cancelled ? exitInterrupted : exitCodeOf(evaluation.outcome);
}

} // namespace espalier::ctl
