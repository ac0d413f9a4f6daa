// SPDX-License-Identifier: GPL-3.0-only
#include "views/line_columns.h"

#include "views/code_view.h"
#include "views/theme.h"

#include <QApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

namespace espalier {

namespace {

constexpr int cellPad = 6;

QColor mixed(const QColor& ground, const QColor& heat, double part)
{
    const auto mix = [part](int a, int b) { return int(std::lround(a + (b - a) * part)); };
    return QColor(mix(ground.red(), heat.red()), mix(ground.green(), heat.green()), mix(ground.blue(), heat.blue()));
}

} // namespace

LineColumns::LineColumns(ThemeManager& themes, CodeView& view, QWidget* parent)
    : QWidget(parent), m_themes(themes), m_view(view)
{
    setAccessibleName(tr("Figures by line"));
    // Not the scroll bar's signal: it keeps silent when keys or the program scroll.
    connect(&view, &QsciScintillaBase::SCN_UPDATEUI, this, [this] { update(); });
    connect(&view, &QsciScintillaBase::SCN_PAINTED, this, [this] { update(); });
    connect(&view, &CodeView::themeApplied, this, [this] {
        layOut();
        update();
    });
    setFigures({});
}

int LineColumns::headerHeight() const
{
    return fontMetrics().height() + 8;
}

void LineColumns::setFigures(LineFigures figures)
{
    m_figures = std::move(figures);
    layOut();
    update();
}

void LineColumns::layOut()
{
    const QFontMetrics cells(m_view.font()), heads(font());
    m_widths.assign(m_figures.columns.size(), 0);
    int total = 0;
    for (std::size_t i = 0; i < m_widths.size(); ++i) {
        int width = heads.horizontalAdvance(m_figures.columns[i].title);
        for (const auto& [line, row] : m_figures.rows) {
            if (i < row.cells.size() && row.cells[i]) {
                width = std::max(width, cells.horizontalAdvance(row.cells[i]->text));
            }
        }
        m_widths[i] = width + 2 * cellPad;
        total += m_widths[i];
    }
    setFixedWidth(total);
    setVisible(total > 0);
}

int LineColumns::lineAt(double y) const
{
    const long at = m_view.SendScintilla(QsciScintillaBase::SCI_POSITIONFROMPOINT, 1UL, long(y) - headerHeight());
    const int line = int(m_view.SendScintilla(QsciScintillaBase::SCI_LINEFROMPOSITION, static_cast<unsigned long>(at)));
    return y < headerHeight() || line < 0 || line >= m_view.lines() ? -1 : line;
}

void LineColumns::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Theme& theme = m_themes.theme();
    painter.fillRect(rect(), theme[Token::Background]);
    painter.fillRect(QRect(0, 0, width(), headerHeight()), theme[Token::Panel]);
    painter.setPen(theme[Token::Muted]);
    int x = 0;
    for (std::size_t i = 0; i < m_widths.size(); ++i) {
        painter.drawText(QRect(x + cellPad, 0, m_widths[i] - 2 * cellPad, headerHeight()),
                         Qt::AlignRight | Qt::AlignVCenter, m_figures.columns[i].title);
        x += m_widths[i];
    }
    QFont font = m_view.font();
    font.setItalic(m_figures.modelled);
    // The editor may be zoomed: its lines tell how high they are.
    const int height = int(m_view.SendScintilla(QsciScintillaBase::SCI_TEXTHEIGHT, 0UL));
    font.setPointSizeF(std::max(4.0, font.pointSizeF() + double(m_view.SendScintilla(QsciScintillaBase::SCI_GETZOOM))));
    painter.setFont(font);
    painter.setClipRect(0, headerHeight(), width(), this->height() - headerHeight());
    const int shown = int(m_view.SendScintilla(QsciScintillaBase::SCI_LINESONSCREEN)) + 2;
    const auto firstVisible =
        static_cast<unsigned long>(m_view.SendScintilla(QsciScintillaBase::SCI_GETFIRSTVISIBLELINE));
    const int first = int(m_view.SendScintilla(QsciScintillaBase::SCI_DOCLINEFROMVISIBLE, firstVisible));
    for (auto row = m_figures.rows.lower_bound(first); row != m_figures.rows.end() && row->first <= first + shown;
         ++row) {
        const long position =
            m_view.SendScintilla(QsciScintillaBase::SCI_POSITIONFROMLINE, static_cast<unsigned long>(row->first));
        const int y =
            headerHeight() + int(m_view.SendScintilla(QsciScintillaBase::SCI_POINTYFROMPOSITION, 0UL, position));
        x = 0;
        for (std::size_t i = 0; i < m_widths.size(); ++i) {
            const QRect cell(x, y, m_widths[i], height);
            x += m_widths[i];
            if (i >= row->second.cells.size() || !row->second.cells[i]) {
                continue;
            }
            const LineCell& value = *row->second.cells[i];
            if (value.heat > 0) {
                painter.fillRect(cell.adjusted(1, 0, -1, -1),
                                 mixed(theme[Token::Background], theme[Token::Heat], std::min(1.0, value.heat)));
            }
            painter.setPen(theme[value.text == QLatin1String("·") ? Token::Muted : Token::Text]);
            painter.drawText(cell.adjusted(cellPad, 0, -cellPad, 0), Qt::AlignRight | Qt::AlignVCenter, value.text);
        }
    }
    painter.setClipping(false);
    painter.setPen(theme[Token::Hairline]);
    painter.drawLine(width() - 1, 0, width() - 1, this->height());
}

void LineColumns::mousePressEvent(QMouseEvent* event)
{
    if (const int line = lineAt(event->position().y()); line >= 0) {
        emit lineClicked(line);
    }
}

void LineColumns::wheelEvent(QWheelEvent* event)
{
    QApplication::sendEvent(m_view.viewport(), event);
}

bool LineColumns::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) {
        return QWidget::event(event);
    }
    const auto* help = static_cast<QHelpEvent*>(event);
    QString tip;
    if (help->pos().y() < headerHeight()) {
        int x = 0;
        for (std::size_t i = 0; i < m_widths.size(); x += m_widths[i++]) {
            tip = help->pos().x() >= x ? m_figures.columns[i].tip : tip;
        }
    } else if (const auto row = m_figures.rows.find(lineAt(help->pos().y())); row != m_figures.rows.end()) {
        tip = row->second.tip;
    }
    QToolTip::showText(help->globalPos(), tip, this);
    return true;
}

} // namespace espalier
