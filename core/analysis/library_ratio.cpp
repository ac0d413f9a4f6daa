// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/library_ratio.h"

#include <algorithm>
#include <cmath>

namespace espalier {

std::optional<LibraryRatio> overBestLibrary(const TimingRecord& timing)
{
    LibraryRatio ratio;
    double value = 0, low = 0, high = 0; // sums of logarithms
    int cases = 0;
    for (const CaseTiming& one : timing.cases) {
        const auto best =
            std::min_element(one.speedupBaselines.begin(), one.speedupBaselines.end(),
                             [](const auto& a, const auto& b) { return a.second.value < b.second.value; });
        if (best == one.speedupBaselines.end() || !(best->second.low > 0)) {
            continue;
        }
        ratio.name = cases == 0 || ratio.name == best->first ? best->first : "the best library";
        value += std::log(best->second.value);
        low += std::log(best->second.low);
        high += std::log(best->second.high);
        ++cases;
    }
    if (cases == 0) {
        return std::nullopt;
    }
    ratio.speedup = {std::exp(value / cases), std::exp(low / cases), std::exp(high / cases)};
    return ratio;
}

} // namespace espalier
