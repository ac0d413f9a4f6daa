// SPDX-License-Identifier: GPL-3.0-only
#include "views/sign_icon.h"

#include <QFile>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

/// A static library's resources are only there once somebody asks for them, outside any namespace.
static void loadIcons()
{
    Q_INIT_RESOURCE(icons);
}

namespace espalier {

namespace {

constexpr int signSize = 16;
constexpr int scales[] = {1, 2, 3}; ///< device pixel ratios that are prepared

QPixmap signPixmap(const NodeLook& look, const Theme& theme, int scale)
{
    QPixmap pixmap(signSize * scale, signSize * scale);
    pixmap.setDevicePixelRatio(scale);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    paintSign(painter, look, {signSize / 2.0, signSize / 2.0}, 4.2, theme);
    return pixmap;
}

QPixmap svgPixmap(QSvgRenderer& renderer, int scale)
{
    constexpr int size = 20;
    QPixmap pixmap(size * scale, size * scale);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    renderer.render(&painter, QRectF(0, 0, size * scale, size * scale));
    painter.end();
    pixmap.setDevicePixelRatio(scale);
    return pixmap;
}

} // namespace

QIcon signIcon(const NodeLook& look, const Theme& theme)
{
    QIcon icon;
    for (const int scale : scales) {
        const QString key = QStringLiteral("sign/%1/%2/%3/%4")
                                .arg(int(look.shape))
                                .arg(int(look.token))
                                .arg(look.overturned * 8 + look.dashed * 4 + look.pinned * 2 + look.pruned)
                                .arg(theme.isDark() * 10 + scale);
        QPixmap pixmap;
        if (!QPixmapCache::find(key, &pixmap)) {
            pixmap = signPixmap(look, theme, scale);
            QPixmapCache::insert(key, pixmap);
        }
        icon.addPixmap(pixmap);
        icon.addPixmap(pixmap, QIcon::Selected); // else the style tints it
    }
    return icon;
}

QIcon themedIcon(const QString& name, const Theme& theme, Token token)
{
    [[maybe_unused]] static const bool loaded = (loadIcons(), true);
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly)) {
        return {};
    }
    const QByteArray drawing = file.readAll();
    QIcon icon;
    for (const QIcon::Mode mode : {QIcon::Normal, QIcon::Disabled}) {
        QByteArray tinted = drawing;
        tinted.replace("#000000",
                       theme[mode == QIcon::Normal ? token : Token::Draft].name().toLatin1()); // drawn in black
        if (mode == QIcon::Disabled) {
            tinted.replace("<svg ", "<svg opacity=\"0.5\" ");
        }
        QSvgRenderer renderer(tinted);
        for (const int scale : scales) {
            icon.addPixmap(svgPixmap(renderer, scale), mode);
        }
    }
    return icon;
}

} // namespace espalier
