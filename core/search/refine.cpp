// SPDX-License-Identifier: Apache-2.0
#include "core/search/refine.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

struct OpenIdea {
    NodeId id;
    NodeId parent;
    double promise; ///< of parent and idea together
    int tries;
    bool pinned;
};

/// Ideas that may get another candidate, in id order.
std::vector<OpenIdea> openIdeas(const SearchTree& tree, bool series)
{
    std::vector<OpenIdea> open;
    const double best = tree.bestScore();
    for (const auto& [id, node] : tree.nodes()) {
        if (node.kind != NodeKind::Idea || (node.planned > 1) != series || node.exhausted ||
            node.tries() >= node.planned || !tree.inSearch(id)) {
            continue;
        }
        const auto parent = tree.parentCandidate(id);
        if (!parent || !tree.isParent(*parent)) {
            continue;
        }
        const double promise = tree.promise(*parent, best) * std::max(0.0, node.boost);
        if (promise > 0) {
            open.push_back(
                {id, *parent, promise, node.tries(), node.pinned || tree.at(*parent).pinned});
        }
    }
    return open;
}

/// The most promising one; the oldest among equals.
std::optional<NodeId> bestOf(const std::vector<OpenIdea>& open)
{
    const auto best = std::max_element(open.begin(), open.end(), [](const OpenIdea& a, const OpenIdea& b) {
        return a.promise != b.promise ? a.promise < b.promise : a.id > b.id;
    });
    return best == open.end() ? std::nullopt : std::optional(best->id);
}

/// A candidate of a single idea whose outcome may still open new ideas.
bool discoveryAwaited(const SearchTree& tree)
{
    return std::any_of(tree.nodes().begin(), tree.nodes().end(), [&tree](const auto& entry) {
        const TreeNode& node = entry.second;
        if (node.kind == NodeKind::Idea || node.verdict || !tree.inSearch(node.id)) {
            return false;
        }
        const TreeNode* above = node.parent ? tree.find(*node.parent) : nullptr;
        return !above || above->kind != NodeKind::Idea || above->planned == 1;
    });
}

/// Keeps the series of the fastest parents and of everything pinned.
void keepFastest(std::vector<OpenIdea>& open)
{
    std::stable_sort(open.begin(), open.end(),
                     [](const OpenIdea& a, const OpenIdea& b) { return a.promise > b.promise; });
    std::size_t kept = 0;
    std::erase_if(open, [&kept](const OpenIdea& idea) { return !idea.pinned && ++kept > Refine::seriesParents; });
    for (OpenIdea& idea : open) {
        idea.promise *= std::pow(Refine::fatigue, idea.tries);
    }
}

} // namespace

Decision Refine::next(const SearchTree& tree) const
{
    for (const auto& [id, node] : tree.nodes()) {
        if (node.kind != NodeKind::Idea && !node.asked && tree.isParent(id)) {
            return decision::AskIdeas{id};
        }
    }
    if (const auto idea = bestOf(openIdeas(tree, false))) {
        return decision::Implement{*idea};
    }
    if (discoveryAwaited(tree)) {
        return decision::Wait{};
    }
    std::vector<OpenIdea> series = openIdeas(tree, true);
    keepFastest(series);
    if (const auto idea = bestOf(series)) {
        return decision::Implement{*idea};
    }
    return decision::Wait{};
}

} // namespace espalier
