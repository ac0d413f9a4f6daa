// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/stopping_criterion.h"

namespace espalier {

StoppingCriterion::Decision StoppingCriterion::decide(int blocks, double relativeHalfWidth, double seconds) const
{
    if (blocks >= minimumBlocks && relativeHalfWidth <= halfWidth) { // false for NaN
        return Decision::Interval;
    }
    if (blocks >= maximumBlocks || (seconds >= budgetSeconds && blocks >= fewestBlocks)) {
        return Decision::Budget;
    }
    return Decision::Continue;
}

std::string_view nameOf(StoppingCriterion::Decision decision)
{
    switch (decision) {
    case StoppingCriterion::Decision::Interval:
        return "interval";
    case StoppingCriterion::Decision::Budget:
        return "budget";
    case StoppingCriterion::Decision::Continue:
        break;
    }
    return "continue";
}

} // namespace espalier
