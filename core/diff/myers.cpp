// SPDX-License-Identifier: Apache-2.0
#include "core/diff/myers.h"

#include <algorithm>
#include <unordered_map>

namespace espalier {

namespace {

struct Region {
    int left0, left1, right0, right1;
    bool empty() const { return left0 == left1 || right0 == right1; }
};

class Matcher
{
public:
    Matcher(std::span<const int> left, std::span<const int> right, int cap) : m_left(left), m_right(right), m_cap(cap)
    {
    }

    std::vector<MatchRun> run()
    {
        solve({0, int(m_left.size()), 0, int(m_right.size())}, 0);
        return std::move(m_runs);
    }

private:
    static constexpr int maxDepth = 32; ///< of splits at anchors inside anchors; beyond it pieces are taken in order

    void emit(int left, int right, int length)
    {
        if (length == 0) {
            return;
        }
        if (!m_runs.empty()) {
            MatchRun& last = m_runs.back();
            if (last.left + last.length == left && last.right + last.length == right) {
                last.length += length;
                return;
            }
        }
        m_runs.push_back({left, right, length});
    }

    int commonPrefix(const Region& r) const
    {
        const int limit = std::min(r.left1 - r.left0, r.right1 - r.right0);
        int n = 0;
        while (n < limit && m_left[r.left0 + n] == m_right[r.right0 + n]) {
            ++n;
        }
        return n;
    }

    int commonSuffix(const Region& r) const
    {
        const int limit = std::min(r.left1 - r.left0, r.right1 - r.right0);
        int n = 0;
        while (n < limit && m_left[r.left1 - 1 - n] == m_right[r.right1 - 1 - n]) {
            ++n;
        }
        return n;
    }

    void solve(Region r, int depth)
    {
        const int prefix = commonPrefix(r);
        emit(r.left0, r.right0, prefix);
        r.left0 += prefix;
        r.right0 += prefix;
        const int suffix = commonSuffix(r);
        r.left1 -= suffix;
        r.right1 -= suffix;
        while (!r.empty()) {
            const auto [left, right] = greedy(r);
            if (left == r.left1 && right == r.right1) {
                emitPath(r);
                break;
            }
            const std::vector<MatchRun> anchors = depth < maxDepth ? uniqueAnchors(r) : std::vector<MatchRun>();
            if (!anchors.empty()) {
                solveBetween(anchors, r, depth + 1);
                break;
            }
            emitPath(r);
            r.left0 = left;
            r.right0 = right;
        }
        emit(r.left1, r.right1, suffix);
    }

    void solveBetween(const std::vector<MatchRun>& anchors, const Region& r, int depth)
    {
        int left = r.left0, right = r.right0;
        for (const MatchRun& anchor : anchors) {
            solve({left, anchor.left, right, anchor.right}, depth);
            emit(anchor.left, anchor.right, 1);
            left = anchor.left + 1;
            right = anchor.right + 1;
        }
        solve({left, r.left1, right, r.right1}, depth);
    }

    /// Fills m_trace and returns the point reached: the region's end, or, with the cap used up, the furthest one.
    std::pair<int, int> greedy(const Region& r)
    {
        const int n = r.left1 - r.left0, m = r.right1 - r.right0;
        m_trace.clear();
        for (int d = 0; d <= std::min(m_cap, n + m); ++d) {
            std::vector<int> row(d + 1);
            for (int k = -d; k <= d; k += 2) {
                int x = enter(d, k, n, m).x;
                while (x >= 0 && x < n && x - k < m && m_left[r.left0 + x] == m_right[r.right0 + x - k]) {
                    ++x;
                }
                row[(k + d) / 2] = x;
                m_endDiagonal = k;
                if (x == n && x - k == m) {
                    m_trace.push_back(std::move(row));
                    return {r.left1, r.right1};
                }
            }
            m_trace.push_back(std::move(row));
        }
        return furthest(r);
    }

    struct Entry {
        int x;          ///< where step d enters diagonal k; off when it cannot without leaving the region
        bool fromAbove; ///< by an added element (from diagonal k + 1), else by a removed one (k - 1)
    };
    static constexpr int off = -1;

