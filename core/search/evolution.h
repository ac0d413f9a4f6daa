// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/strategy.h"

namespace espalier {

/// Islands of kernels, each with an archive of elites: the fastest of every kind (KernelTraits), so that a slow kernel
/// of a new kind is not lost to many fast ones of the same. A kernel lives on island (birth mod islands); each decision
/// is one island's. With probability `cross` two elites of different kinds are crossed, else an elite is drawn (the
/// better ranks more often) and gets an idea implemented; every `migration`-th turn of an island the parent comes from
/// the next island instead. Roots and pinned kernels live on every island.
class Evolution final : public Strategy
{
public:
    struct Parameters {
        int islands = 3;
        int migration = 5;     ///< turns of an island from one immigrant to the next
        double cross = 0.2;    ///< probability of a crossover
        double pressure = 0.5; ///< chance to take the best elite, of the rest the next best, and so on
    };

    Evolution(std::uint64_t seed, Parameters parameters) : m_seed(seed), m_parameters(parameters) {}
    std::string_view name() const override { return "evolution"; }
    Decision next(const SearchTree& tree) const override;
    std::vector<NodeId> elites(const SearchTree& tree, int island) const; ///< of each kind the fastest, best first

private:
    std::uint64_t m_seed;
    Parameters m_parameters;
};

} // namespace espalier
