// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/strategy.h"

namespace espalier {

/// Rounds. The fastest `width` kernels, every pinned one, and a `bank` of the best kernels of other branches are the
/// survivors. Each is asked for ideas, each idea gets `tries` implementations where its proposer (a model) plans so
/// many; when the outcomes of all of them are known, the survivors are chosen anew. A survivor that falls out in the
/// middle of a round takes its untouched ideas with it. When no survivor has a new idea left, their series (the
/// tuner's, and what a model plans beyond that) go on, `step` tries of one before the next has its turn; after that the
/// beam widens to what was left behind, so that a budget is never left over.
class Beam final : public Strategy
{
public:
    struct Parameters {
        int width = 3; ///< kernels that survive a round
        int bank = 1;  ///< of other branches than theirs
        int tries = 2; ///< implementations of an idea in a round, where a proposer plans several
        int step = 6;  ///< tries of a series in a row
    };

    explicit Beam(Parameters parameters) : m_parameters(parameters) {}
    std::string_view name() const override { return "beam"; }
    Decision next(const SearchTree& tree) const override;
    std::vector<NodeId> survivors(const SearchTree& tree) const; ///< best first, then the bank, then what is pinned

private:
    Parameters m_parameters;
};

} // namespace espalier
