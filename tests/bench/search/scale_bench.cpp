// SPDX-License-Identifier: Apache-2.0
// A session of 100,000 nodes: how long the next decision of each strategy takes, how long reopening takes, and what the engine
// holds in memory. Usage: scale_bench [NODES]. The session is written by the store as the engine writes it: roots, ideas and
// candidates with sources of 4 kB, stage records of a usual size, and the compact record in each row.
#include "core/base/file.h"
#include "core/propose/proposers.h"
#include "core/search/node_payload.h"
#include "core/search/planner.h"
#include "core/search/strategy.h"
#include "core/store/store.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>

using namespace espalier;

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

template <typename T>
T orStop(Result<T> result)
{
    if (!result) {
        fmt::print(stderr, "scale_bench: {}\n", result.error().message);
        std::exit(1);
    }
    return std::move(*result);
}

void orStop(Result<void> result)
{
    if (!result) {
        fmt::print(stderr, "scale_bench: {}\n", result.error().message);
        std::exit(1);
    }
}

double residentMiB()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) {
            return std::strtod(line.c_str() + 6, nullptr) / 1024;
        }
    }
    return 0;
}

constexpr const char* epoch = "one";

Evaluation outcomeOf(std::int64_t id)
{
    Evaluation evaluation;
    evaluation.stage = Stage::Time;
    evaluation.epoch = epoch;
    evaluation.build = BuildRecord{};
    evaluation.build->kernels.push_back({.kernel = "kernel", .registers = static_cast<int>(32 + id % 200)});
    if (id % 5 == 0 && id != 1) {
        evaluation.outcome = Outcome::Incorrect;
        evaluation.reason = "output y[3][7] is 1.25 and should be 1.5";
        return evaluation;
    }
    evaluation.outcome = Outcome::Passed;
    TimingRecord timing;
    CaseTiming one;
    one.caseId = "case";
    one.provenance = Provenance::Measured;
    const double speedup = 1 + static_cast<double>(id % 977) / 977;
    one.timeUs = {1000 / speedup, 999 / speedup, 1001 / speedup};
    one.samplesUs.assign(30, 1000 / speedup);
    timing.cases.push_back(one);
    timing.objectiveUs = one.timeUs;
    timing.speedupRoot = Interval{speedup, speedup * 0.999, speedup * 1.001};
    timing.speedupParent = timing.speedupRoot;
    evaluation.timing = timing;
    return evaluation;
}

/// Every third node is an idea (some of them series); candidates hang under earlier ideas.
std::vector<StoredNode> grown(std::int64_t count)
{
    std::vector<StoredNode> nodes;
    std::vector<NodeId> ideas, candidates = {taskRoot};
    std::uint64_t state = 7;
    const auto below = [&state](std::size_t bound) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<std::size_t>((state >> 33) % bound);
    };
    for (std::int64_t id = 1; id <= count; ++id) {
        StoredNode node;
        node.id = NodeId{id};
        node.title = fmt::format("node {}", id);
        node.createdAt = "2026-01-01T00:00:00.000Z";
        node.proposer = "playbook";
        if (id == 1) {
            node.kind = NodeKind::Root;
        } else if (id % 3 == 2 || ideas.empty()) {
            node.kind = NodeKind::Idea;
            node.parents = {{candidates[candidates.size() - 1 - below(std::min<std::size_t>(candidates.size(), 2000))], EdgeRole::Primary}};
            node.payload = NodePayload{fmt::format("key{}", id), id % 9 == 2 ? 24 : 3, "{}", 0, 0}.text();
            ideas.push_back(node.id);
        } else {
            node.kind = NodeKind::Candidate;
            node.parents = {{ideas[ideas.size() - 1 - below(std::min<std::size_t>(ideas.size(), 1000))], EdgeRole::Primary}};
        }
        if (node.kind != NodeKind::Idea) {
            node.state = NodeState::Done;
            node.source = fmt::format("__shared__ float tile{}[32];\n", id) + std::string(4000, 'x') + "\n";
            node.payload = NodePayload::withEnded("{}", EndedRecord::of(outcomeOf(id), node.source));
            candidates.push_back(node.id);
        }
        nodes.push_back(std::move(node));
    }
    return nodes;
}

