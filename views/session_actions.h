// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/engine/engine.h"

#include <QObject>
#include <QStringList>
#include <memory>

class QAction;
class QMenu;
class QSettings;
class QWidget;

namespace espalier {

class ModelShelf;
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
    /// Where the Models dialog reads and writes; without it there is nothing to edit.
    void setModels(std::shared_ptr<ModelShelf> shelf);
    void editModels();
    void chooseFile();
    void fillRecent(QMenu* menu);
    QStringList recent() const;

signals:
    void modelsSaved();

private:
    QStringList modelNames() const;
    void remember(const QString& file);
    QString folder() const;

    Workbench& m_bench;
    QSettings& m_settings;
    QWidget* m_window;
    std::shared_ptr<ModelShelf> m_shelf;
    bool m_runWhenOpen = false;
};

} // namespace espalier
