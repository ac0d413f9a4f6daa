// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <set>
#include <vector>

namespace espalier {

class NodeStore;

/// What of the tree is shown. Two things hide nodes: subtrees folded by hand, and "best lineages" (for big trees),
/// which keeps the lines to the fastest candidates, pins, drafts and running work. Opening a node by hand wins over
/// both. Thread: GUI. A value.
class TreeFold
{
public:
    static constexpr int bigTree = 300; ///< nodes from which best lineages are the better first view
    static constexpr int lineagesKept = 12;

    void setBestLineages(bool on);
    bool bestLineages() const { return m_bestLineages; }
    void toggle(NodeId node, bool hasHiddenChildren);
    void reveal(const NodeStore& nodes, int node); ///< opens whatever hides it
    std::vector<char> visible(const NodeStore& nodes) const;

private:
    std::vector<char> keptLines(const NodeStore& nodes) const;
    bool m_bestLineages = false;
    std::set<NodeId> m_folded, m_opened;
};

} // namespace espalier
