// SPDX-License-Identifier: Apache-2.0
#include "core/search/beam.h"
#include "core/search/evolution.h"
#include "core/search/manual.h"
#include "core/search/strategy.h"
#include "core/search/ucb.h"

#include "tests/support/tree_text.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace espalier {
namespace {

/// The decision in words: "ask root", "implement keep_row", "cross a b", "wait".
std::string wordsOf(const Strategy& strategy, const SearchTree& tree)
{
    const Decision decision = strategy.next(tree);
    if (const auto* ask = std::get_if<decision::AskIdeas>(&decision)) {
        return "ask " + nameIn(tree, ask->parent);
    }
    if (const auto* implement = std::get_if<decision::Implement>(&decision)) {
        return "implement " + nameIn(tree, implement->idea);
    }
    if (const auto* cross = std::get_if<decision::Crossover>(&decision)) {
        return "cross " + nameIn(tree, cross->first) + " " + nameIn(tree, cross->second);
    }
    return "wait";
}

std::string words(std::string_view strategy, std::string_view text, std::uint64_t seed = 1)
{
    return wordsOf(*makeStrategy(strategy, seed).value(), treeFromText(text));
}

/// A world of its own: every kernel has two ideas, every idea one kernel whose score follows from a draw. Runs the
/// strategy until `candidates` stand in the tree; each outcome is known `lag` candidates later. A pure function.
class World
{
public:
    World(const Strategy& strategy, int lag = 3) : m_strategy(strategy), m_lag(lag)
    {
        tree.setFrame({Provenance::Model, "epoch"});
        TreeNode root;
        root.id = taskRoot;
        root.kind = NodeKind::Root;
        root.title = "root";
        root.verdict = Verdict{Outcome::Passed, tree.frame(), 100.0, 1.0};
        tree.add(root);
    }

    bool step()
    {
        const Decision decision = m_strategy.next(tree);
        log += wordsOf(m_strategy, tree) + "\n";
        if (const auto* ask = std::get_if<decision::AskIdeas>(&decision)) {
            for (int i = 0; i < 3; ++i) {
                add(NodeKind::Idea, ask->parent, i == 2 ? 6 : 1);
            }
            tree.find(ask->parent)->asked = true;
        } else if (const auto* implement = std::get_if<decision::Implement>(&decision)) {
            m_pending.push_back(add(NodeKind::Candidate, implement->idea, 1));
        } else if (const auto* cross = std::get_if<decision::Crossover>(&decision)) {
            const NodeId idea = add(NodeKind::Idea, cross->first, 1, cross->second);
            EXPECT_TRUE(tree.crossed(cross->first, cross->second));
            EXPECT_NE(tree.at(idea).crossedWith, cross->first);
            ++crossings;
        } else if (m_pending.empty()) {
            return false;
        } else {
            consume();
            return true;
        }
        if (static_cast<int>(m_pending.size()) > m_lag) {
            consume();
        }
        return true;
    }
    void run(int steps)
    {
        for (int i = 0; i < steps && step(); ++i) {
        }
    }
    /// The same tree built anew, as a reopened session builds it.
    SearchTree rebuilt() const
    {
        SearchTree again(tree.frame());
        for (const auto& [id, node] : tree.nodes()) {
            TreeNode copy = node;
            copy.children.clear();
            again.add(std::move(copy));
        }
        return again;
    }

    SearchTree tree;
    std::string log;
    int crossings = 0;

private:
    NodeId add(NodeKind kind, NodeId parent, int planned, std::optional<NodeId> with = std::nullopt)
    {
        TreeNode node;
        node.id = NodeId{static_cast<std::int64_t>(tree.nodes().size()) + 1};
        node.kind = kind;
        node.parent = parent;
        node.title = "n" + std::to_string(node.id.value);
        node.key = node.title;
        node.proposer = "playbook";
        node.planned = planned;
        node.crossedWith = with;
        node.traits.memory = static_cast<MemoryStrategy>(node.id.value % 5);
        tree.add(node);
        return node.id;
    }
    void consume()
    {
        const NodeId id = m_pending.front();
        m_pending.erase(m_pending.begin());
        const NodeId above = *tree.parentCandidate(id);
        const auto draw = static_cast<unsigned>(id.value * 2654435761u);
        Verdict verdict{draw % 5 == 0 ? Outcome::Incorrect : Outcome::Passed, tree.frame(), {}, {}, {}};
        verdict.speedupRoot = tree.score(above).value_or(1) * (0.8 + (draw >> 8) % 100 * 0.005);
        tree.find(id)->verdict = verdict;
    }

