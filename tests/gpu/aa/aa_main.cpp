// SPDX-License-Identifier: Apache-2.0
// The A/A test: one kernel, built twice (a comment moves its lines, so the libraries differ), takes part as candidate
// and as its own parent, again and again. A clock that can be trusted calls it a tie, its intervals hold the ratio 1,
// and the ratio hardly moves from run to run. Usage: espalier_aa [TASK] [--device D] [--kernel FILE.cu] [--case ID]
// [--quick N] [--full N]
#include "core/analysis/fresh_runs.h"
#include "core/analysis/statistics.h"
#include "core/base/file.h"
#include "core/model/task_loader.h"
#include "core/worker/judge_process.h"
#include "tests/support/judge_drive.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

using namespace espalier;

namespace {

constexpr double leastTies = 0.95;
constexpr double leastCoverage = 0.95;
constexpr double mostSpread = 0.005; ///< of kernels over `spreadFromUs`
constexpr double spreadFromUs = 50;
constexpr double mostQuickSeconds = 1.0, mostFullSeconds = 6.0;

struct Options {
    std::string task = "softmax_f32", device = "auto", kernel, caseId;
    int quick = 100, full = 5;
};

[[noreturn]] void stop(const std::string& why)
{
    fmt::print(stderr, "espalier_aa: {}\n", why);
    std::exit(2);
}

Options parse(int argc, char** argv)
{
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (!word.starts_with("--")) {
            options.task = word;
            continue;
        }
        if (i + 1 >= argc) {
            stop(fmt::format("{} needs a value", word));
        }
        const char* value = argv[++i];
        if (word == "--device") {
            options.device = value;
        } else if (word == "--kernel") {
            options.kernel = value;
        } else if (word == "--case") {
            options.caseId = value;
        } else if (word == "--quick") {
            options.quick = std::atoi(value);
        } else if (word == "--full") {
            options.full = std::atoi(value);
        } else {
            stop(fmt::format("unknown option {}", word));
        }
    }
    return options;
}

/// The value, or the end of the program with the sentence of the error.
template <typename T>
T orStop(Result<T> result)
{
    if (!result) {
        stop(result.error().message);
    }
    return std::move(*result);
}

/// What all runs of one tier showed.
struct Series {
    int ties = 0, faster = 0, slower = 0, covered = 0, unmeasured = 0;
    std::vector<double> ratios, widths, times, seconds;
    Provenance provenance = Provenance::Model;
    std::string complaint; ///< of the last run without a figure
    int runners = 0, dropped = 0, blocks = 0;

    void add(const Evaluation& evaluation)
    {
        if (!evaluation.timing || !evaluation.timing->speedupParent || evaluation.timing->cases.empty()) {
            ++unmeasured;
            complaint = fmt::format("{}: {}", nameOf(evaluation.outcome), evaluation.reason);
            return;
        }
        const Interval& ratio = *evaluation.timing->speedupParent;
        const CaseTiming& timing = evaluation.timing->cases.front();
        provenance = timing.provenance;
        switch (statistics::compare(ratio)) {
        case statistics::Comparison::Tie:
            ++ties;
            break;
        case statistics::Comparison::Faster:
            ++faster;
            break;
        case statistics::Comparison::Slower:
            ++slower;
            break;
        }
        covered += ratio.low <= 1 && 1 <= ratio.high;
        ratios.push_back(ratio.value);
        widths.push_back(statistics::relativeHalfWidth(ratio));
        times.push_back(timing.timeUs.value);
        seconds.push_back(evaluation.judgeSeconds);
        runners = timing.runners;
        dropped += timing.dropped;
        blocks += timing.blocks;
    }

    /// Standard deviation of the ratios.
    double spread() const
    {
        double sum = 0, squares = 0;
        for (const double ratio : ratios) {
            sum += ratio;
        }
        const double n = static_cast<double>(ratios.size());
        for (const double ratio : ratios) {
            squares += (ratio - sum / n) * (ratio - sum / n);
        }
        return n > 1 ? std::sqrt(squares / (n - 1)) : 0;
    }
};

