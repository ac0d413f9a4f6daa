// SPDX-License-Identifier: Apache-2.0
#include "core/judge/sanitizer.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/subprocess.h"
#include "core/base/text.h"
#include "core/device/ops/ops_cpu.h"
#include "core/judge/bulk_copies.h"
#include "core/judge/sanitizer_report.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <future>
#include <poll.h>
#include <string_view>

namespace espalier::judge {

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> tools = {"memcheck", "racecheck", "initcheck", "synccheck"};
constexpr int errorExit = 86;                                  ///< of the tool when it found something
constexpr std::uint64_t reducedBytes = std::uint64_t{1} << 20; ///< a case's inputs and outputs: the tools are slow
constexpr std::size_t mostCases = 8;
constexpr std::chrono::seconds deadline{35}; ///< of one tool; all four end before the engine gives a quick job up
constexpr int printLimit = 100;              ///< findings that a tool tells of
constexpr std::size_t outputCap = std::size_t{1} << 20;

/// The verify cases that are small enough; the smallest where none is.
std::vector<CasePlan> reduced(std::vector<CasePlan> plans)
{
    std::stable_sort(plans.begin(), plans.end(),
                     [](const CasePlan& a, const CasePlan& b) { return a.bytesPerSet() < b.bytesPerSet(); });
    const auto large = std::find_if(plans.begin(), plans.end(),
                                    [](const CasePlan& plan) { return plan.bytesPerSet() > reducedBytes; });
    const auto fitting = static_cast<std::size_t>(large - plans.begin());
    const std::size_t kept = std::clamp<std::size_t>(fitting, 1, mostCases);
    // The largest of those that fit: one thread block finds no race.
    plans.erase(plans.begin() + static_cast<std::ptrdiff_t>(std::max(fitting, kept)), plans.end());
    plans.erase(plans.begin(), plans.end() - static_cast<std::ptrdiff_t>(std::min(kept, plans.size())));
    return plans;
}

std::string drawn(const ArgumentPlan& argument)
{
    std::string bytes(argument.bytes, '\0');
    ops::FillArgs fill = argument.fill;
    fill.address = reinterpret_cast<std::uint64_t>(bytes.data());
    fill.seed = randomSeed();
    ops::runOnCpu(ops::Op::Fill, std::as_bytes(std::span(&fill, 1)), argument.elements);
    return bytes;
}

/// racecheck does not follow the order of copies that end at an mbarrier and calls every read after such a copy a race
/// (seen on an H200 with a wgmma pipeline whose waits are right). So it says nothing where every race it reports stands
/// in a kernel with such copies; what it did not print is not excused.
bool isPastRacecheck(const SanitizerReport& report, std::string_view library)
{
    return !report.functions.empty() && report.errors < printLimit &&
           std::all_of(
               report.functions.begin(), report.functions.end(),
               [&](const std::string& function) { return copiesEndAtBarriers(library, function); });
}

Outcome outcomeOf(const std::string& tool)
{
    return tool == "memcheck" || tool == "synccheck" ? Outcome::RuntimeFailed : Outcome::Incorrect;
}

} // namespace

std::string Sanitizer::find()
{
    std::vector<std::string> candidates;
    if (const char* stated = std::getenv("ESPALIER_SANITIZER"); stated && *stated) {
        candidates.emplace_back(stated);
    } else {
        std::vector<std::string> homes;
        for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
            if (const char* home = std::getenv(name); home && *home) {
                homes.emplace_back(home);
            }
        }
        if (const std::string nvcc = findProgram("nvcc"); !nvcc.empty()) {
            std::error_code error;
            homes.push_back(fs::canonical(nvcc, error).parent_path().parent_path().string());
        }
        homes.emplace_back("/usr/local/cuda");
        for (const std::string& home : homes) { // bin/compute-sanitizer is a script around this one
            candidates.push_back(home + "/compute-sanitizer/compute-sanitizer");
        }
        candidates.push_back(findProgram("compute-sanitizer"));
    }
    for (const std::string& candidate : candidates) {
        std::error_code error;
        if (!candidate.empty() && fs::is_regular_file(candidate, error)) {
            return fs::canonical(candidate, error).string();
        }
    }
    return {};
}