    Entry enter(int d, int k, int n, int m) const
    {
        if (d == 0) {
            return {0, false};
        }
        const auto before = [&](int diagonal) {
            return diagonal < 1 - d || diagonal > d - 1 ? off : m_trace[d - 1][(diagonal + d - 1) / 2];
        };
        const int above = before(k + 1), beside = before(k - 1);
        const int down = above != off && above - k <= m ? above : off;
        const int right = beside != off && beside < n ? beside + 1 : off;
        return down > right ? Entry{down, true} : Entry{right, false};
    }

    std::pair<int, int> furthest(const Region& r)
    {
        const int d = int(m_trace.size()) - 1;
        int best = -1, bestX = 0;
        for (int k = -d; k <= d; k += 2) {
            const int x = m_trace[d][(k + d) / 2];
            if (x != off && 2 * x - k > best) {
                best = 2 * x - k;
                bestX = x;
                m_endDiagonal = k;
            }
        }
        return {r.left0 + bestX, r.right0 + bestX - m_endDiagonal};
    }

    /// Walks m_trace back from its end and emits the diagonals in ascending order.
    void emitPath(const Region& r)
    {
        std::vector<MatchRun> reversed;
        int k = m_endDiagonal;
        for (int d = int(m_trace.size()) - 1; d >= 0; --d) {
            const int x = m_trace[d][(k + d) / 2];
            const Entry entry = enter(d, k, r.left1 - r.left0, r.right1 - r.right0);
            if (x > entry.x) {
                reversed.push_back({r.left0 + entry.x, r.right0 + entry.x - k, x - entry.x});
            }
            k += entry.fromAbove ? 1 : -1;
        }
        for (auto run = reversed.rbegin(); run != reversed.rend(); ++run) {
            emit(run->left, run->right, run->length);
        }
    }

    /// Elements that occur once on each side, cut down to the longest chain that ascends on both (patience diff).
    std::vector<MatchRun> uniqueAnchors(const Region& r) const
    {
        struct Seen {
            int leftCount = 0, rightCount = 0, left = 0, right = 0;
        };
        std::unordered_map<int, Seen> seen;
        for (int i = r.left0; i < r.left1; ++i) {
            Seen& s = seen[m_left[i]];
            ++s.leftCount;
            s.left = i;
        }
        for (int i = r.right0; i < r.right1; ++i) {
            Seen& s = seen[m_right[i]];
            ++s.rightCount;
            s.right = i;
        }
        std::vector<MatchRun> pairs;
        for (int i = r.left0; i < r.left1; ++i) {
            const Seen& s = seen[m_left[i]];
            if (s.leftCount == 1 && s.rightCount == 1) {
                pairs.push_back({s.left, s.right, 1});
            }
        }
        return longestAscending(pairs);
    }

    static std::vector<MatchRun> longestAscending(const std::vector<MatchRun>& pairs)
    {
        std::vector<int> tails, before(pairs.size(), -1);
        for (int i = 0; i < int(pairs.size()); ++i) {
            const auto place = std::lower_bound(tails.begin(), tails.end(), pairs[i].right,
                                                [&](int index, int right) { return pairs[index].right < right; });
            if (place != tails.begin()) {
                before[i] = *(place - 1);
            }
            if (place == tails.end()) {
                tails.push_back(i);
            } else {
                *place = i;
            }
        }
        std::vector<MatchRun> chain;
        for (int i = tails.empty() ? -1 : tails.back(); i >= 0; i = before[i]) {
            chain.push_back(pairs[i]);
        }
        std::reverse(chain.begin(), chain.end());
        return chain;
    }

    std::span<const int> m_left, m_right;
    int m_cap;
    std::vector<MatchRun> m_runs;
    std::vector<std::vector<int>> m_trace; ///< row d: furthest x on the diagonals -d, -d + 2 … d after d edits
    int m_endDiagonal = 0;
};

} // namespace

std::vector<MatchRun> matchSequences(std::span<const int> left, std::span<const int> right, int costCap)
{
    return Matcher(left, right, std::max(costCap, 1)).run();
}

} // namespace espalier
