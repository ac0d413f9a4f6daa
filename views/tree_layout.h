// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <vector>

namespace espalier {

/// Where the visible nodes of a tree stand: whole rows, one column per depth, left to right.
struct TreeLayout {
    std::vector<int> row;                  ///< by node; -1: hidden
    std::vector<int> depth;                ///< by node; meaningless when hidden
    std::vector<int> hiddenBelow;          ///< by visible node: hidden descendants
    std::vector<std::vector<int>> columns; ///< visible nodes of each depth, rows strictly ascending
    int rows = 0;
};

/// Tidy layout in one pass, O(nodes): a first child continues its parent's row, so that a lineage reads as one line;
/// further children stand below, as high as their whole lineage fits under what is already there. Guarantees that tests
/// check: no two nodes share a place, children stand one column right of their parent and never above it, the children
/// of one node are not interleaved with another's in their column (hence edges do not cross). A node is shown if it and
/// all its ancestors are `visible`. Pure; thread: any.
TreeLayout layOutTree(const std::vector<int>& roots, const std::vector<std::vector<int>>& children,
                      const std::vector<char>& visible);

} // namespace espalier
