// SPDX-License-Identifier: Apache-2.0
// Compares strategies on recorded landscapes (landscape.h): playbook and tuner as proposers, the table as the judge.
// Usage: search_bench [--seeds N] [--evals N] [--folder F] [STRATEGY...]; prints a Markdown table: evaluations until 95
// % of the best known speed-up (median and 90th percentile over tasks and seeds; a search that does not get there
// counts as the budget), and the area under the curve of the best so far relative to the best known (1: found at once).
// The order of the playbook's ideas under one parent is drawn anew for each seed: the author's order is no merit of a
// strategy's.
#include "core/base/file.h"
#include "core/model/task_loader.h"
#include "core/propose/playbook_proposer.h"
#include "core/propose/source_text.h"
#include "core/propose/tuner_proposer.h"
#include "core/search/draw.h"
#include "core/search/strategy.h"
#include "tests/bench/search/landscape.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fmt/format.h>
#include <memory>

using namespace espalier;
using namespace espalier::bench;

namespace {

constexpr std::size_t window = 6; ///< as the planner's: outcomes are known so many candidates later
constexpr double goal = 0.95;

[[noreturn]] void stop(const std::string& why)
{
    fmt::print(stderr, "search_bench: {}\n", why);
    std::exit(1);
}

/// One search on one landscape, without store, compiler and judge.
class Replay
{
public:
    Replay(std::shared_ptr<const Task> task, const Landscape& landscape, const Strategy& strategy, std::uint64_t seed)
        : m_task(std::move(task)), m_landscape(landscape), m_strategy(strategy), m_seed(seed),
          m_tree({Provenance::Measured, "recorded"})
    {
        TreeNode root;
        root.id = taskRoot;
        root.kind = NodeKind::Root;
        root.proposer = "task";
        root.traits = traitsOfSource(m_task->root.text);
        root.verdict = Verdict{Outcome::Passed, m_tree.frame(), {}, 1.0, {}};
        m_tree.add(std::move(root));
        m_kernels[taskRoot] = {m_task->root.text, "root", {}, ""};
    }

    /// Best speed-up known after each evaluation.
    std::vector<double> run(int evaluations)
    {
        std::vector<double> curve;
        double best = 1;
        for (int guard = 0; static_cast<int>(curve.size()) < evaluations && guard < 100'000; ++guard) {
            if (m_pending.size() >= window) {
                consume();
            }
            const Decision decision = m_strategy.next(m_tree);
            if (const auto* ask = std::get_if<decision::AskIdeas>(&decision)) {
                askIdeas(ask->parent);
            } else if (const auto* cross = std::get_if<decision::Crossover>(&decision)) {
                crossOver(*cross);
            } else if (const auto* expand = std::get_if<decision::Implement>(&decision)) {
                if (const auto speedup = implement(expand->idea)) {
                    best = std::max(best, *speedup);
                    curve.push_back(best);
                }
            } else if (m_pending.empty()) {
                break;
            } else {
                consume();
            }
        }
        curve.resize(static_cast<std::size_t>(evaluations), best);
        return curve;
    }

private:
    struct Kernel {
        std::string source, key; ///< playbook id
        TunableValues values;
        std::string payload;
    };

    /// The recorded point, or where it is missing the one of the same kernel that differs least (in the logarithms of
    /// its values): a recording that was cut short still serves.
    const LandscapePoint* nearest(const std::string& key, const TunableValues& values) const
    {
        const auto kernel = m_landscape.kernels.find(key);
        const LandscapePoint* best = nullptr;
        double least = 0;
        if (kernel != m_landscape.kernels.end()) {
            for (const LandscapePoint& point : kernel->second.points) {
                double distance = 0;
                for (const auto& [name, value] : values) {
                    const auto theirs = point.values.find(name);
                    const double other = theirs == point.values.end() ? 0 : static_cast<double>(theirs->second);
                    distance += std::abs(std::log2(1 + static_cast<double>(value)) - std::log2(1 + other));
                }
                if (!best || distance < least) {
                    best = &point;
                    least = distance;
                }
            }
        }
        return best;
    }

    void consume()
    {
        m_tree.find(m_pending.front().first)->verdict = m_pending.front().second;
        m_pending.pop_front();
    }

    NodeId add(TreeNode node)
    {
        node.id = NodeId{static_cast<std::int64_t>(m_tree.nodes().size()) + 1};
        m_tree.add(node);
        return node.id;
    }

