// SPDX-License-Identifier: Apache-2.0
#include "core/search/beam.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace espalier {
namespace {

constexpr int mostLookedAt = 512; ///< ranks in which another branch is looked for

/// The open idea under the parents with the fewest turns so far; the most promising among those. `series`: of those
/// that go on when the rounds have nothing left, else of those that still want an implementation in this one.
std::optional<NodeId> nextIdea(const SearchTree& tree, const std::vector<NodeId>& parents, bool series,
                               const Beam::Parameters& parameters)
{
    const int triesATurn = series ? parameters.step : parameters.tries;
    using Turn = std::tuple<int, Ranked>;
    std::optional<Turn> first;
    for (const NodeId parent : parents) {
        for (const NodeId id : tree.openIdeasUnder(parent)) {
            const OpenIdea idea = tree.openIdea(id);
            const TreeNode& node = tree.at(id);
            const bool written =
                node.oneByOne || tree.writtenByModel(parent); // else it is a series of a playbook's kernel
            const bool ofRound = node.planned == 1 || (written && idea.tries < parameters.tries);
            if (ofRound == series) {
                continue;
            }
            const Turn turn{idea.tries / triesATurn, Ranked{idea.weight, id}};
            if (!first || turn < *first) {
                first = turn;
            }
        }
    }
    return first ? std::optional(std::get<Ranked>(*first).id) : std::nullopt;
}

/// Some outcome of the round's is not known. Of an idea that is implemented one by one the newest is the one that is
/// awaited.
bool roundAwaited(const SearchTree& tree, int tries)
{
    const auto& waiting = tree.awaitedOneByOne();
    return tree.discoveryAwaited() || std::any_of(waiting.begin(), waiting.end(), [&](NodeId id) {
               return tree.at(*tree.at(id).parent).tries() <= tries;
           });
}

} // namespace

std::vector<NodeId> Beam::survivors(const SearchTree& tree) const
{
    std::vector<NodeId> chosen;
    std::set<NodeId> branches;
    int bank = 0, looked = 0;
    for (const Ranked& node : tree.ranked()) {
        const NodeId branch = tree.at(node.id).branch;
        if (static_cast<int>(chosen.size()) < m_parameters.width) {
            chosen.push_back(node.id);
            branches.insert(branch);
        } else if (bank < m_parameters.bank && ++looked <= mostLookedAt) {
            if (branches.insert(branch).second) {
                chosen.push_back(node.id);
                ++bank;
            }
        } else {
            break;
        }
    }
    for (const NodeId id : tree.pinnedParents()) {
        if (std::find(chosen.begin(), chosen.end(), id) == chosen.end()) {
            chosen.push_back(id);
        }
    }
    return chosen;
}

Decision Beam::next(const SearchTree& tree) const
{
    const std::vector<NodeId> alive = survivors(tree);
    if (const auto idea = nextIdea(tree, alive, false, m_parameters)) {
        return decision::Implement{*idea, "an idea under a survivor of the last round"};
    }
    if (roundAwaited(tree, m_parameters.tries)) {
        return decision::Wait{};
    }
    for (const NodeId id : alive) {
        if (!tree.at(id).asked) {
            return decision::AskIdeas{id, fmt::format("it survived the round: one of {}", alive.size())};
        }
    }
    if (const auto idea = nextIdea(tree, alive, true, m_parameters)) {
        return decision::Implement{*idea, "a turn of a survivor's series"};
    }
    // The survivors have nothing left: the best of what was left behind.
    for (const auto& [tries, group] : tree.frontier()) {
        const NodeId parent = group.begin()->id;
        if (!tree.at(parent).asked) {
            return decision::AskIdeas{parent, "the survivors have no ideas left: the beam widens"};
        }
        for (const bool series : {false, true}) {
            if (const auto idea = nextIdea(tree, {parent}, series, m_parameters)) {
                return decision::Implement{*idea, "the survivors have no ideas left: the beam widens"};
            }
        }
    }
    return decision::Wait{};
}

} // namespace espalier
