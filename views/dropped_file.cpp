// SPDX-License-Identifier: GPL-3.0-only
#include "views/dropped_file.h"

#include <QFileInfo>
#include <QList>
#include <QMimeData>
#include <QUrl>

namespace espalier {

DroppedFile droppedFile(const QMimeData& data)
{
    const QList<QUrl> urls = data.urls();
    if (urls.size() != 1 || !urls.front().isLocalFile()) {
        return {};
    }
    const QString file = urls.front().toLocalFile(), suffix = QFileInfo(file).suffix().toLower();
    return suffix == QStringLiteral("espalier") ? DroppedFile{DroppedFile::Kind::Session, file}
           : suffix == QStringLiteral("cu")     ? DroppedFile{DroppedFile::Kind::Kernel, file}
                                                : DroppedFile{};
}

} // namespace espalier
