// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/adversary/grammar.h"

#include <string>

namespace espalier::adversary_test {

/// Whether a drawn candidate is wrong at all, by this folder's own formulas in fp64 and none of the judge's code: its
/// trigger is forced by a case inside the task's declared domain, and there it must differ by more than four element
/// bounds in one element, or by two norm bounds in a slice. Pure but for its own dice, which start from drawn.seed.
struct Proof {
    bool wrong = false;
    double elementRatio = 0; ///< largest difference over the element bound
    double sliceRatio = 0;   ///< largest norm of a slice's differences over the norm bound
    std::string shape;       ///< of the case: "rows 3, cols 67"
    double chance = 0; ///< share of ordinary calls (nominal contents, sizes as drawn, its 1st to 40th) that show it
};
Proof prove(const Drawn& drawn);

} // namespace espalier::adversary_test
