// SPDX-License-Identifier: Apache-2.0
#include "core/search/evolution.h"

#include "core/search/draw.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr int mostOfAKind = 64; ///< of one cell's best that are looked at for an island's own

/// Something to do under the parent: ask it, a single idea, one more try of a series.
std::optional<Decision> expansionOf(const SearchTree& tree, NodeId parent, const std::string& why)
{
    if (!tree.at(parent).asked) {
        return decision::AskIdeas{parent, why};
    }
    std::optional<std::pair<bool, Ranked>> first;
    for (const NodeId id : tree.openIdeasUnder(parent)) {
        const std::pair<bool, Ranked> rank{tree.at(id).planned > 1, Ranked{tree.openIdea(id).weight, id}};
        if (!first || rank < *first) {
            first = rank;
        }
    }
    return first ? std::optional<Decision>(decision::Implement{first->second.id, why}) : std::nullopt;
}

} // namespace

std::vector<NodeId> Evolution::elites(const SearchTree& tree, int island) const
{
    std::set<Ranked> chosen;
    for (const auto& [cell, kind] : tree.cells()) {
        int looked = 0;
        for (const Ranked& node : kind) {
            const TreeNode& entry = tree.at(node.id);
            const bool everywhere = !entry.parent || entry.pinned;
            if (everywhere || entry.birth % m_parameters.islands == island) {
                chosen.insert(node);
                if (!everywhere) {
                    break;
                }
            }
            if (++looked == mostOfAKind) {
                break;
            }
        }
    }
    for (const NodeId id : tree.pinnedParents()) {
        chosen.insert({tree.promise(id, 1.0), id});
    }
    std::vector<NodeId> ids;
    for (const Ranked& node : chosen) {
        ids.push_back(node.id);
    }
    return ids;
}

Decision Evolution::next(const SearchTree& tree) const
{
    const auto turn = static_cast<std::uint64_t>(tree.births());
    const auto islands = static_cast<std::uint64_t>(m_parameters.islands);
    const int island = static_cast<int>(turn % islands);
    const bool migration = (turn / islands) % static_cast<std::uint64_t>(m_parameters.migration) ==
                           static_cast<std::uint64_t>(m_parameters.migration) - 1;
    const int home = migration ? static_cast<int>((turn + 1) % islands) : island;
    std::vector<NodeId> order = elites(tree, home);

    if (order.size() > 1 && unitDrawOf({m_seed, turn, 1}) < m_parameters.cross) {
        // Every pair at most once; the drawn one first.
        const std::size_t from = drawOf({m_seed, turn, 2}) % order.size();
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            for (std::size_t k = 0; k < order.size(); ++k) {
                const NodeId first = order[i];
                const NodeId second = order[(from + k) % order.size()];
                if (first != second && !tree.crossed(first, second) && tree.at(second).parent) {
                    return decision::Crossover{first, second, fmt::format("island {} crosses two kinds", home)};
                }
            }
        }
    }
    // The better ranks more often: each in turn with probability `pressure`.
    std::vector<NodeId> drawn;
    for (std::uint64_t k = 0; !order.empty(); ++k) {
        std::size_t pick = 0;
        while (pick + 1 < order.size() && unitDrawOf({m_seed, turn, 3, k, pick}) >= m_parameters.pressure) {
            ++pick;
        }
        drawn.push_back(order[pick]);
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    for (const NodeId parent : drawn) {
        if (auto decision = expansionOf(
                tree, parent, fmt::format("{} of island {}", migration ? "an immigrant" : "an elite", home))) {
            return *decision;
        }
    }
    // The archive has nothing left: the most promising of all.
    if (!tree.discoveryAwaited()) {
        for (const auto& [tries, group] : tree.frontier()) {
            if (auto decision = expansionOf(tree, group.begin()->id, "the elites have no ideas left")) {
                return *decision;
            }
        }
    }
    return decision::Wait{};
}

} // namespace espalier
