// SPDX-License-Identifier: Apache-2.0
#include "core/search/sample.h"

#include "tests/support/tree_text.h"

#include <gtest/gtest.h>
#include <set>

namespace espalier {
namespace {

std::vector<std::string> drawn(std::uint64_t seed, std::string_view text)
{
    SearchTree tree = treeFromText(text);
    std::vector<std::string> order;
    for (;;) {
        const Decision decision = Sample(seed).next(tree);
        const auto* implement = std::get_if<decision::Implement>(&decision);
        if (!implement) {
            return order;
        }
        order.push_back(nameIn(tree, implement->idea));
        TreeNode node;
        node.id = NodeId{static_cast<std::int64_t>(tree.nodes().size()) + 1};
        node.parent = implement->idea;
        tree.add(node);
    }
}

const std::string ideas = "root:passed > a; root > b; root > c/2; root > d; root > e; root > f";

TEST(Sample, EveryIdeaOnceBeforeAnyTwice)
{
    const auto order = drawn(1, ideas);
    ASSERT_EQ(order.size(), 7u);
    EXPECT_EQ(std::set<std::string>(order.begin(), order.begin() + 6).size(), 6u);
    EXPECT_EQ(order.back(), "c");
}

TEST(Sample, TheSeedDecidesTheOrder)
{
    EXPECT_EQ(drawn(1, ideas), drawn(1, ideas));
    EXPECT_NE(drawn(1, ideas), drawn(2, ideas));
}

TEST(Sample, ObeysPrunesAndBoosts)
{
    EXPECT_EQ(drawn(1, "root:passed > a-; root > b*0; root > c"), std::vector<std::string>{"c"});
    EXPECT_EQ(drawn(1, "root:passed > a; root > b*2; root > c").front(), "b");
}

TEST(Sample, AsksTheRootsAndWhatIsPinned)
{
    const SearchTree tree = treeFromText("root:passed > a > c1~:passed(2.0); a > c2!~:passed(1.5)");
    EXPECT_EQ(nameIn(tree, std::get<decision::AskIdeas>(Sample(1).next(tree)).parent), "c2");
    EXPECT_TRUE(Sample(1).independentIdeas());
}

} // namespace
} // namespace espalier
