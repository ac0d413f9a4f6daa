// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/base/ids.h"

#include <QObject>
#include <optional>

class QAction;
class QWidget;

namespace espalier {

class Workbench;

/// "Cross with…": after the first kernel the second one is chosen, by a click or Return on it; Escape leaves. Walking
/// with keys moves the selection and chooses nothing. Thread: GUI.
class CrossMode : public QObject
{
    Q_OBJECT
public:
    /// `window`: where Escape is heard while a choice is open.
    CrossMode(Workbench& bench, QWidget* window);

    bool isOn() const { return m_first.has_value(); }
    void begin(NodeId first);
    /// The second kernel; false where no choice is open.
    bool choose(NodeId second);
    void leave();

signals:
    void said(const QString& sentence); ///< what to do next; empty: it is over

private:
    Workbench& m_bench;
    QAction* m_escape;
    std::optional<NodeId> m_first;
};

} // namespace espalier
