// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/engine/engine.h"

#include <QObject>
#include <QStringList>
#include <memory>

class QAction;
class QDir;
class QMenu;
class QSettings;
class QWidget;

namespace espalier {

class Departure;
class ModelShelf;
class Workbench;

/// The first session of that name in the folder that is not there yet: name.espalier, name-2.espalier, …
QString freeFile(const QDir& folder, const QString& name);

/// Opening, creating and closing sessions: the sample, a new one, a file, a recent one. A running search is asked about
/// first, and goes on where the other session cannot be opened. Thread: GUI. The settings (recent files) and the
/// departure belong to the caller.
class SessionActions : public QObject
{
    Q_OBJECT
public:
    SessionActions(Workbench& bench, Departure& departure, QSettings& settings, QWidget* window);

    void open(EngineOptions options, bool run);
    void openFile(const QString& file);
    void openSample();
    void startNew(const QString& file = {});
    void close();
    /// Where the Models dialog reads and writes; without it there is nothing to edit.
    void setModels(std::shared_ptr<ModelShelf> shelf);
    void editModels();
    void chooseFile();
    void fillRecent(QMenu* menu);
    QStringList recent() const;

signals:
    void said(const QString& sentence); ///< why nothing was opened
    void modelsSaved();

private:
    QStringList modelNames() const;
    void remember(const QString& file);
    QString folder() const;

    Workbench& m_bench;
    Departure& m_departure;
    QSettings& m_settings;
    QWidget* m_window;
    std::shared_ptr<ModelShelf> m_shelf;
    bool m_runWhenOpen = false;
};

} // namespace espalier
