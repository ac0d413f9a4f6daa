// SPDX-License-Identifier: GPL-3.0-only
#include "views/roofline_view.h"

#include <QAccessible>
#include <QBuffer>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QSvgGenerator>
#include <algorithm>

namespace espalier {

namespace {
constexpr double reach = 9; ///< pixels from a point to the pointer
}

RooflineView::RooflineView(ThemeManager& themes, QWidget* parent) : QWidget(parent), m_themes(themes)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Roofline chart"));
    setAccessibleDescription(
        tr("Arrow keys go from point to point, Return selects, I isolates the lineage, L changes the level."));
    connect(&themes, &ThemeManager::themeChanged, this, [this] { update(); });
}

void RooflineView::setChart(RooflineChart chart)
{
    m_chart = std::move(chart);
    if (!m_chart.find(m_current)) {
        m_current.reset();
    }
    forgetLayout();
}

void RooflineView::setFocusOn(const RooflineFocus& focus)
{
    m_focus = focus;
    forgetLayout();
}

void RooflineView::forgetLayout()
{
    m_layout.reset();
    update();
}

const RooflineLayout& RooflineView::arranged() const
{
    if (!m_layout) {
        m_layout = layOut(m_chart, m_focus, size(), font());
    }
    return *m_layout;
}

void RooflineView::render(QPainter& painter, const QSizeF& size) const
{
    painter.fillRect(QRectF(QPointF(0, 0), size), m_themes.theme()[Token::Background]);
    paintRoofline(painter, layOut(m_chart, m_focus, size, font()), m_focus, m_themes.theme(), font());
}

QImage RooflineView::image(const QSize& size) const
{
    constexpr double sharpness = 2; // for print and for screens with small pixels
    QImage image(size * sharpness, QImage::Format_RGB32);
    image.setDevicePixelRatio(sharpness);
    QPainter painter(&image);
    render(painter, size);
    return image;
}

QByteArray RooflineView::svg(const QSize& size) const
{
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(0, 0), size));
    generator.setTitle(tr("Roofline"));
    {
        QPainter painter(&generator);
        render(painter, size);
    }
    return buffer.data();
}

void RooflineView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Theme& theme = m_themes.theme();
    painter.fillRect(rect(), theme[Token::Background]);
    paintRoofline(painter, arranged(), m_focus, theme, font());
    if (const RooflinePoint* point = m_chart.find(m_current)) {
        painter.setPen(QPen(theme[Token::Text], 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(m_currentAt, reach, reach);
        paintCard(painter, *point, m_currentAt, rect(), theme, font());
    }
}

void RooflineView::resizeEvent(QResizeEvent*)
{
    m_current.reset();
    forgetLayout();
}

void RooflineView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange) {
        forgetLayout();
    }
    QWidget::changeEvent(event);
}

void RooflineView::setCurrent(const PlacedPoint* placed)
{
    const std::optional<NodeId> node = placed ? std::optional(placed->point->node) : std::nullopt;
    if (node == m_current && (!placed || placed->at == m_currentAt)) {
        return;
    }
    m_current = node;
    m_currentAt = placed ? placed->at : QPointF();
    if (placed) { // read aloud as a card is read
        setAccessibleDescription(cardLines(*placed->point).join(QStringLiteral(". ")));
        QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&changed);
    }
    update();
}

void RooflineView::mouseMoveEvent(QMouseEvent* event)
{
    setCurrent(arranged().nearest(event->position(), reach));
}

void RooflineView::mousePressEvent(QMouseEvent* event)
{
    const PlacedPoint* placed = arranged().nearest(event->position(), reach);
    if (event->button() == Qt::LeftButton && placed) {
        emit nodeChosen(placed->point->node);
    }
}

void RooflineView::leaveEvent(QEvent*)
{
    setCurrent(nullptr);
}

/// To the neighbour by intensity, then rate.
void RooflineView::walk(int step)
{
    std::vector<const PlacedPoint*> order;
    for (const PlacedPoint& placed : arranged().points) {
        order.push_back(&placed);
    }
    if (order.empty()) {
        return;
    }
    std::sort(order.begin(), order.end(), [](const PlacedPoint* a, const PlacedPoint* b) {
        return std::tuple(a->at.x(), -a->at.y(), a->point->node) < std::tuple(b->at.x(), -b->at.y(), b->point->node);
    });
    const auto found = std::find_if(order.begin(), order.end(), [this](const PlacedPoint* placed) {
        return m_current ? placed->point->node == *m_current && placed->at == m_currentAt
                         : placed->point->node == m_focus.selected;
    });
    const auto count = std::ptrdiff_t(order.size());
    const std::ptrdiff_t at = found == order.end() ? (step > 0 ? -1 : count) : found - order.begin();
    setCurrent(order[std::size_t(std::clamp<std::ptrdiff_t>(at + step, 0, count - 1))]);
}

void RooflineView::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Down:
        return walk(-1);
    case Qt::Key_Right:
    case Qt::Key_Up:
        return walk(1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_current) {
            emit nodeChosen(*m_current);
        }
        return;
    case Qt::Key_Escape:
        return setCurrent(nullptr);
    case Qt::Key_I:
        emit isolationWanted(!m_focus.isolated);
        return;
    case Qt::Key_L:
        emit levelWanted(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace espalier
