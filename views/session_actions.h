// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/engine/engine.h"

#include <QObject>
#include <QStringList>

class QAction;
class QMenu;
class QSettings;
class QWidget;

namespace espalier {

class Workbench;

/// Opening and creating sessions: the sample, a new one, a file, a recent one. Thread: GUI. The settings (recent files)
/// belong to the caller.
class SessionActions : public QObject
{
    Q_OBJECT
public:
    SessionActions(Workbench& bench, QSettings& settings, QWidget* window);

    void open(EngineOptions options, bool run);
    void openFile(const QString& file);
    void openSample();
    void startNew(const QString& file = {});
    void chooseFile();
    void fillRecent(QMenu* menu);
    QStringList recent() const;

private:
    void remember(const QString& file);
    QString folder() const;

    Workbench& m_bench;
    QSettings& m_settings;
    QWidget* m_window;
    bool m_runWhenOpen = false;
};

} // namespace espalier
