// SPDX-License-Identifier: Apache-2.0
#include "core/diff/text_diff.h"

#include "core/base/text.h"
#include "core/diff/myers.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace espalier {

namespace {

constexpr double alike = 0.45;             ///< similarity from which two lines are versions of one
constexpr std::size_t pairingLimit = 2500; ///< line pairs of one block that are compared with each other

std::string normalised(std::string_view line)
{
    std::string text;
    bool blank = false;
    for (const char c : line) {
        if (c == ' ' || c == '\t' || c == '\r') {
            blank = true;
            continue;
        }
        if (blank) {
            text += ' ';
        }
        blank = false;
        text += c;
    }
    return text;
}

class LineNumbering
{
public:
    explicit LineNumbering(bool ignoreWhitespace) : m_ignore(ignoreWhitespace) {}
    /// A last line without its line end is another line than one with it, as for `diff`.
    std::vector<int> of(const std::vector<std::string_view>& lines, bool open)
    {
        std::vector<int> ids;
        ids.reserve(lines.size());
        for (const std::string_view line : lines) {
            std::string key = m_ignore ? normalised(line) : std::string(line);
            if (open && !m_ignore && ids.size() + 1 == lines.size()) {
                key += '\n';
            }
            ids.push_back(m_ids.emplace(std::move(key), int(m_ids.size())).first->second);
        }
        return ids;
    }

private:
    bool m_ignore;
    std::unordered_map<std::string, int> m_ids;
};

/// Builds the rows between two equal runs.
class BlockBuilder
{
public:
    BlockBuilder(const std::vector<std::string_view>& left, const std::vector<std::string_view>& right, TextDiff& diff)
        : m_left(left), m_right(right), m_diff(diff)
    {
    }

    void add(int left0, int left1, int right0, int right1)
    {
        const int n = left1 - left0, m = right1 - right0;
        if (n > 0 && m > 0 && std::size_t(n) * std::size_t(m) <= pairingLimit) {
            addPaired(left0, left1, right0, right1);
        } else {
            addOpposite(left0, left1, right0, right1, true);
        }
    }

private:
    /// Lines stand opposite each other in order, the rest gets fillers.
    void addOpposite(int left0, int left1, int right0, int right1, bool compare)
    {
        while (left0 < left1 || right0 < right1) {
            DiffRow row;
            row.left = left0 < left1 ? left0++ : -1;
            row.right = right0 < right1 ? right0++ : -1;
            row.kind = row.left < 0 ? RowKind::Added : row.right < 0 ? RowKind::Removed : RowKind::Changed;
            if (compare && row.kind == RowKind::Changed) {
                WordDiff words = diffWords(m_left[row.left], m_right[row.right]);
                if (words.similarity >= alike) {
                    row.words = keep(std::move(words));
                }
            }
            push(row);
        }
    }

    /// The best order-keeping pairing of like lines; what lies between two pairs stands opposite each other.
    void addPaired(int left0, int left1, int right0, int right1)
    {
        const int n = left1 - left0, m = right1 - right0;
        std::vector<WordDiff> compared(std::size_t(n) * m);
        std::vector<double> best(std::size_t(n + 1) * (m + 1), 0.0);
        const auto cell = [&](int i, int j) -> double& { return best[std::size_t(i) * (m + 1) + j]; };
        for (int i = n - 1; i >= 0; --i) {
            for (int j = m - 1; j >= 0; --j) {
                WordDiff& words = compared[std::size_t(i) * m + j];
                words = diffWords(m_left[left0 + i], m_right[right0 + j]);
                cell(i, j) = std::max({cell(i + 1, j), cell(i, j + 1), gain(words) + cell(i + 1, j + 1)});
            }
        }
        int i = 0, j = 0, doneLeft = 0, doneRight = 0;
        while (i < n && j < m) {
            WordDiff& words = compared[std::size_t(i) * m + j];
            if (gain(words) > 0 && cell(i, j) == gain(words) + cell(i + 1, j + 1)) {
                addOpposite(left0 + doneLeft, left0 + i, right0 + doneRight, right0 + j, false);
                push({RowKind::Changed, left0 + i, right0 + j, keep(std::move(words))});
                doneLeft = ++i;
                doneRight = ++j;
            } else if (cell(i, j) == cell(i + 1, j)) {
                ++i;
            } else {
                ++j;
            }
        }
        addOpposite(left0 + doneLeft, left1, right0 + doneRight, right1, false);
    }

    static double gain(const WordDiff& words) { return words.similarity >= alike ? words.similarity : 0; }

    int keep(WordDiff words)
    {
        m_diff.words.push_back(std::move(words));
        return int(m_diff.words.size()) - 1;
    }

    void push(const DiffRow& row)
    {
        m_diff.removed += row.left >= 0;
        m_diff.added += row.right >= 0;
        m_diff.rows.push_back(row);
    }