/// What `espalier-worker sanitize` reads (core/runner/sanitize_main.h).
Result<void> Sanitizer::write(const fs::path& folder, const std::string& library,
                              const std::vector<CasePlan>& plans) const
{
    ESPALIER_TRY(const std::string bytes, m_context.store.text(library));
    ESPALIER_CHECK(writeFileAtomically(folder / "library.so", bytes));
    Json calls = Json::array();
    int files = 0;
    for (const CasePlan& plan : plans) {
        Json call = Json::array();
        for (const ArgumentPlan& argument : plan.arguments) {
            if (argument.kind == ArgumentKind::Scalar) {
                call.push_back({{"kind", "scalar"},
                                {"type", static_cast<int>(argument.scalar.kind)},
                                {"bits", std::to_string(argument.scalar.bits)}});
                continue;
            }
            Json buffer = {{"kind", argument.isInput() ? "input" : "output"},
                           {"bytes", std::to_string(argument.bytes)}};
            if (argument.isInput()) {
                const std::string name = fmt::format("input{}", files++);
                ESPALIER_CHECK(writeFileAtomically(folder / name, drawn(argument)));
                buffer["file"] = name;
            }
            call.push_back(std::move(buffer));
        }
        calls.push_back(std::move(call));
    }
    const Json request = {{"entry", m_entry}, {"calls", std::move(calls)}};
    return writeFileAtomically(folder / "request.json", request.dump());
}

Judged<void> Sanitizer::missing(const std::string& why, Sanitizing wanted, std::vector<Evidence>& evidence) const
{
    const std::string sentence =
        fmt::format("{}: nobody has looked for races, uninitialised and out-of-bounds accesses", why);
    if (wanted == Sanitizing::Required) {
        Verdict verdict{Outcome::NotRun, NotRunCause::Unsupported, sentence, {{"sanitizer", sentence}}, false};
        return std::unexpected(std::move(verdict));
    }
    evidence.push_back({"sanitizer", sentence});
    return {};
}

struct Sanitizer::ToolRun {
    SanitizerFinding finding;
    SanitizerReport report;
};

Judged<Sanitizer::ToolRun> Sanitizer::runTool(const std::string& program, const std::string& folder,
                                              const std::string& tool, std::vector<Evidence>& evidence)
{
    ESPALIER_TRY(const RunnerPlan plan, orInfrastructure(m_context.session.planRunner(Queues::Default)));
    m_context.session.drop(plan.client);
    std::vector<std::string> command = {program,
                                        "--tool",
                                        tool,
                                        "--error-exitcode",
                                        std::to_string(errorExit),
                                        "--print-limit",
                                        std::to_string(printLimit),
                                        m_context.runners.worker(),
                                        "sanitize",
                                        folder};
    command.insert(command.end(), plan.arguments.begin(), plan.arguments.end());
    const Sandbox& sandbox = m_context.runners.sandbox();
    ProcessSpec spec;
    spec.argv = sandbox.wrap(command, {fs::path(program).parent_path().string(), folder});
    spec.environment = sandbox.environment();
    spec.tree = sandbox.tree();
    // On a thread of its own, so that this one hears the engine.
    std::stop_source stop;
    auto running = std::async(std::launch::async, [&spec, &stop] {
        return runToEnd(std::move(spec), {}, deadline, outputCap, stop.get_token());
    });
    while (running.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
        pollfd polled = {m_context.interrupts.descriptor(), POLLIN, 0};
        if (::poll(&polled, 1, 0) > 0) {
            m_context.interrupts.service();
        }
        if (m_context.interrupts.cancelled()) {
            stop.request_stop();
        }
    }
    const Result<RunResult> ran = running.get();
    if (m_context.interrupts.cancelled()) {
        return notRun(NotRunCause::Cancelled, "cancelled");
    }
    ToolRun run{{tool, "not_run", 0, ran ? ran->seconds : 0}, {}};
    SanitizerFinding& finding = run.finding;
    const auto unclear = [&](const std::string& why) -> Judged<ToolRun> {
        evidence.push_back({"sanitizer", fmt::format("{} says nothing: {}", tool, why)});
        return run;
    };
    if (!ran) {
        return unclear(ran.error().message);
    }
    if (ran->timedOut) {
        return unclear(fmt::format("it did not end within {} s", deadline.count()));
    }
    const SanitizerReport& report = run.report = parseSanitizerReport(tool, ran->out);
    if (report.noRoom) {
        return unclear("with the tool's own code in it the kernel asks for more than the device has: " +
                       report.findings.front());
    }
    if (report.errors > 0 && (report.complete || ran->status.code == errorExit)) {
        finding.state = "errors";
        finding.errors = report.errors;
        for (const std::string& sentence : report.findings) {
            evidence.push_back({tool, sentence});
        }
        return run;
    }
    // Clean is what the tool itself says, with a program that ended well under it.
    if (report.clean() && ran->status.success() && ran->dropped == 0) {
        finding.state = "clean";
        return run;
    }
    const std::string said(trimmed(printable(ran->err.empty() ? ran->out : ran->err, 300)));
    return unclear(fmt::format("it ended with {}{}{}", ran->status.text(), said.empty() ? "" : ": ", said));
}

