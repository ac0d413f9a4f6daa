// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/node_book.h"

#include <string>
#include <vector>

namespace espalier {

/// How far a search had come after each evaluation, in the order of the nodes. A value.
struct ProgressPoint {
    NodeId node{0};
    std::int64_t evaluations = 0;
    double usd = 0;           ///< spent on models up to here
    double best = 1;          ///< speed-up over the root of the fastest so far
    bool improved = false;
};
/// Only figures of the frame (one kind, one environment) count; rejected and overturned nodes do not.
std::vector<ProgressPoint> progressOf(const NodeBook& book, const SearchFrame& frame);

/// The best so far as a step curve, self-contained SVG. `byCost`: against USD instead of evaluations.
std::string progressSvg(const std::vector<ProgressPoint>& points, bool byCost);

} // namespace espalier
