// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"
#include "app/ctl/roofs.h"
#include "app/ctl/verbs.h"
#include "core/base/file.h"
#include "core/base/subprocess.h"
#include "core/base/text.h"
#include "core/build/build_sandbox.h"
#include "core/build/nvcc_build_pool.h"
#include "core/build/toolkit.h"
#include "core/llm/make_client.h"
#include "core/llm/profiles.h"
#include "core/worker/judge_process.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace espalier::ctl {

namespace {

enum class State { Ok, Limited, Missing };

/// One line of the examination: what was looked at, how it stands, why, and what helps.
struct Finding {
    std::string what;
    State state = State::Ok;
    std::string cause;
    std::string remedy;
};

std::string_view nameOf(State state)
{
    return state == State::Ok ? "ok" : state == State::Limited ? "limited" : "missing";
}

/// Compiles the smallest kernel there is: finds a host compiler that nvcc refuses, too.
Finding examineCompiler(const Result<Toolkit>& toolkit)
{
    if (!toolkit) {
        return {"compiler", State::Missing, toolkit.error().message,
                "install CUDA toolkit 13.x, or set CUDA_HOME to its folder"};
    }
    const std::string place = fmt::format("nvcc {} in {}", toolkit->version, toolkit->home.string());
    const auto scratch = ScratchFolder::create("espalier-doctor");
    if (!scratch) {
        return {"compiler", State::Missing, scratch.error().message, "make the temporary folder writable"};
    }
    const std::string source = (scratch->path() / "probe.cu").string();
    if (const auto written = writeFileAtomically(source, "__global__ void probe() {}\n"); !written) {
        return {"compiler", State::Missing, written.error().message, "free some space"};
    }
    const auto built =
        runToEnd({.argv = {toolkit->nvcc.string(), "-cubin", "-arch=sm_90", "-o", source + ".cubin", source},
                  .environment = compilerEnvironment(*toolkit, scratch->path().string())}, // as a build has it
                 "", std::chrono::seconds(60));
    if (!built || !built->status.success()) {
        const std::string words = built ? printable(built->err, 300) : built.error().message;
        return {"compiler", State::Missing, fmt::format("{} cannot compile a kernel: {}", place, trimmed(words)),
                "install a host compiler that this nvcc accepts (g++ 12 is)"};
    }
    return {"compiler", State::Ok, fmt::format("{}, probe kernel built in {}", place, durationText(built->seconds)),
            ""};
}

Finding examineJudge(const std::string& device, std::string& sandbox)
{
    JudgeSettings settings;
    settings.launcher.worker = findWorker();
    settings.device = device;
    const std::string what = device == "sim" ? "simulated device" : "GPU";
    const auto judge = startJudge(settings);
    if (!judge) {
        return device == "sim"
                   ? Finding{what, State::Missing, judge.error().message,
                             "reinstall Espalier: espalier-worker must stand beside espalierctl"}
                   : Finding{what, State::Limited, judge.error().message,
                             "without a GPU everything runs on the simulated device and figures are modelled"};
    }
    const JudgeHello& hello = (*judge)->hello();
    sandbox = hello.sandbox;
    std::string words =
        fmt::format("{}, {}, compiles for sm_{}", hello.deviceName, bytesText(hello.deviceBytes), hello.architecture);
    if (!hello.simulated) {
        words += fmt::format(", driver {}, runtime {}", hello.driver, hello.runtime);
    }
    return {what, State::Ok, words, ""};
}

Finding examineSandbox(const std::string& grade)
{
    if (grade.starts_with("bubblewrap")) {
        return {"sandbox", State::Ok, grade, ""};
    }
    return {"sandbox", State::Limited, grade.empty() ? "no judge could be started" : grade,
            "install the package bubblewrap; until then verdicts carry a lower grade of evidence"};
}

/// A counter run up to its start, in a process of its own: permission, other profilers, MIG, WSL, missing libraries.
Finding examineCounters()
{
    const auto parameters = readFile("/proc/driver/nvidia/params");
    if (!parameters) {
        return {"hardware counters", State::Limited, "no NVIDIA driver is loaded",
                "counters need a GPU; the simulated device counts by itself"};
    }
    const std::string worker = findWorker();
    const auto probed =
        runToEnd({.argv = {worker, "profiler", "--probe", "--device", "cuda:0"}}, "", std::chrono::seconds(30));
    if (probed && probed->status.success()) {
        return {"hardware counters", State::Ok, fmt::format("readable with {}", trimmed(printable(probed->out, 300))),
                ""};
    }
    const bool kept = parameters->find("RmProfilingAdminOnly: 1") != std::string::npos;
    return {"hardware counters", State::Limited,
            !probed                        ? probed.error().message
            : trimmed(probed->err).empty() ? fmt::format("the profiler ended with {}", probed->status.text())
                                           : std::string(trimmed(printable(probed->err, 600))),
            kept ? "ask an administrator to set NVreg_RestrictProfilingToAdminUsers=0 and to reload the driver; timing "
                   "works without"
                 : "timing, occupancy and the search work without counters"};
}

/// A program of NVIDIA's that Espalier does without: who calls it, and what is missing where it is missing.
struct Tool {
    const char* name;
    const char* folder; ///< below the toolkit, beside bin; a pattern of folders where it ends with *
    const char* adds;
    const char* package; ///< Debian's, of CUDA 13.0
};
constexpr Tool tools[] = {
    {"nvdisasm", "", "machine code beside the source: show --sass, and the window's listing", "cuda-nvdisasm-13-0"},
    {"cuobjdump", "", "a look by hand into libraries and exported objects", "cuda-cuobjdump-13-0"},
    {"compute-sanitizer", "compute-sanitizer",
     "memory, race and initialisation errors: eval --sanitize, and every winner on a GPU", "cuda-sanitizer-13-0"},
    {"ncu", "nsight-compute*", "Nsight Compute on a node from the window, or on a program that repro writes",
     "cuda-nsight-compute-13-0"},
    {"cuda-gdb", "", "stepping through a program that repro writes", "cuda-gdb-13-0"},
};

/// The program in the toolkit, in Nsight Compute's own folders, else on the PATH; empty: nowhere.
std::string placeOf(const Tool& tool, const Result<Toolkit>& toolkit)
{
    namespace fs = std::filesystem;
    std::vector<fs::path> folders;
    const std::string_view folder = tool.folder;
    if (toolkit) {
        folders = {toolkit->home / "bin", toolkit->home / folder};
    }
    if (folder.ends_with('*')) {
        std::error_code error;
        const std::string_view prefix = folder.substr(0, folder.size() - 1);
        for (const fs::path& base :
             {toolkit ? toolkit->home : fs::path(), fs::path("/opt/nvidia"), fs::path("/opt/nvidia/nsight-compute")}) {
            for (fs::directory_iterator entry(base, error), end; !error && entry != end; entry.increment(error)) {
                if (base.filename() == "nsight-compute" || entry->path().filename().string().starts_with(prefix)) {
                    folders.push_back(entry->path());
                }
            }
            error.clear();
        }
    }
    for (const fs::path& one : folders) {
        const std::string path = (one / tool.name).string();
        std::error_code error;
        if (fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0) {
            return path;
        }
    }
    return findProgram(tool.name);
}

Finding examineTool(const Tool& tool, const Result<Toolkit>& toolkit)
{
    const std::string path = placeOf(tool, toolkit);
    return path.empty()
               ? Finding{tool.name, State::Limited, fmt::format("not found; it would add {}", tool.adds),
                         fmt::format("install the CUDA toolkit's package {}, or put it on the PATH", tool.package)}
               : Finding{tool.name, State::Ok, fmt::format("{}, for {}", path, tool.adds), ""};
}

Finding examineRoofs()
{
    const auto report = measureRoofs();
    if (!report) {
        return {"roofs", State::Limited, report.error().message,
                "without them rooflines use what is known of devices of this name, or none"};
    }
    return {"roofs", State::Ok, *report, ""};
}

/// Whether models over HTTP can be reached at all, and from where their keys would come; nothing is asked of anybody.
Finding examineModels()
{
    if (const auto services = llm::makeServices(); !services) {
        return {"language models", State::Limited, services.error().message,
                "the playbook, tuner, command, manual and replay proposers work without"};
    }
    const auto saved = llm::loadProfiles();
    if (!saved) {
        return {"language models", State::Limited, saved.error().message, "mend or remove that file"};
    }
    std::string keys;
    for (const char* name :
         {"ESPALIER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"}) {
        const char* value = std::getenv(name);
        keys += value && *value ? fmt::format("{}{}", keys.empty() ? ", keys in " : " ", name) : "";
    }
    return {"language models", State::Ok, fmt::format("reachable over libcurl, {} saved{}", saved->size(), keys),
            "espalierctl doctor --provider NAME examines one"};
}

} // namespace

