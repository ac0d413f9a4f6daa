// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>

class QMimeData;

namespace espalier {

/// What is dragged over the window, told by its name alone: nothing on a slow disk is read while somebody drags.
struct DroppedFile {
    enum class Kind { Other, Session, Kernel };
    Kind kind = Kind::Other;
    QString file;
};

/// Other: not one local file, or one that nothing can be done with.
DroppedFile droppedFile(const QMimeData& data);

} // namespace espalier