    const std::vector<std::string_view>& m_left;
    const std::vector<std::string_view>& m_right;
    TextDiff& m_diff;
};

bool endsOpen(std::string_view text)
{
    return !text.empty() && text.back() != '\n';
}

} // namespace

std::vector<std::string_view> diffLines(std::string_view text)
{
    std::vector<std::string_view> lines = splitOn(text, '\n');
    if (lines.back().empty()) {
        lines.pop_back();
    }
    return lines;
}

TextDiff diffTexts(std::string_view left, std::string_view right, const DiffOptions& options)
{
    const std::vector<std::string_view> leftLines = diffLines(left), rightLines = diffLines(right);
    LineNumbering numbering(options.ignoreWhitespace);
    TextDiff diff;
    diff.leftLines = int(leftLines.size());
    diff.rightLines = int(rightLines.size());
    diff.leftEndsOpen = endsOpen(left);
    diff.rightEndsOpen = endsOpen(right);
    const std::vector<int> leftIds = numbering.of(leftLines, diff.leftEndsOpen);
    const std::vector<int> rightIds = numbering.of(rightLines, diff.rightEndsOpen);
    std::vector<MatchRun> runs = matchSequences(leftIds, rightIds, options.costCap);
    runs.push_back({diff.leftLines, diff.rightLines, 0});
    BlockBuilder blocks(leftLines, rightLines, diff);
    int leftAt = 0, rightAt = 0;
    for (const MatchRun& run : runs) {
        const int begin = int(diff.rows.size());
        blocks.add(leftAt, run.left, rightAt, run.right);
        if (const int end = int(diff.rows.size()); end > begin) {
            diff.hunks.push_back({begin, end});
        }
        for (int i = 0; i < run.length; ++i) {
            diff.rows.push_back({RowKind::Equal, run.left + i, run.right + i, -1});
        }
        leftAt = run.left + run.length;
        rightAt = run.right + run.length;
    }
    return diff;
}

namespace {

struct Side {
    const std::vector<std::string_view>& lines;
    bool open;
    void print(std::string& out, char sign, int line) const
    {
        out += sign;
        out += lines[line];
        out += '\n';
        if (open && line + 1 == int(lines.size())) {
            out += "\\ No newline at end of file\n";
        }
    }
};

void printGroup(std::string& out, const TextDiff& diff, int begin, int end, const Side& left, const Side& right)
{
    int leftStart = -1, rightStart = -1, leftCount = 0, rightCount = 0, leftSeen = 0, rightSeen = 0;
    for (int i = 0; i < end; ++i) {
        const DiffRow& row = diff.rows[i];
        if (i >= begin) {
            leftStart = leftStart < 0 && row.left >= 0 ? row.left + 1 : leftStart;
            rightStart = rightStart < 0 && row.right >= 0 ? row.right + 1 : rightStart;
            leftCount += row.left >= 0;
            rightCount += row.right >= 0;
        } else {
            leftSeen += row.left >= 0;
            rightSeen += row.right >= 0;
        }
    }
    out += fmt::format("@@ -{},{} +{},{} @@\n", leftStart < 0 ? leftSeen : leftStart, leftCount,
                       rightStart < 0 ? rightSeen : rightStart, rightCount);
    for (int i = begin; i < end;) {
        if (diff.rows[i].kind == RowKind::Equal) {
            left.print(out, ' ', diff.rows[i].left);
            ++i;
            continue;
        }
        int stop = i;
        while (stop < end && diff.rows[stop].kind != RowKind::Equal) {
            ++stop;
        }
        for (int row = i; row < stop; ++row) {
            if (diff.rows[row].left >= 0) {
                left.print(out, '-', diff.rows[row].left);
            }
        }
        for (int row = i; row < stop; ++row) {
            if (diff.rows[row].right >= 0) {
                right.print(out, '+', diff.rows[row].right);
            }
        }
        i = stop;
    }
}

} // namespace

std::string unifiedText(const TextDiff& diff, std::string_view left, std::string_view right, std::string_view leftName,
                        std::string_view rightName, int context)
{
    const std::vector<std::string_view> leftLines = diffLines(left), rightLines = diffLines(right);
    const Side leftSide{leftLines, diff.leftEndsOpen}, rightSide{rightLines, diff.rightEndsOpen};
    std::string out;
    for (std::size_t h = 0; h < diff.hunks.size();) {
        const int begin = std::max(0, diff.hunks[h].begin - context);
        int end = std::min(int(diff.rows.size()), diff.hunks[h].end + context);
        for (++h; h < diff.hunks.size() && diff.hunks[h].begin - context <= end; ++h) {
            end = std::min(int(diff.rows.size()), diff.hunks[h].end + context);
        }
        if (out.empty()) {
            out = fmt::format("--- {}\n+++ {}\n", leftName, rightName);
        }
        printGroup(out, diff, begin, end, leftSide, rightSide);
    }
    return out;
}

} // namespace espalier
