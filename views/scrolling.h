// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QScrollArea>
#include <QVBoxLayout>

namespace espalier {

/// The widget in as much room as there is, scrolled where that is less than it needs at least: so it never forces its
/// neighbours out of the window. Owns it; the keyboard passes through. Thread: GUI.
inline QScrollArea* scrolling(QWidget* widget)
{
    /// A scroll area takes the height that wrapped words would like for the least that is needed.
    class Column : public QVBoxLayout
    {
    public:
        using QVBoxLayout::QVBoxLayout;
        bool hasHeightForWidth() const override { return false; }
    };
    auto* holder = new QWidget;
    auto* column = new Column(holder);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(widget);
    auto* area = new QScrollArea;
    area->setWidget(holder);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
    return area;
}

} // namespace espalier