    const Strategy& m_strategy;
    int m_lag;
    std::vector<NodeId> m_pending;
};

const char* const searching[] = {
    "refine", "beam", "ucb", "evolution", "sample", "evolution:islands=2,cross=1", "beam:width=1,bank=0"};

TEST(Strategies, TheSameSeedTheSameDecisions)
{
    for (const char* name : searching) {
        const auto strategy = makeStrategy(name, 7).value();
        World first(*strategy), second(*strategy);
        first.run(300);
        second.run(300);
        EXPECT_EQ(first.log, second.log) << name;
        EXPECT_GT(first.tree.nodes().size(), std::string_view(name) == "sample" ? 4u : 100u) << name;
    }
}

TEST(Strategies, AReopenedTreeIsDecidedAlike)
{
    for (const char* name : searching) {
        const auto strategy = makeStrategy(name, 7).value();
        World world(*strategy);
        for (int i = 0; i < 120; ++i) {
            ASSERT_EQ(wordsOf(*strategy, world.rebuilt()), wordsOf(*strategy, world.tree))
                << name << " after " << i << "\n"
                << world.log;
            if (!world.step()) {
                break;
            }
        }
    }
}

TEST(Strategies, APrunedBranchIsLeftAlone)
{
    for (const char* name : searching) {
        const auto strategy = makeStrategy(name, 3).value();
        World world(*strategy);
        world.run(60);
        const NodeId cut = world.tree.at(taskRoot).children.front();
        world.tree.find(cut)->pruned = true;
        const std::size_t before = world.tree.spentBelow(cut).evaluations;
        world.run(150);
        EXPECT_EQ(world.tree.spentBelow(cut).evaluations, static_cast<std::int64_t>(before)) << name;
    }
}

TEST(Strategies, ABranchThatHasSpentItsBudgetIsLeftAlone)
{
    for (const char* name : searching) {
        const auto strategy = makeStrategy(name, 3).value();
        World world(*strategy);
        world.run(4); // the root's ideas stand in the tree
        const NodeId branch = world.tree.at(taskRoot).children.front();
        world.tree.find(branch)->budget.evaluations = 2;
        world.run(200);
        EXPECT_LE(world.tree.spentBelow(branch).evaluations, 2) << name;
        EXPECT_GT(world.tree.births(), 6) << name;
    }
}

TEST(Strategies, ABannedIdeaIsNotImplemented)
{
    for (const char* name : searching) {
        const auto strategy = makeStrategy(name, 3).value();
        World world(*strategy);
        world.run(1);
        const NodeId banned = world.tree.at(taskRoot).children.back();
        world.tree.find(banned)->banned = true;
        world.run(200);
        EXPECT_TRUE(world.tree.at(banned).children.empty()) << name;
    }
}

TEST(Strategies, WhatIsPinnedIsAlwaysAParent)
{
    // A slow pinned kernel far behind the best gets its idea implemented before long.
    const std::string text =
        "root:passed > a > c1:passed(9.0) > i1; c1 > i2; root > b > slow!:passed(0.2) > mine;"
        "root > c > c2:passed(8.0) > i3; root > d > c3:passed(7.0) > i4; root > e > c4:passed(6.0) > i5";
    for (const char* name : {"refine", "beam:width=2,bank=0", "ucb", "evolution"}) {
        const auto strategy = makeStrategy(name, 1).value();
        SearchTree tree = treeFromText(text);
        bool implemented = false;
        for (int i = 0; i < 40 && !implemented; ++i) {
            const Decision decision = strategy->next(tree);
            if (const auto* implement = std::get_if<decision::Implement>(&decision)) {
                implemented = nameIn(tree, implement->idea) == "mine";
                TreeNode node;
                node.id = NodeId{static_cast<std::int64_t>(tree.nodes().size()) + 1};
                node.parent = implement->idea;
                node.verdict = Verdict{Outcome::Incorrect, tree.frame(), {}, {}, {}};
                node.asked = true;
                tree.add(node);
            } else if (const auto* cross = std::get_if<decision::Crossover>(&decision)) {
                tree.refuseCrossing(cross->first, cross->second);
            } else {
                break;
            }
        }
        EXPECT_TRUE(implemented) << name;
    }
}

TEST(Strategies, AHigherBoostComesFirst)
{
    for (const char* name : {"refine", "beam", "ucb", "sample", "evolution:cross=0,islands=1"}) {
        EXPECT_EQ(words(name, "root:passed > a; root > b*5; root > c"), "implement b") << name;
        EXPECT_EQ(words(name, "root:passed > a*0; root > b*0"), "wait") << name;
    }
}

TEST(Strategies, MistypedWordsAreNamed)
{
    EXPECT_EQ(makeStrategy("bream", 1).error().message,
              "There is no strategy \"bream\": choose from refine, beam, ucb, evolution, sample, manual.");
    EXPECT_EQ(makeStrategy("beam:depth=3", 1).error().message,
              "Strategy beam has no parameter \"depth\": choose from width, bank, tries, step.");
    EXPECT_EQ(makeStrategy("beam:width=0", 1).error().message,
              "width of strategy beam lies between 1 and 1000; \"0\" does not.");
    EXPECT_EQ(makeStrategy("sample:x=1", 1).error().message, "Strategy sample has no parameters: leave out \"x=1\".");
    for (const StrategyDescription& strategy : strategyDescriptions()) {
        EXPECT_TRUE(makeStrategy(strategy.name, 1)) << strategy.name;
        EXPECT_EQ(makeStrategy(strategy.name, 1).value()->name(), strategy.name);
    }
}

TEST(Beam, ARoundEndsBeforeTheNextSurvivorsAreAsked)
{
    // c1 is the new best, but an idea of the round is still without outcome.
    EXPECT_EQ(words("beam", "root:passed > a > c1~:passed(2.0); root > b > c2:?"), "wait");
    EXPECT_EQ(words("beam", "root:passed > a > c1~:passed(2.0); root > b > c2:incorrect"), "ask c1");
    EXPECT_EQ(words("beam", "root:passed > a > c1~:passed(2.0); root > b"), "implement b");
}

TEST(Beam, ARoundGivesAnIdeaItsImplementationsAndWaitsForThem)
{
    // Three are planned, two belong to the round: each after the outcome of the one before it.
    const std::string other = "; root > b > c2~:passed(2.0)"; // the next survivor
    EXPECT_EQ(words("beam", "root:passed > a/3=" + other), "implement a");
    EXPECT_EQ(words("beam", "root:passed > a/3= > c1:?" + other), "wait");
    EXPECT_EQ(words("beam", "root:passed > a/3= > c1:incorrect" + other), "implement a");
    EXPECT_EQ(words("beam", "root:passed > a/3= > c1:incorrect; a > d1:?" + other), "wait");
    EXPECT_EQ(words("beam", "root:passed > a/3= > c1:incorrect; a > d1:incorrect" + other), "ask c2");
    EXPECT_EQ(words("beam:tries=1", "root:passed > a/3= > c1:incorrect" + other), "ask c2");
    EXPECT_EQ(words("beam:tries=3", "root:passed > a/3= > c1:incorrect; a > d1:incorrect" + other), "implement a");
    // What is planned beyond the round is a series, and nothing waits for it.
    const std::string asked = "; root > b > c2:passed(2.0)";
    EXPECT_EQ(words("beam", "root:passed > a/4= > c1:incorrect; a > d1:incorrect" + asked), "implement a");
    EXPECT_EQ(words("beam", "root:passed > a/4= > c1:incorrect; a > d1:incorrect; a > e1:?" + other), "ask c2");
}

TEST(Beam, OnlySurvivorsAreFollowed)
{
    const std::string text =
        "root:passed > a > c1:passed(4.0) > i1; root > b > c2:passed(3.0) > i2; root > c > c3:passed(2.0) > i3";
    const auto beam = Beam({.width = 1, .bank = 0});
    EXPECT_EQ(wordsOf(beam, treeFromText(text)), "implement i1");
    const auto survivors = Beam({.width = 1, .bank = 1}).survivors(treeFromText(text));
    ASSERT_EQ(survivors.size(), 2u);
    EXPECT_EQ(survivors[1], NodeId{6}); // the best of another branch
    // Nothing is left for the survivor: the beam widens.
    EXPECT_NE(words("beam:width=1,bank=0", "root:passed > a > c1:passed(4.0); root > b > c2:passed(3.0) > i2"), "wait");
}

TEST(Ucb, FollowsTheLineageThatGained)
{
    // Equal scores; the step to c1 brought much, the step to c3 nothing over c2.
    const std::string text =
        "root:passed > a > c1:passed(3.0) > i1; root > b > c2:passed(3.0) > z > c3:passed(3.0) > i3";
    EXPECT_EQ(words("ucb:explore=0", text), "implement i1");
    // Tries without gain wear a parent down.
    EXPECT_EQ(words("ucb:explore=0.3",
                    "root:passed > a > c1:passed(1.1) > s/9 > t1:incorrect; s > t2:incorrect; s > t3:incorrect;"
                    "s > t4:incorrect; s > t5:incorrect; s > t6:incorrect; root > b > c2:passed(1.05) > i2"),
              "implement i2");
}

TEST(Ucb, APinnedKernelIsWorthWhatTheBestIs)
{
    const std::string best = "root:passed > a > c1:passed(9.0) > i1; c1 > i2; root > b > ",
                      slow = ":passed(0.2) > mine";
    EXPECT_EQ(words("ucb", best + "c2" + slow), "implement i1");
    EXPECT_EQ(words("ucb", best + "c2" + slow + "; c1 > i3 > t1:incorrect"), "implement i1");
    EXPECT_EQ(words("ucb", best + "c2!" + slow + "; c1 > i3 > t1:incorrect"),
              "implement mine"); // it was expanded less often
    EXPECT_EQ(words("ucb", best + "c2!:passed(0.2) > mine; b > d:incorrect; c2 > n > t2:incorrect"), "implement i1");
}

TEST(Ucb, CountsExpansionsAndGains)
{
    const SearchTree tree = treeFromText("root:passed > a > c1:passed(2.0); a > c2:incorrect; root > b > c3:?");
    EXPECT_EQ(tree.gainOf(taskRoot).tries, 3);
    EXPECT_NEAR(tree.gainOf(taskRoot).sum, std::log(2.0), 1e-12);
}

TEST(Evolution, AnEliteOfEachKindLivesOnItsIsland)
{
    const auto strategy = makeStrategy("evolution", 5).value();
    World world(*strategy);
    world.run(400);
    EXPECT_GT(world.crossings, 3);
    const Evolution evolution(5, {.islands = 3});
    std::set<int> kinds;
    for (int island = 0; island < 3; ++island) {
        for (const NodeId id : evolution.elites(world.tree, island)) {
            const TreeNode& node = world.tree.at(id);
            EXPECT_TRUE(id == taskRoot || node.birth % 3 == island);
            kinds.insert(node.traits.cell());
            for (const auto& [other, entry] : world.tree.nodes()) {
                if (entry.kind == NodeKind::Candidate && entry.birth % 3 == island && entry.traits == node.traits &&
                    world.tree.isParent(other) && id != taskRoot) {
                    EXPECT_LE(world.tree.score(other), world.tree.score(id));
                }
            }
        }
    }
    EXPECT_GE(kinds.size(), 4u);
}

TEST(Evolution, ARefusedCrossingIsNotDecidedAgain)
{
    SearchTree tree = treeFromText("root:passed > a > c1:passed(2.0); root > b > c2:passed(1.5)");
    tree.find(NodeId{3})->traits.memory = MemoryStrategy::Shared;
    tree.find(NodeId{5})->traits.memory = MemoryStrategy::Async;
    const Evolution evolution(1, {.islands = 1, .cross = 1});
    std::set<std::string> seen;
    for (;;) {
        const Decision decision = evolution.next(tree);
        const auto* cross = std::get_if<decision::Crossover>(&decision);
        if (!cross) {
            break;
        }
        EXPECT_TRUE(seen.insert(wordsOf(evolution, tree)).second);
        tree.refuseCrossing(cross->first, cross->second);
    }
    EXPECT_GE(seen.size(), 1u);
}

TEST(Manual, OnlyWhatTheEngineerPointsAt)
{
    EXPECT_EQ(words("manual", "root~:passed > a; root > b"), "wait");
    EXPECT_EQ(words("manual", "root!~:passed > a"), "ask root");
    EXPECT_EQ(words("manual", "root:passed > a; root > b!"), "implement b");
    EXPECT_EQ(words("manual", "root:passed > a*2; root > b*3"), "implement b");
    EXPECT_EQ(words("manual", "root:passed > a! > c1:passed(2.0)"), "wait");
    EXPECT_TRUE(Manual().waitsForEngineer());
}

TEST(KernelTraits, ReadFromTextAndMachineCode)
{
    EXPECT_EQ(traitsOfSource("__global__ void f() {}").memory, MemoryStrategy::Direct);
    EXPECT_EQ(traitsOfSource("float4 v; // __shared__").memory, MemoryStrategy::Vector);
    EXPECT_EQ(traitsOfSource("__shared__ float4 v;").memory, MemoryStrategy::Shared);
    EXPECT_EQ(traitsOfSource("asm(\"cp.async.cg.shared.global\");").memory, MemoryStrategy::Async);
    EXPECT_EQ(traitsOfSource("asm(\"cp.async.bulk.shared\");").memory, MemoryStrategy::Bulk);
    EXPECT_TRUE(traitsOfSource("asm(\"wgmma.mma_async\");").tensorCores);
    BuildRecord build;
    build.kernels.push_back({.kernel = "a", .registers = 32});
    EXPECT_EQ(traitsOfBuild(build).occupancy, 0);
    build.kernels.push_back({.kernel = "b", .registers = 128});
    build.kernels.back().instructions["tensor_tf32"] = 4;
    EXPECT_EQ(traitsOfBuild(build).occupancy, 2);
    EXPECT_TRUE(traitsOfBuild(build).tensorCores);
    std::set<int> cells;
    for (const MemoryStrategy memory : {MemoryStrategy::Direct, MemoryStrategy::Bulk}) {
        for (const bool tensor : {false, true}) {
            for (int occupancy = 0; occupancy < 4; ++occupancy) {
                for (int size = 0; size < 4; ++size) {
                    cells.insert(KernelTraits{memory, tensor, occupancy, size}.cell());
                }
            }
        }
    }
    EXPECT_EQ(cells.size(), 64u);
    EXPECT_LT(*cells.rbegin(), KernelTraits::cells);
}

/// What a view says must be what a look at every node says, whatever happened to the tree.
TEST(SearchTree, ViewsAgreeWithALookAtEveryNode)
{
    const auto strategy = makeStrategy("evolution", 11).value();
    World world(*strategy);
    std::uint64_t state = 1;
    for (int i = 0; i < 400; ++i) {
        world.step();
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        const NodeId any{static_cast<std::int64_t>((state >> 33) % world.tree.nodes().size()) + 1};
        TreeNode* node = any == taskRoot ? nullptr : world.tree.find(any);
        if (node) {
            switch ((state >> 20) % 6) {
            case 0:
                node->pruned = !node->pruned;
                break;
            case 1:
                node->boost = static_cast<double>((state >> 40) % 4);
                break;
            case 2:
                node->pinned = !node->pinned;
                break;
            case 3:
                node->exhausted = node->kind == NodeKind::Idea && (state >> 41) % 2;
                break;
            case 4:
                node->budget.evaluations = (state >> 42) % 2 ? std::optional<std::int64_t>(2) : std::nullopt;
                break;
            default:
                node->banned = !node->banned;
                break;
            }
        }
        const SearchTree fresh = world.rebuilt();
        const auto ids = [](const std::set<Ranked>& ranked) {
            std::vector<std::pair<std::int64_t, double>> out;
            for (const Ranked& one : ranked) {
                out.emplace_back(one.id.value, one.weight);
            }
            return out;
        };
        ASSERT_EQ(ids(world.tree.ranked()), ids(fresh.ranked())) << i;
        ASSERT_EQ(world.tree.bestScore(), fresh.bestScore()) << i;
        ASSERT_EQ(world.tree.unasked(), fresh.unasked()) << i;
        ASSERT_EQ(world.tree.pinnedParents(), fresh.pinnedParents()) << i;
        ASSERT_EQ(world.tree.discoveryAwaited(), fresh.discoveryAwaited()) << i;
        ASSERT_EQ(world.tree.awaitedOneByOne(), fresh.awaitedOneByOne()) << i;
        ASSERT_EQ(world.tree.anythingAwaited(), fresh.anythingAwaited()) << i;
        for (const bool series : {false, true}) {
            ASSERT_EQ(ids(world.tree.openIdeas(series)), ids(fresh.openIdeas(series))) << i;
        }
        ASSERT_EQ(world.tree.frontier().size(), fresh.frontier().size()) << i;
        for (const auto& [tries, group] : world.tree.frontier()) {
            const auto mine = ids(group), theirs = ids(fresh.frontier().at(tries));
            ASSERT_EQ(mine.size(), theirs.size());
            for (std::size_t k = 0; k < mine.size(); ++k) {
                ASSERT_NEAR(mine[k].second, theirs[k].second, 1e-9) << i; // sums in another order
            }
        }
        ASSERT_EQ(world.tree.cells().size(), fresh.cells().size()) << i;
        for (const auto& [cell, kind] : world.tree.cells()) {
            ASSERT_EQ(ids(kind), ids(fresh.cells().at(cell))) << i;
        }
    }
}

} // namespace
} // namespace espalier