    void addIdea(NodeId parent, const ProposedIdea& idea, std::string_view proposer, std::optional<NodeId> with)
    {
        TreeNode node;
        node.kind = NodeKind::Idea;
        node.parent = parent;
        node.proposer = proposer;
        node.key = idea.key;
        node.planned = idea.implementations;
        node.crossedWith = with;
        m_ideas[add(std::move(node))] = idea;
    }

    void askIdeas(NodeId parent)
    {
        IdeaContext context;
        context.task = m_task;
        context.seed = m_seed;
        context.parent = parent;
        context.parentIsTaskRoot = parent == taskRoot;
        context.parentSource = m_kernels.at(parent).source;
        context.parentProposer = m_tree.at(parent).proposer;
        context.independent = m_strategy.independentIdeas();
        for (const TreeNode* node = &m_tree.at(parent); node;
             node = node->parent ? &m_tree.at(*node->parent) : nullptr) {
            if (node->kind == NodeKind::Idea) {
                context.lineage.insert(context.lineage.begin(), {node->proposer, node->key});
            }
        }
        for (Proposer* proposer : {static_cast<Proposer*>(&m_playbook), static_cast<Proposer*>(&m_tuner)}) {
            proposer->ideas(RequestId{1}, context);
            auto ideas = std::get<proposer::Ideas>(proposer->receive().at(0)).ideas;
            std::stable_sort(ideas.begin(), ideas.end(), [this](const ProposedIdea& a, const ProposedIdea& b) {
                return drawOf({m_seed, drawPart(a.key)}) < drawOf({m_seed, drawPart(b.key)});
            });
            for (const ProposedIdea& idea : ideas) {
                addIdea(parent, idea, proposer->name(), std::nullopt);
            }
        }
        m_tree.find(parent)->asked = true;
    }

    void crossOver(const decision::Crossover& cross)
    {
        const auto idea = m_tuner.crossing({m_task, m_seed, cross.first, m_kernels.at(cross.first).source, cross.second,
                                            m_kernels.at(cross.second).source, ""});
        if (idea) {
            addIdea(cross.first, *idea, "tuner", cross.second);
        } else {
            m_tree.refuseCrossing(cross.first, cross.second);
        }
    }

    /// The candidate's speed-up, 0 when it failed; nullopt when nothing was evaluated.
    std::optional<double> implement(NodeId id)
    {
        const TreeNode& idea = m_tree.at(id);
        const NodeId parent = *idea.parent;
        ImplementContext context;
        context.task = m_task;
        context.seed = m_seed;
        context.idea = id;
        context.key = idea.key;
        context.payload = m_ideas.at(id).payload;
        context.parent = parent;
        context.parentSource = m_kernels.at(parent).source;
        context.parentScore = m_tree.score(parent);
        for (const NodeId child : idea.children) {
            const TreeNode& node = m_tree.at(child);
            context.earlier.push_back({context.ordinal++, m_kernels.at(child).payload,
                                       node.verdict ? std::optional(node.verdict->outcome) : std::nullopt,
                                       m_tree.score(child)});
        }
        Proposer& proposer = idea.proposer == "tuner" ? static_cast<Proposer&>(m_tuner) : m_playbook;
        proposer.implement(RequestId{1}, context);
        auto made = std::get<proposer::Implementation>(proposer.receive().at(0));
        if (made.source.empty()) {
            m_tree.find(id)->exhausted = true;
            return std::nullopt;
        }
        Kernel kernel{made.source, idea.proposer == "playbook" ? idea.key : m_kernels.at(parent).key, {}, made.payload};
        for (const Tunable& tunable : readMarks(made.source).tunables) {
            kernel.values[tunable.name] = tunable.current;
        }
        const bool repeated = !m_seen.insert(made.source).second;
        const LandscapePoint* point = repeated ? nullptr : nearest(kernel.key, kernel.values);
        Verdict verdict{point ? point->outcome : Outcome::NotRun, m_tree.frame(), {}, {}, {}};
        if (point) {
            verdict.build = traitsOfBuild(point->build);
            if (point->outcome == Outcome::Passed) {
                verdict.speedupRoot = point->speedup;
            }
        }
        TreeNode node;
        node.parent = id;
        node.proposer = idea.proposer;
        node.traits = traitsOfSource(made.source);
        const NodeId added = add(std::move(node));
        m_kernels[added] = std::move(kernel);
        m_pending.emplace_back(added, verdict);
        return point ? std::optional(verdict.speedupRoot.value_or(0)) : std::nullopt;
    }

