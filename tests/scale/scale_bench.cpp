// SPDX-License-Identifier: Apache-2.0
// What a large session costs: how long the next decision of each strategy takes, how long reopening takes, what the
// engine holds in memory, and what it works for one evaluation beside compiler and judge, with and without a model
// among the proposers. Both the thread's own time and the time on the wall are told and held; on the wall everything
// may take three times as long for the disk, and as much longer as other programs make a spinning loop take at that
// moment. Usage: scale_bench [NODES [FILE]]; exit code 1 when a limit does not hold. FILE, for profilers: written where
// it does not exist, and only read. The limits are those of 100,000 nodes in an optimised build; without optimisation
// everything may take six times as long.
#include "core/base/file.h"
#include "core/engine/engine_core.h"
#include "core/search/act_history.h"
#include "core/search/planner.h"
#include "core/search/strategy.h"
#include "core/store/store.h"
#include "tests/scale/large_session.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <string>
#include <time.h>
#include <type_traits>
#include <vector>

using namespace espalier;

namespace {

#ifdef __OPTIMIZE__
constexpr double patience = 1;
#else
constexpr double patience = 6;
#endif
constexpr double longestDecisionMs = 5 * patience;
constexpr double longestReopenSeconds = 2 * patience;
constexpr double mostMemoryMiB = 1024;
constexpr double longestEvaluationMs = 10 * patience; ///< of the engine's own work, the store's included
constexpr double longestQuestionMs =
    1000 * patience; ///< the same where a model is asked: its answer takes many seconds

constexpr double wallPatience = 3; ///< for the disk

struct Seconds {
    double own = 0;  ///< of this thread: what other programs take of the machine is no cost of ours
    double wall = 0; ///< as a person waits
    bool operator<(const Seconds& other) const { return own < other.own; }
    Seconds operator*(double factor) const { return {own * factor, wall * factor}; }
};

double clockSeconds(clockid_t clock)
{
    timespec time = {};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Stopwatch
{
public:
    Seconds seconds() const
    {
        return {clockSeconds(CLOCK_THREAD_CPUTIME_ID) - m_begin.own, clockSeconds(CLOCK_MONOTONIC) - m_begin.wall};
    }

private:
    Seconds m_begin{clockSeconds(CLOCK_THREAD_CPUTIME_ID), clockSeconds(CLOCK_MONOTONIC)};
};

template <typename T>
T orStop(Result<T> result)
{
    if (!result) {
        fmt::print(stderr, "scale_bench: {}\n", result.error().message);
        std::exit(2);
    }
    if constexpr (!std::is_void_v<T>) {
        return std::move(*result);
    }
}

/// The most that this process has held since forgetPeak(), in MiB.
double peakMiB()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) {
            return std::strtod(line.c_str() + 6, nullptr) / 1024;
        }
    }
    return 0;
}

void forgetPeak()
{
    std::ofstream("/proc/self/clear_refs") << "5";
}

/// Seconds on the wall for one of our own, now: 1 on a machine that nobody else uses.
double crowding()
{
    const Stopwatch watch;
    while (watch.seconds().own < 0.05) {
    }
    return std::max(1.0, watch.seconds().wall / watch.seconds().own);
}

class Limits
{
public:
    void hold(const std::string& what, double figure, double limit, const char* unit)
    {
        const bool holds = figure < limit;
        m_failed = m_failed || !holds;
        fmt::print("{:40} {:9.3f} {:3} {} {:g}\n", what, figure, unit, holds ? "<" : "EXCEEDS", limit);
        std::fflush(stdout);
    }
    void hold(const std::string& what, Seconds figure, double limit, const char* unit)
    {
        hold(what, figure.own, limit, unit);
        hold("  on the wall", figure.wall, limit * wallPatience * crowding(), unit);
    }
    int exitCode() const { return m_failed ? 1 : 0; }

private:
    bool m_failed = false;
};

/// Of the newest thousand nodes.
std::optional<NodeId> oldestWithoutVerdict(const SearchTree& tree)
{
    std::optional<NodeId> oldest;
    int looked = 0;
    for (auto entry = tree.nodes().rbegin(); entry != tree.nodes().rend() && ++looked <= 1000; ++entry) {
        if (entry->second.kind == NodeKind::Candidate && !entry->second.verdict) {
            oldest = entry->first;
        }
    }
    return oldest;
}

/// Decides, lets the decision happen in the tree and decides again: what a run does, without the store.
void timeDecisions(const SearchTree& whole, const char* words, Limits& limits)
{
    SearchTree tree = whole;
    const auto strategy = orStop(makeStrategy(words, 3));
    std::vector<Seconds> times;
    std::int64_t next = tree.nodes().rbegin()->first.value;
    (void)strategy->next(tree); // a strategy's own view is made for its first question, once in a session
    for (int i = 0; i < 200; ++i) {
        const Stopwatch watch;
        const Decision decision = strategy->next(tree);
        times.push_back(watch.seconds() * 1000);
        if (const auto* ask = std::get_if<decision::AskIdeas>(&decision)) {
            TreeNode idea;
            idea.id = NodeId{++next};
            idea.kind = NodeKind::Idea;
            idea.parent = ask->parent;
            tree.add(std::move(idea));
            tree.find(ask->parent)->asked = true;
        } else if (const auto* implement = std::get_if<decision::Implement>(&decision)) {
            TreeNode candidate;
            candidate.id = NodeId{++next};
            candidate.parent = implement->idea;
            candidate.verdict = Verdict{Outcome::Passed, tree.frame(), {}, 1 + static_cast<double>(i % 90) / 100, {}};
            tree.add(std::move(candidate));
        } else if (const auto* cross = std::get_if<decision::Crossover>(&decision)) {
            tree.refuseCrossing(cross->first, cross->second);
        } else if (const auto awaited = oldestWithoutVerdict(tree)) {
            tree.find(*awaited)->verdict = Verdict{Outcome::Passed, tree.frame(), {}, 1.5, {}};
        } else {
            break;
        }
    }
    std::sort(times.begin(), times.end());
    limits.hold(fmt::format("decision of {}, worst of {}", words, times.size()), times.back(), longestDecisionMs, "ms");
    fmt::print("{:40} {:9.3f} ms\n", "  median", times[times.size() / 2].own);
}

