// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/tuning_space.h"

#include <optional>
#include <set>
#include <vector>

namespace espalier {

/// A point that was tried: its score, larger is better; nullopt: it failed, or nothing is known yet.
struct TunedTry {
    TuningPoint point;
    std::optional<double> score;
    bool known = false; ///< has an outcome
};

/// Which point of the grid comes next. Three phases, each a pure function of the tries so far and the random numbers:
/// 1. Random points: a third of the planned tries, 3 to 8.
/// 2. Successive halving (Jamieson and Talwalkar 2016, on starting points instead of budgets): the best half of the
///    random points get one step each to a neighbour, then the best quarter of all, and so on down to one.
/// 3. A model: for each tunable two densities over its values, of the best quarter of the tries (l) and of the others
///    (g, failures among them), smoothed over neighbouring values; the untried point with the largest sum of ln(l / g)
///    is next (tree-structured Parzen estimator: Bergstra et al. 2011, here with independent tunables). Every fourth
///    try goes to a neighbour of the best known point instead, as a product of independent densities does not see a
///    ridge.
/// `tries` holds the kernel's own point too. nullopt: nothing untried is left.
std::optional<TuningPoint> nextTuningPoint(const TuningSpace& space, const std::vector<TunedTry>& tries,
                                           TuningRandom& random, int ordinal, int planned);

} // namespace espalier
