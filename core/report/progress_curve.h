// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/node_book.h"

#include <map>
#include <string>
#include <vector>

namespace espalier {

/// How far a search had come after each evaluation, in the order of the nodes. A value.
struct ProgressPoint {
    NodeId node{0};
    std::int64_t evaluations = 0;
    double usd = 0;           ///< spent on models up to here
    double deviceSeconds = 0; ///< that the judge has spent up to here
    double best = 1;          ///< speed-up over the root of the best so far
    bool improved = false;
};
/// Who is the best, and of which figures, is the book's to say (NodeBook::leaders). `deviceSeconds`: of each node.
std::vector<ProgressPoint> progressOf(const NodeBook& book, const std::map<NodeId, double>& deviceSeconds);

enum class ProgressAxis { Evaluations, Usd, DeviceSeconds };
/// The best so far as a step curve, self-contained SVG; modelled figures have their sign.
std::string progressSvg(const std::vector<ProgressPoint>& points, ProgressAxis axis, Provenance provenance);

} // namespace espalier
