// SPDX-License-Identifier: Apache-2.0
// What is kept up to date must be what it would be if it were made anew.
#include "core/search/draw.h"
#include "core/search/node_book.h"
#include "core/search/sample.h"
#include "core/search/search_tree.h"

#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace espalier {
namespace {

Evaluation timedAs(double speedup, bool passed, bool again)
{
    Evaluation evaluation;
    evaluation.outcome = passed ? Outcome::Passed : Outcome::Incorrect;
    evaluation.stage = Stage::Time;
    evaluation.epoch = "one";
    evaluation.timing = TimingRecord{};
    evaluation.timing->cases.push_back({.caseId = "c", .provenance = Provenance::Measured});
    evaluation.timing->speedupRoot = Interval{speedup, speedup * 0.998, speedup * 1.002};
    evaluation.timing->objectiveUs = Interval{100 / speedup, 99 / speedup, 101 / speedup};
    evaluation.timing->again = again;
    return evaluation;
}

TEST(Views, TheBestThatIsFollowedIsTheBestThatIsLookedFor)
{
    for (unsigned seed = 1; seed <= 40; ++seed) {
        std::mt19937 random(seed);
        NodeBook followed;
        followed.setFrame({Provenance::Measured, "one"});
        std::vector<std::function<void(NodeBook&)>> acts;
        std::vector<StoredNode> nodes;
        const auto act = [&](std::function<void(NodeBook&)> one) {
            one(followed);
            acts.push_back(std::move(one));
        };
        for (int step = 0; step < 120; ++step) {
            const std::size_t count = nodes.size();
            const unsigned what = count < 2 ? 0 : random() % 4;
            if (what == 0) {
                StoredNode node;
                node.id = NodeId{static_cast<std::int64_t>(count) + 1};
                node.kind = count == 0 ? NodeKind::Root : NodeKind::Candidate;
                if (count > 0) {
                    node.parents = {{NodeId{static_cast<std::int64_t>(random() % count) + 1}, EdgeRole::Primary}};
                }
                nodes.push_back(node);
                act([node](NodeBook& book) { book.add(node); });
            } else if (what == 1 || what == 2) {
                const NodeId id = nodes[random() % count].id;
                const Evaluation evaluation =
                    timedAs(1 + 0.01 * static_cast<double>(random() % 30), random() % 5 != 0, random() % 6 == 0);
                act([id, evaluation](NodeBook& book) { book.finished(id, evaluation); });
            } else if (StoredNode& node = nodes[random() % count]; node.id != taskRoot) {
                node.pruned = !node.pruned;
                act([node](NodeBook& book) { book.update(node); });
            }
            (void)followed.best();
            (void)followed.headline();
        }
        NodeBook anew;
        anew.setFrame({Provenance::Measured, "one"});
        for (const auto& one : acts) {
            one(anew);
        }
        EXPECT_EQ(followed.best(), anew.best()) << seed;
        EXPECT_EQ(followed.best(true), anew.best(true)) << seed;
        EXPECT_EQ(followed.headline(), anew.headline()) << seed;
    }
}

TEST(Views, IdeasAreDrawnAsIfTheyWereAllLookedAt)
{
    const SearchFrame frame{Provenance::Measured, "one"};
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        SearchTree tree(frame);
        std::vector<NodeId> parents, stems;
        const auto pick = [&random](const std::vector<NodeId>& from) { return from[random() % from.size()]; };
        for (std::int64_t id = 1; id <= 150; ++id) {
            TreeNode node;
            node.id = NodeId{id};
            if (id == 1) {
                node.kind = NodeKind::Root;
                node.asked = true;
                node.verdict = Verdict{Outcome::Passed, frame, {}, 1.0, {}};
                parents.push_back(node.id);
            } else if (stems.empty() || random() % 3 == 0) {
                node.kind = NodeKind::Idea;
                node.parent = pick(parents);
                node.key = std::to_string(id);
                node.planned = static_cast<int>(1 + random() % 4);
                stems.push_back(node.id);
            } else {
                node.parent = pick(stems);
                node.asked = true;
                node.verdict = Verdict{random() % 4 == 0 ? Outcome::Incorrect : Outcome::Passed,
                                       frame,
                                       {},
                                       1.0 + 0.01 * (random() % 50),
                                       {}};
                parents.push_back(node.id);
            }
            tree.add(std::move(node));
            if (random() % 3 == 0) {
                TreeNode* any = tree.find(NodeId{static_cast<std::int64_t>(random() % static_cast<unsigned>(id)) + 1});
                any->boost = 0.5 * (random() % 4);
                any->pruned = any->id != taskRoot && random() % 8 == 0;
            }
            const Decision decision = Sample(seed).next(tree);
            std::optional<Drawn> first;
            for (const bool series : {false, true}) {
                for (const Ranked& open : tree.openIdeas(series)) {
                    const TreeNode& idea = tree.at(open.id);
                    const auto tries = static_cast<std::uint64_t>(idea.tries());
                    const double boost = idea.boost * tree.at(*idea.parent).boost;
                    const Drawn one{static_cast<double>(tries) / boost, boost, drawOf({seed, idea.draw, tries}),
                                    open.id};
                    if (!first || one < *first) {
                        first = one;
                    }
                }
            }
            const auto* implement = std::get_if<decision::Implement>(&decision);
            ASSERT_EQ(first.has_value(), implement != nullptr) << seed << " " << id;
            if (first) {
                ASSERT_EQ(implement->idea, first->id) << seed << " " << id;
            }
        }
    }
}

} // namespace
} // namespace espalier