Judged<void> Sanitizer::run(const std::string& library, const std::vector<CasePlan>& plans, Sanitizing wanted,
                            std::vector<SanitizerFinding>& findings, std::vector<Evidence>& evidence)
{
    if (m_context.session.simulated()) {
        return missing("compute-sanitizer needs a CUDA device", wanted, evidence);
    }
    const std::string program = find();
    if (program.empty()) {
        return missing("compute-sanitizer is not installed beside nvcc or on the PATH (it comes with the CUDA toolkit)",
                       wanted, evidence);
    }
    ESPALIER_TRY(const ScratchFolder folder, orInfrastructure(ScratchFolder::create("espalier-sanitize")));
    // The confined process is another user.
    std::error_code ignored;
    fs::permissions(folder.path(),
                    fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                        fs::perms::others_exec,
                    ignored);
    ESPALIER_CHECK(orInfrastructure(write(folder.path(), library, reduced(plans))));
    ESPALIER_TRY(const std::string bytes, orInfrastructure(m_context.store.text(library)));
    bool all = true;
    for (const char* tool : tools) {
        if (onProgress) {
            onProgress(fmt::format("compute-sanitizer: {}", tool));
        }
        ESPALIER_TRY(const ToolRun ran, runTool(program, folder.path().string(), tool, evidence));
        const SanitizerFinding& finding = ran.finding;
        findings.push_back(finding);
        all = all && finding.state != "not_run";
        if (finding.state == "errors" && std::string_view(tool) == "racecheck" && isPastRacecheck(ran.report, bytes)) {
            evidence.push_back({"review",
                                "racecheck reports races, but it does not follow copies that end at an mbarrier "
                                "(cp.async.bulk, TMA), which the kernels that it names make: see whether every "
                                "read waits for its copy"});
            continue;
        }
        if (finding.state == "errors") {
            const auto first =
                std::find_if(evidence.begin(), evidence.end(), [&](const Evidence& one) { return one.check == tool; });
            const std::string reason = fmt::format("compute-sanitizer's {} found {} error{}{}{}", tool, finding.errors,
                                                   finding.errors == 1 ? "" : "s", first == evidence.end() ? "" : ": ",
                                                   first == evidence.end() ? "" : first->sentence);
            return std::unexpected(Verdict{outcomeOf(tool), NotRunCause::None, reason, {}, false});
        }
    }
    return all ? Judged<void>() : missing("compute-sanitizer could not finish", wanted, evidence);
}

} // namespace espalier::judge