    std::shared_ptr<const Task> m_task;
    const Landscape& m_landscape;
    const Strategy& m_strategy;
    std::uint64_t m_seed;
    PlaybookProposer m_playbook;
    TunerProposer m_tuner;
    SearchTree m_tree;
    std::map<NodeId, Kernel> m_kernels;
    std::map<NodeId, ProposedIdea> m_ideas;
    std::set<std::string> m_seen;
    std::deque<std::pair<NodeId, Verdict>> m_pending;
};

struct Measured {
    std::shared_ptr<const Task> task;
    Landscape landscape;
};

std::vector<Measured> loadAll(const std::filesystem::path& folder)
{
    std::vector<Measured> all;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".json") {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        const auto text = readFile(file);
        const auto json = text ? parseJson(*text, file.string()) : std::unexpected(text.error());
        auto landscape = json ? Landscape::fromJson(*json, file.string()) : std::unexpected(json.error());
        if (!landscape) {
            stop(landscape.error().message);
        }
        auto task = loadTask((std::filesystem::path(ESPALIER_TASKS_FOLDER) / landscape->taskId).string());
        if (!task) {
            stop(task.error().message);
        }
        for (const LandscapeKernel& kernel : kernelsOf(*task, 1)) {
            const auto known = landscape->kernels.find(kernel.key);
            if (known != landscape->kernels.end() && known->second.identity != sourceIdentity(kernel.source)) {
                fmt::print(stderr, "search_bench: {} of {} has changed since it was recorded\n", kernel.key, task->id);
            }
        }
        all.push_back({std::make_shared<const Task>(std::move(*task)), std::move(*landscape)});
    }
    return all;
}

double quantile(std::vector<double> values, double q)
{
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<std::size_t>(q * static_cast<double>(values.size())))];
}

} // namespace

int main(int argc, char** argv)
{
    int seeds = 30, evaluations = 60;
    std::filesystem::path folder = ESPALIER_LANDSCAPES;
    std::vector<std::string> strategies;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--seeds" && i + 1 < argc) {
            seeds = std::atoi(argv[++i]);
        } else if (word == "--evals" && i + 1 < argc) {
            evaluations = std::atoi(argv[++i]);
        } else if (word == "--folder" && i + 1 < argc) {
            folder = argv[++i];
        } else {
            strategies.push_back(word);
        }
    }
    if (strategies.empty()) {
        strategies = {"refine", "beam", "ucb", "evolution", "sample"};
    }
    const std::vector<Measured> tasks = loadAll(folder);
    std::size_t points = 0;
    for (const Measured& measured : tasks) {
        points += measured.landscape.points();
    }
    fmt::print("{} tasks, {} recorded points, {} seeds, {} evaluations.\n\n", tasks.size(), points, seeds, evaluations);
    std::string head = "| strategy | to 95 %, median | 90th percentile | got there | area |";
    std::string rule = "| --- | --- | --- | --- | --- |";
    for (const Measured& measured : tasks) {
        head += fmt::format(" {} |", measured.task->id);
        rule += " --- |";
    }
    fmt::print("{}\n{}\n", head, rule);
    for (const std::string& words : strategies) {
        std::vector<double> needed, areas;
        int arrived = 0;
        std::string cells;
        for (const Measured& measured : tasks) {
            const double best = measured.landscape.bestSpeedup();
            std::vector<double> here;
            for (int seed = 1; seed <= seeds; ++seed) {
                const auto strategy = makeStrategy(words, static_cast<std::uint64_t>(seed));
                if (!strategy) {
                    stop(strategy.error().message);
                }
                const std::vector<double> curve =
                    Replay(measured.task, measured.landscape, **strategy, static_cast<std::uint64_t>(seed))
                        .run(evaluations);
                const auto there =
                    std::find_if(curve.begin(), curve.end(), [best](double one) { return one >= goal * best; });
                arrived += there != curve.end();
                here.push_back(there == curve.end() ? evaluations : static_cast<double>(there - curve.begin() + 1));
                double area = 0;
                for (const double one : curve) {
                    area += one / best / evaluations;
                }
                areas.push_back(area);
            }
            cells += fmt::format(" {:.0f} |", quantile(here, 0.5));
            needed.insert(needed.end(), here.begin(), here.end());
        }
        double mean = 0;
        for (const double area : areas) {
            mean += area / static_cast<double>(areas.size());
        }
        fmt::print("| {} | {:.0f} | {:.0f} | {:.0f} % | {:.3f} |{}\n", words, quantile(needed, 0.5),
                   quantile(needed, 0.9), 100.0 * arrived / static_cast<double>(needed.size()), mean, cells);
    }
    return 0;
}
