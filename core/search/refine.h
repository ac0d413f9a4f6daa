// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/strategy.h"

namespace espalier {

/// Goes deeper from what is fast. Every kernel that passed is asked for ideas; new ideas come first, those under the
/// fastest parent before the others; a model's ideas do not end, so that kernels of its that declare tunables are
/// tried with some other values first. When none is left or on its way, series of tries (the tuner's) go on under the
/// few fastest parents and the pinned ones; each try makes its series a little less promising, so that a series that
/// was tried often gives way to the next.
class Refine final : public Strategy
{
public:
    struct Parameters {
        std::size_t seriesParents = 3; ///< how many parents' series are worked on
        double fatigue = 0.93;         ///< factor on a series' promise for each of its tries
    };

    static constexpr int firstTries = 3; ///< of a series under a model's kernel, before the next idea

    Refine() = default;
    explicit Refine(Parameters parameters) : m_parameters(parameters) {}
    std::string_view name() const override { return "refine"; }
    Decision next(const SearchTree& tree) const override;

private:
    Parameters m_parameters;
};

} // namespace espalier
