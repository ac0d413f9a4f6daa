// SPDX-License-Identifier: GPL-3.0-only
#include "views/tree_layout.h"

#include <algorithm>

namespace espalier {

namespace {

class Layouter
{
public:
    Layouter(const std::vector<std::vector<int>>& children, const std::vector<char>& visible)
        : m_children(children), m_visible(visible)
    {
        m_out.row.assign(children.size(), -1);
        m_out.depth.assign(children.size(), 0);
        m_out.hiddenBelow.assign(children.size(), 0);
    }

    TreeLayout run(const std::vector<int>& roots)
    {
        // An own stack: a lineage may be thousands deep.
        for (auto root = roots.rbegin(); root != roots.rend(); ++root) {
            push(*root, 0);
        }
        while (!m_pending.empty()) {
            const Start start = m_pending.back();
            m_pending.pop_back();
            placeLineage(start);
        }
        return std::move(m_out);
    }

private:
    struct Start {
        int node, depth;
    };

    bool isVisible(int node) const { return m_visible[std::size_t(node)]; }

    void push(int node, int depth)
    {
        if (isVisible(node)) {
            m_pending.push_back({node, depth});
        }
    }

    int firstVisibleChild(int node) const
    {
        const std::vector<int>& children = m_children[std::size_t(node)];
        const auto found =
            std::find_if(children.begin(), children.end(), [this](int child) { return isVisible(child); });
        return found == children.end() ? -1 : *found;
    }

    /// The start and its chain of first children share the highest row that is free for all of them.
    void placeLineage(const Start& start)
    {
        m_lineage.clear();
        int row = 0;
        for (int node = start.node; node >= 0; node = firstVisibleChild(node)) {
            const std::size_t depth = std::size_t(start.depth) + m_lineage.size();
            if (depth >= m_nextFree.size()) {
                m_nextFree.resize(depth + 1, 0);
                m_out.columns.resize(depth + 1);
            }
            row = std::max(row, m_nextFree[depth]);
            m_lineage.push_back(node);
        }
        for (std::size_t i = 0; i < m_lineage.size(); ++i) {
            const int node = m_lineage[i], depth = start.depth + int(i);
            m_out.row[std::size_t(node)] = row;
            m_out.depth[std::size_t(node)] = depth;
            m_out.columns[std::size_t(depth)].push_back(node);
            m_nextFree[std::size_t(depth)] = row + 1;
            pushRest(node, depth + 1);
        }
        m_out.rows = std::max(m_out.rows, row + 1);
    }

    /// Children after the first wait; the deepest node's come out first, so that subtrees stay together.
    void pushRest(int node, int depth)
    {
        const std::vector<int>& children = m_children[std::size_t(node)];
        const int first = firstVisibleChild(node);
        for (auto child = children.rbegin(); child != children.rend(); ++child) {
            if (!isVisible(*child)) {
                m_out.hiddenBelow[std::size_t(node)] += sizeOf(*child);
            } else if (*child != first) {
                push(*child, depth);
            }
        }
    }

    int sizeOf(int node) const
    {
        int size = 0;
        std::vector<int> pending{node};
        while (!pending.empty()) {
            const std::vector<int>& below = m_children[std::size_t(pending.back())];
            pending.pop_back();
            ++size;
            pending.insert(pending.end(), below.begin(), below.end());
        }
        return size;
    }

    const std::vector<std::vector<int>>& m_children;
    const std::vector<char>& m_visible;
    TreeLayout m_out;
    std::vector<Start> m_pending;
    std::vector<int> m_lineage;
    std::vector<int> m_nextFree; ///< by depth
};

} // namespace

TreeLayout layOutTree(const std::vector<int>& roots, const std::vector<std::vector<int>>& children,
                      const std::vector<char>& visible)
{
    return Layouter(children, visible).run(roots);
}

} // namespace espalier