/// The tree as a planner restores it, for the strategies alone.
void timeStrategies(const std::filesystem::path& file, Limits& limits)
{
    FakeLedger ledger;
    const EngineParts parts = largeSessionParts(ledger);
    SessionJournal journal(orStop(Store::open(file, Store::Mode::ReadOnly)));
    const SessionInfo info = journal.info();
    const auto task = std::make_shared<const Task>(fakeTask());
    NodeBook book;
    const auto pool = parts.makeBuildPool();
    CandidatePipeline pipeline({.task = task, .epoch = info.epoch}, journal, book, *pool);
    ProposerSet proposers(orStop(parts.makeProposers({})));
    const auto strategy = orStop(makeStrategy("refine", 1));
    ActHistory acts(journal, parts.author);
    Planner planner({.task = task}, *strategy, proposers, journal, acts, book, pipeline);
    orStop(planner.restore(orStop(journal.store().nodes(Store::Sources::Without)), {info.provenance, info.epoch}));
    for (const char* words : {"refine", "beam", "ucb", "evolution", "sample"}) {
        timeDecisions(planner.tree(), words, limits);
    }
}

/// Opens the session and goes on with it for some evaluations. With a `model` every idea and every kernel is a question
/// whose prompt is put together from the whole session.
void timeEngine(const std::filesystem::path& file, std::int64_t nodes, bool model, Limits& limits)
{
    FakeLedger ledger;
    std::int64_t told = 0;
    RunStatus status;
    const auto observer = [&](const event::Event& event) {
        if (const auto* changes = std::get_if<event::Changes>(&event)) {
            told += std::ssize(changes->nodes);
            status = changes->status;
        }
    };
    EngineOptions options;
    options.session = file;
    const std::string with = model ? ", with a model" : "";
    const Stopwatch opening;
    const auto engine = orStop(EngineCore::open(options, largeSessionParts(ledger, model), observer));
    engine->begin();
    limits.hold("reopened, first changes told" + with, opening.seconds(), longestReopenSeconds, "s");
    if (told < nodes) {
        fmt::print(stderr, "scale_bench: the engine told of {} nodes, not of {}\n", told, nodes);
        std::exit(2);
    }
    const std::int64_t more = model ? 10 : 200;
    const std::int64_t before = status.evaluations;
    const Stopwatch starting;
    engine->handle(command::Run{Budget{.evaluations = before + more}});
    fmt::print("{:40} {:9.3f} s, {:.3f} s on the wall\n", "the run starts", starting.seconds().own,
               starting.seconds().wall);
    const Stopwatch running;
    Seconds longest;
    while (engine->state() == RunState::Running) {
        const Stopwatch turn;
        engine->turn(-1, 0);
        longest = std::max(longest, turn.seconds());
    }
    const Seconds each = running.seconds() * (1000 / static_cast<double>(more));
    if (status.evaluations != before + more) {
        fmt::print(stderr, "scale_bench: {} evaluations were made, not {}: {}\n", status.evaluations - before, more,
                   status.why);
        std::exit(2);
    }
    limits.hold("engine's work for an evaluation" + with, each, model ? longestQuestionMs : longestEvaluationMs, "ms");
    fmt::print("{:40} {:9.3f} ms, {:.3f} ms on the wall\n", "  longest turn", 1000 * longest.own, 1000 * longest.wall);
    limits.hold("memory, peak of the whole process", peakMiB(), mostMemoryMiB, "MiB");
}

} // namespace

int main(int argc, char** argv)
{
    const std::int64_t count = argc > 1 ? std::atoll(argv[1]) : 100'000;
    if (count < 1000) {
        fmt::print(stderr, "usage: scale_bench [NODES], at least 1000\n");
        return 2;
    }
    const auto folder = orStop(ScratchFolder::create("scale"));
    const auto file = folder.path() / "large.espalier";
    if (argc > 2 && std::filesystem::exists(argv[2])) {
        std::filesystem::copy_file(argv[2], file);
    } else {
        orStop(writeLargeSession(file, count));
        if (argc > 2) {
            std::filesystem::copy_file(file, argv[2]);
        }
    }
    fmt::print("{} nodes written, {:.0f} MB\n", count, static_cast<double>(std::filesystem::file_size(file)) / 1e6);
    forgetPeak();
    Limits limits;
    timeEngine(file, count, false, limits);
    timeEngine(file, count, true, limits);
    timeStrategies(file, limits);
    return limits.exitCode();
}
