// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/line_figures.h"

#include <QWidget>

namespace espalier {

class CodeView;
class ThemeManager;

/// The columns to the left of a code view: figures by line, coloured by heat, in step with its scrolling. Hovering
/// tells the reasons, a click goes to the line. Thread: GUI; the view outlives it.
class LineColumns : public QWidget
{
    Q_OBJECT
public:
    LineColumns(ThemeManager& themes, CodeView& view, QWidget* parent = nullptr);
    void setFigures(LineFigures figures);
    const LineFigures& figures() const { return m_figures; }
    int headerHeight() const;

signals:
    void lineClicked(int line);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool event(QEvent* event) override;

private:
    void layOut();
    int lineAt(double y) const; ///< -1: none

    ThemeManager& m_themes;
    CodeView& m_view;
    LineFigures m_figures;
    std::vector<int> m_widths;
};

} // namespace espalier