/// Prints the table's row; true when the tier keeps its promises.
bool report(const char* tier, const Series& series, double mostSeconds)
{
    const int runs = static_cast<int>(series.ratios.size()) + series.unmeasured;
    if (runs == 0) {
        return true;
    }
    if (series.ratios.empty()) {
        fmt::print("{}: nothing was measured in {} runs; {}\n", tier, runs, series.complaint);
        return false;
    }
    const double n = static_cast<double>(runs);
    const double slowest = *std::max_element(series.seconds.begin(), series.seconds.end());
    const auto [least, most] = std::minmax_element(series.ratios.begin(), series.ratios.end());
    const double time = statistics::median(series.times);
    fmt::print("| tier | runs | processes a side | tie | faster | slower | no measurement | interval holds 1 | "
               "spread (sd) | ratios | half-width, median | time, us | seconds, median (most) | blocks dropped |\n");
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {:.3f} % | {:.4f} to {:.4f} | {:.3f} % | {:.2f} | {:.2f} "
               "({:.2f}) | {} of {} |\n",
               tier, runs, series.runners, series.ties, series.faster, series.slower, series.unmeasured, series.covered,
               100 * series.spread(), *least, *most, 100 * statistics::median(series.widths), time,
               statistics::median(series.seconds), slowest, series.dropped, series.dropped + series.blocks);
    if (series.unmeasured > 0) {
        fmt::print("  last run without a figure: {}\n", series.complaint);
    }
    const bool measured = series.provenance == Provenance::Measured;
    return series.ties >= leastTies * n && series.covered >= leastCoverage * n &&
           (!measured || time < spreadFromUs || series.spread() <= mostSpread) && (!measured || slowest <= mostSeconds);
}

} // namespace

int main(int argc, char** argv)
{
    const Options options = parse(argc, argv);
    auto loaded = loadTask(options.task);
    if (!loaded) {
        stop(loaded.error().message);
    }
    const auto task = std::make_shared<const Task>(std::move(*loaded));
    JudgeSettings settings;
    settings.launcher.worker = findWorker();
    settings.device = options.device;
    auto judge = startJudge(settings);
    if (!judge) {
        stop(judge.error().message);
    }
    const JudgeHello& hello = (*judge)->hello();
    std::string source = task->playbook.empty() ? task->root.text : task->playbook.front().source.text;
    if (!options.kernel.empty()) {
        auto text = readFile(options.kernel);
        if (!text) {
            stop(text.error().message);
        }
        source = std::move(*text);
    }
    EvaluationJob job;
    job.task = task;
    job.root = orStop(test::builtFor(hello, task, SourceRole::Candidate, task->root.text));
    job.oracle = orStop(test::builtFor(hello, task, SourceRole::Oracle, task->oracle.source.text));
    if (!options.caseId.empty()) {
        job.caseIds = {options.caseId};
    }
    const Library one = orStop(test::builtFor(hello, task, SourceRole::Candidate, "// one\n" + source));
    const Library other =
        orStop(test::builtFor(hello, task, SourceRole::Candidate, "// the same,\n// a line further down\n" + source));
    if (one.hash == other.hash) {
        stop("both builds are the same library: there is nothing to compare");
    }
    fmt::print("{} on {} ({}), sandbox {}\n", task->id, hello.deviceName, hello.driver, hello.sandbox);
    Series quick, full;
    std::int64_t request = 0;
    const auto run = [&](Tier tier, int number, Series& series) {
        job.tier = tier;
        job.candidate = number % 2 == 0 ? one : other;
        job.parent = number % 2 == 0 ? other : one;
        job.id = RequestId{++request};
        series.add(orStop(test::awaitVerdict(**judge, job)));
    };
    Series warm;
    run(Tier::Quick, 0, warm); // starts runners and fills the driver's caches
    for (int i = 0; i < options.quick; ++i) {
        run(Tier::Quick, i, quick);
    }
    for (int i = 0; i < options.full; ++i) {
        run(Tier::Full, i, full);
    }
    const bool quickKept = report("quick", quick, mostQuickSeconds);
    const bool fullKept = report("full", full, mostFullSeconds);
    fmt::print("{}\n", quickKept && fullKept ? "kept" : "NOT KEPT");
    return quickKept && fullKept ? 0 : 1;
}
