// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/search/search_tree.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>

namespace espalier {

namespace decision {
struct AskIdeas {
    NodeId parent;
}; ///< ask the proposers for ideas under it
struct Implement {
    NodeId idea;
}; ///< one more candidate of it
struct Wait {
}; ///< nothing before another outcome is known; with none awaited: nothing is left
} // namespace decision
using Decision = std::variant<decision::Wait, decision::AskIdeas, decision::Implement>;

/// Chooses what to expand. A pure function of the tree (and a seed): it keeps no state of its own, so that a resumed
/// session decides as if it had never stopped. Obeys pins, prunes and boosts. Thread: the engine's.
class Strategy
{
public:
    virtual ~Strategy() = default;
    virtual std::string_view name() const = 0;
    virtual Decision next(const SearchTree& tree) const = 0;
    virtual bool independentIdeas() const { return false; } ///< ask for everything that stands on the root by itself
};

/// Errors: InvalidInput for a name that does not exist, NotSupported for one that this version does not have yet.
Result<std::unique_ptr<Strategy>> makeStrategy(std::string_view name, std::uint64_t seed);

} // namespace espalier
