// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/search/search_tree.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace espalier {

namespace decision {
struct AskIdeas {
    NodeId parent;
    std::string why; ///< for a person: a few words
}; ///< ask the proposers for ideas under it
struct Implement {
    NodeId idea;
    std::string why;
}; ///< one more candidate of it
struct Crossover {
    NodeId first, second;
    std::string why;
}; ///< an idea under `first` that takes what is good from `second`; refused where no proposer can make one
struct Wait {
}; ///< nothing before another outcome is known; with none awaited: nothing is left
} // namespace decision
using Decision = std::variant<decision::Wait, decision::AskIdeas, decision::Implement, decision::Crossover>;

/// Chooses what to expand. A pure function of the tree (and a seed): it keeps no state of its own, so that a resumed
/// session decides as if it had never stopped, and another strategy can take over in the middle. Obeys pins (always a
/// parent), prunes, boosts, bans and branch budgets: what is out of the search is in none of the tree's views.
/// Thread: the engine's.
class Strategy
{
public:
    virtual ~Strategy() = default;
    virtual std::string_view name() const = 0;
    virtual Decision next(const SearchTree& tree) const = 0;
    virtual bool independentIdeas() const { return false; } ///< ask for everything that stands on the root by itself
    virtual bool waitsForEngineer() const { return false; } ///< nothing to do is no end
};

/// One parameter of a strategy, for help texts.
struct StrategyParameter {
    std::string_view name;
    double value = 0, low = 0, high = 0; ///< default and range
    std::string_view meaning;
};
struct StrategyDescription {
    std::string_view name, meaning;
    std::vector<StrategyParameter> parameters;
};
std::vector<StrategyDescription> strategyDescriptions();

/// `words`: a name, and parameters after a colon: "beam:width=3,tries=1".
/// Errors: InvalidInput for a name or parameter that does not exist, or a value out of its range.
Result<std::unique_ptr<Strategy>> makeStrategy(std::string_view words, std::uint64_t seed);

} // namespace espalier