/// Nothing is compiled here.
class FakePool final : public BuildPool
{
public:
    void submit(BuildJob) override {}
    void cancel(RequestId) override {}
    int descriptor() const override { return -1; }
    std::vector<BuildResult> receive() override { return {}; }
    int busy() const override { return 0; }
};

/// Decides, lets the decision happen in the tree and decides again: what a run does, without the store.
void timeDecisions(const SearchTree& whole, const char* words)
{
    SearchTree tree = whole;
    const auto strategy = orStop(makeStrategy(words, 3));
    std::vector<double> times;
    std::int64_t next = tree.nodes().rbegin()->first.value;
    for (int i = 0; i < 200; ++i) {
        const auto begin = Clock::now();
        const Decision decision = strategy->next(tree);
        times.push_back(millisecondsSince(begin));
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
        } else {
            break;
        }
    }
    std::sort(times.begin(), times.end());
    fmt::print("  decision, {:9}: median {:.3f} ms, worst of {} {:.3f} ms\n", words, times[times.size() / 2], times.size(), times.back());
}

} // namespace

int main(int argc, char** argv)
{
    const std::int64_t count = argc > 1 ? std::atoll(argv[1]) : 100'000;
    const auto folder = orStop(ScratchFolder::create("scale"));
    const auto file = folder.path() / "large.espalier";
    {
        SessionInfo info;
        info.file = file.string();
        info.taskId = "scale";
        info.strategy = "refine";
        info.proposers = {"playbook", "tuner"};
        info.provenance = Provenance::Measured;
        info.epoch = epoch;
        const auto store = orStop(Store::create(file, info));
        orStop(store->setValue("search.consumed", std::to_string(count)));
        const auto begin = Clock::now();
        for (const StoredNode& node : grown(count)) {
            orStop(store->addNode(node));
            if (node.kind != NodeKind::Idea && node.id.value % 10 == 1) { // the records are not read: a tenth will do
                orStop(store->addStage({node.id, Stage::Time, 0, outcomeOf(node.id.value), 1, node.createdAt}));
            }
        }
        fmt::print("{} nodes written in {:.1f} s, {:.0f} MB\n", count, millisecondsSince(begin) / 1000,
                   static_cast<double>(std::filesystem::file_size(file)) / 1e6);
    }
    const double before = residentMiB();
    const auto begin = Clock::now();
    auto store = orStop(Store::open(file, Store::Mode::ReadWrite));
    SessionJournal journal(std::move(store));
    NodeBook book;
    FakePool pool;
    CandidatePipeline pipeline({.task = std::make_shared<const Task>(), .epoch = epoch}, journal, book, pool);
    std::vector<std::unique_ptr<Proposer>> proposers = orStop(makeProposers(std::vector<std::string>{"playbook", "tuner"}));
    const auto strategy = orStop(makeStrategy("refine", 1));
    Planner planner({.task = std::make_shared<const Task>()}, *strategy, proposers, journal, book, pipeline);
    {
        const auto nodes = orStop(journal.store().nodes(Store::Sources::Without));
        orStop(planner.restore(nodes, {Provenance::Measured, epoch}));
    }
    const SearchTree& tree = planner.tree();
    (void)tree.bestScore(); // its views
    const auto changed = book.takeChanged();
    const auto best = book.best();
    fmt::print("  reopened in {:.2f} s: {} nodes, best {}\n", millisecondsSince(begin) / 1000, changed.size(), best ? best->value : 0);
    fmt::print("  memory of tree, book and planner: {:.0f} MiB more than before\n", residentMiB() - before);
    for (const char* words : {"refine", "beam", "ucb", "evolution", "sample"}) {
        timeDecisions(tree, words);
    }
    return 0;
}
