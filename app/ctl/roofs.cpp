// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/roofs.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/resources.h"
#include "core/base/subprocess.h"
#include "core/base/text.h"
#include "core/build/toolkit.h"
#include "core/worker/judge_process.h"

#include <fmt/format.h>

namespace espalier::ctl {

namespace {

constexpr std::chrono::seconds buildLimit{180}, runLimit{120};
constexpr double microGiga = 1e-3;

/// "dram 4562 of 4814 GB/s, …"; what is above its theory is named as wrong.
Result<std::string> summaryOf(const Json& json)
{
    const JsonReader reader(json, "the micro-benchmarks");
    ESPALIER_TRY(const JsonReader list, reader.at("roofs"));
    ESPALIER_TRY(const std::vector<JsonReader> roofs, list.items());
    std::string text;
    for (const JsonReader& roof : roofs) {
        ESPALIER_TRY(const JsonReader idField, roof.at("id"));
        ESPALIER_TRY(const std::string id, idField.string());
        ESPALIER_TRY(const JsonReader measuredField, roof.at("measured"));
        ESPALIER_TRY(const double measured, measuredField.number());
        ESPALIER_TRY(const JsonReader theoryField, roof.at("theory"));
        ESPALIER_TRY(const double theory, theoryField.number());
        ESPALIER_TRY(const JsonReader unitField, roof.at("unit"));
        ESPALIER_TRY(const std::string unit, unitField.string());
        const bool flops = unit == "GFLOP/s";
        const double scale = flops ? microGiga : 1;
        text += fmt::format("{}{} {:.4g}{} {}{}", text.empty() ? "" : ", ", id, measured * scale,
                            theory > 0 ? fmt::format(" of {:.4g}", theory * scale) : "", flops ? "TFLOP/s" : unit,
                            theory > 0 && measured > theory ? " (above theory: left out)" : "");
    }
    return text;
}

} // namespace

Result<std::string> measureRoofs()
{
    ESPALIER_TRY(const Toolkit toolkit, findToolkit());
    JudgeSettings settings;
    settings.launcher.worker = findWorker();
    settings.device = "cuda:0";
    std::string uuid, architecture;
    {
        ESPALIER_TRY(const auto judge, startJudge(settings));
        uuid = judge->hello().uuid;
        architecture = judge->hello().architecture;
    } // it holds memory, and must not run meanwhile
    ESPALIER_TRY(const ScratchFolder scratch, ScratchFolder::create("espalier-roofs"));
    const std::string program = (scratch.path() / "roofs").string();
    ESPALIER_TRY(const RunResult built,
                 runToEnd({.argv = {toolkit.nvcc.string(), "-w", "-std=c++17", "-O3", "-gencode",
                                    fmt::format("arch=compute_{0},code=sm_{0}", architecture), "-o", program,
                                    resourceFile("roofs/roofs.cu").string(), "-ldl"}},
                          {}, buildLimit));
    if (!built.status.success()) {
        return fail(ErrorCode::NotSupported,
                    fmt::format("the micro-benchmarks do not build for sm_{} (they need compute capability 8.0): {}",
                                architecture, trimmed(printable(built.err, 400))));
    }
    ESPALIER_TRY(const RunResult ran, runToEnd({.argv = {program}}, {}, runLimit));
    if (!ran.status.success()) {
        return fail(ErrorCode::Internal, fmt::format("the micro-benchmarks ended with {}: {}", ran.status.text(),
                                                     trimmed(printable(ran.err, 400))));
    }
    ESPALIER_TRY(const Json json, parseJson(ran.out, "the micro-benchmarks"));
    ESPALIER_TRY(const std::string summary, summaryOf(json));
    const auto file = cacheFolder() / fmt::format("roofs-{}.json", uuid);
    ESPALIER_CHECK(makeDirectories(file.parent_path()));
    ESPALIER_CHECK(writeFileAtomically(file, ran.out));
    return fmt::format("{}; kept in {}", summary, file.string());
}

} // namespace espalier::ctl
