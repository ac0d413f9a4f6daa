// SPDX-License-Identifier: GPL-3.0-only
#include "views/tree_layout.h"

#include "tests/support/cpu_time.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace espalier;

namespace {

struct Tree {
    std::vector<int> roots, parent;
    std::vector<std::vector<int>> children;
    std::vector<char> visible;
    int add(int above)
    {
        const int node = int(parent.size());
        parent.push_back(above);
        children.emplace_back();
        visible.push_back(1);
        (above < 0 ? roots : children[std::size_t(above)]).push_back(node);
        return node;
    }
    TreeLayout layOut() const { return layOutTree(roots, children, visible); }
};

Tree randomTree(std::mt19937& random, int count)
{
    Tree tree;
    for (int i = 0; i < count; ++i) {
        const bool root = i == 0 || random() % 200 == 0;
        const int reach = random() % 3 ? 12 : i;
        tree.add(root ? -1 : std::max(0, i - 1 - int(random() % unsigned(std::max(1, std::min(i, reach))))));
        tree.visible.back() = i == 0 || random() % 12 != 0;
    }
    return tree;
}

void expectTidy(const Tree& tree, const TreeLayout& layout)
{
    std::set<std::pair<int, int>> taken;
    for (std::size_t node = 0; node < tree.parent.size(); ++node) {
        const int parent = tree.parent[node];
        const bool shown = tree.visible[node] && (parent < 0 || layout.row[std::size_t(parent)] >= 0);
        ASSERT_EQ(layout.row[node] >= 0, shown);
        if (!shown) {
            continue;
        }
        ASSERT_TRUE(taken.emplace(layout.depth[node], layout.row[node]).second) << "two nodes in one place";
        ASSERT_LT(layout.row[node], layout.rows);
        if (parent >= 0) {
            ASSERT_EQ(layout.depth[node], layout.depth[std::size_t(parent)] + 1);
            ASSERT_GE(layout.row[node], layout.row[std::size_t(parent)]);
        }
    }
    for (const std::vector<int>& column : layout.columns) {
        std::set<int> finished;
        for (std::size_t i = 0; i < column.size(); ++i) {
            const auto node = std::size_t(column[i]);
            if (i > 0) {
                const auto before = std::size_t(column[i - 1]);
                ASSERT_LT(layout.row[before], layout.row[node]);
                if (tree.parent[before] != tree.parent[node]) {
                    ASSERT_TRUE(finished.insert(tree.parent[before]).second || tree.parent[before] < 0);
                    ASSERT_FALSE(finished.contains(tree.parent[node]) && tree.parent[node] >= 0) << "edges would cross";
                }
            }
        }
    }
}

} // namespace

TEST(TreeLayout, ALineageIsOneLine)
{
    Tree tree;
    const int root = tree.add(-1), idea = tree.add(root), candidate = tree.add(idea), other = tree.add(root);
    const TreeLayout layout = tree.layOut();
    EXPECT_EQ(layout.row, (std::vector<int>{0, 0, 0, 1}));
    EXPECT_EQ(layout.depth[std::size_t(candidate)], 2);
    EXPECT_EQ(layout.depth[std::size_t(other)], 1);
    EXPECT_EQ(layout.rows, 2);
}

TEST(TreeLayout, ShortBranchesSlipUnderLongOnes)
{
    Tree tree;
    const int root = tree.add(-1), first = tree.add(root), second = tree.add(root);
    for (int i = 0; i < 5; ++i) {
        tree.add(first);
    }
    EXPECT_EQ(tree.layOut().row[std::size_t(second)], 1); // not below all five grandchildren
}

TEST(TreeLayout, FoldedNodesAreCounted)
{
    Tree tree;
    const int root = tree.add(-1), idea = tree.add(root), candidate = tree.add(idea);
    tree.add(candidate);
    tree.visible[std::size_t(idea)] = 0;
    const TreeLayout layout = tree.layOut();
    EXPECT_EQ(layout.hiddenBelow[std::size_t(root)], 3);
    EXPECT_EQ(layout.row[std::size_t(candidate)], -1);
    EXPECT_EQ(layout.rows, 1);
}

TEST(TreeLayout, EveryTreeIsTidy)
{
    std::mt19937 random(4);
    for (int round = 0; round < 200; ++round) {
        const Tree tree = randomTree(random, 1 + int(random() % 400));
        expectTidy(tree, tree.layOut());
    }
}

TEST(TreeLayout, DeepAndLargeTreesAreFast)
{
    Tree deep;
    for (int i = 0, above = -1; i < 50000; ++i) {
        above = deep.add(above);
    }
    EXPECT_EQ(deep.layOut().rows, 1); // and no stack overflow
    std::mt19937 random(2);
    const Tree large = randomTree(random, 20000);
    const double start = test::cpuSeconds();
    const TreeLayout layout = large.layOut();
    EXPECT_LT(test::cpuSeconds() - start, 0.5);
    expectTidy(large, layout);
}