int doctor(const DoctorVerb& options)
{
    const bool json = options.json;
    const auto toolkit = findToolkit();
    std::string sandbox, simSandbox;
    std::vector<Finding> findings = {examineCompiler(toolkit), examineJudge("cuda:0", sandbox),
                                     examineJudge("sim", simSandbox)};
    findings.push_back(examineSandbox(sandbox.empty() ? simSandbox : sandbox));
    findings.push_back(examineCounters());
    findings.push_back(examineModels());
    for (const Tool& tool : tools) {
        findings.push_back(examineTool(tool, toolkit));
    }
    if (options.roofs) {
        findings.push_back(examineRoofs());
    }
    bool usable = true;
    Json list = Json::array();
    for (const Finding& finding : findings) {
        usable = usable && finding.state != State::Missing;
        list.push_back({{"what", finding.what},
                        {"state", nameOf(finding.state)},
                        {"cause", finding.cause},
                        {"remedy", finding.remedy}});
        if (!json) {
            print(fmt::format("{:<18} {:<8} {}", finding.what, nameOf(finding.state), finding.cause));
            if (!finding.remedy.empty()) {
                print(fmt::format("{:<18} {:<8} remedy: {}", "", "", finding.remedy));
            }
        }
    }
    if (json) {
        printJson({{"usable", usable}, {"findings", list}});
    }
    return usable ? exitOk : exitNotRun;
}

} // namespace espalier::ctl
