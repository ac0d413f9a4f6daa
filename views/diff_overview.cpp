// SPDX-License-Identifier: GPL-3.0-only
#include "views/diff_overview.h"

#include "core/diff/text_diff.h"
#include "views/theme.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

namespace espalier {

DiffOverview::DiffOverview(ThemeManager& themes, QWidget* parent) : QWidget(parent), m_themes(themes)
{
    setFixedWidth(14);
    setAccessibleName(tr("Overview of the changes"));
    setToolTip(tr("Changes in the whole text; click to go there"));
}

void DiffOverview::setDiff(const TextDiff* diff)
{
    m_diff = diff;
    m_current = -1;
    update();
}

void DiffOverview::setSeen(int firstRow, int rows)
{
    m_first = firstRow;
    m_seen = rows;
    update();
}

void DiffOverview::setCurrent(int hunk)
{
    m_current = hunk;
    update();
}

double DiffOverview::yOf(int row) const
{
    // A short text is drawn at a row's own scale, not stretched over the strip.
    const double rows = std::max<double>(m_diff->rows.size(), std::max(1, m_seen));
    return height() * row / rows;
}

void DiffOverview::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Theme& theme = m_themes.theme();
    painter.fillRect(rect(), theme[Token::Panel]);
    painter.fillRect(QRectF(0, 0, 1, height()), theme[Token::Hairline]);
    if (!m_diff) {
        return;
    }
    const double top = yOf(std::max(0, m_first)), bottom = yOf(m_first + m_seen);
    painter.fillRect(QRectF(1, top, width() - 1, std::max(4.0, bottom - top)), theme[Token::Hairline]);
    for (std::size_t i = 0; i < m_diff->hunks.size(); ++i) {
        const DiffHunk& hunk = m_diff->hunks[i];
        bool added = false, removed = false;
        for (int row = hunk.begin; row < hunk.end; ++row) {
            removed |= m_diff->rows[std::size_t(row)].left >= 0;
            added |= m_diff->rows[std::size_t(row)].right >= 0;
        }
        const double y = yOf(hunk.begin), h = std::max(2.0, yOf(hunk.end) - y);
        if (removed) {
            painter.fillRect(QRectF(3, y, added ? 4 : 9, h), theme[Token::Incorrect]);
        }
        if (added) {
            painter.fillRect(QRectF(removed ? 8 : 3, y, removed ? 4 : 9, h), theme[Token::Passed]);
        }
        if (int(i) == m_current) {
            painter.fillRect(QRectF(1, y, 1.5, h), theme[Token::Accent]);
        }
    }
}

void DiffOverview::mousePressEvent(QMouseEvent* event)
{
    if (m_diff) {
        const double rows = std::max<double>(m_diff->rows.size(), std::max(1, m_seen));
        emit rowWanted(int(event->position().y() / height() * rows));
    }
}

void DiffOverview::mouseMoveEvent(QMouseEvent* event)
{
    mousePressEvent(event);
}

} // namespace espalier
