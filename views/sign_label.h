// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/node_look.h"

#include <QPainter>
#include <QWidget>
#include <optional>

namespace espalier {

/// A node's sign beside a line of text. Thread: GUI.
class SignLabel : public QWidget
{
    Q_OBJECT
public:
    explicit SignLabel(ThemeManager& themes, QWidget* parent = nullptr) : QWidget(parent), m_themes(themes)
    {
        setFixedSize(20, 20);
        connect(&themes, &ThemeManager::themeChanged, this, qOverload<>(&QWidget::update));
    }
    void setLook(const NodeLook& look)
    {
        m_look = look;
        update();
    }
    void clear()
    {
        m_look.reset();
        update();
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        if (m_look) {
            QPainter painter(this);
            painter.setRenderHint(QPainter::Antialiasing);
            paintSign(painter, *m_look, QRectF(rect()).center(), 5.5, m_themes.theme());
        }
    }

private:
    ThemeManager& m_themes;
    std::optional<NodeLook> m_look;
};

} // namespace espalier
