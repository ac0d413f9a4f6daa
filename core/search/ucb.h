// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/strategy.h"

namespace espalier {

/// Best first, with an upper confidence bound (UCB1: Auer, Cesa-Bianchi, Fischer 2002). A parent is worth the logarithm
/// of its score plus what an expansion of it may gain: the mean gain of its candidates so far, of its own step over its
/// parent and of a small prior (SearchTree::gainOf), plus explore · sqrt(ln(1 + all expansions) / (1 + its own)). So a
/// lineage whose steps brought much is followed further, and one that was tried often without gain gives way. A pinned
/// kernel is worth what the best is: how often it was expanded decides between the two.
class Ucb final : public Strategy
{
public:
    struct Parameters {
        double explore = 0.3; ///< weight of what is not known, in units of the logarithm of a speed-up
    };

    explicit Ucb(Parameters parameters) : m_parameters(parameters) {}
    std::string_view name() const override { return "ucb"; }
    Decision next(const SearchTree& tree) const override;

private:
    Parameters m_parameters;
};

} // namespace espalier
