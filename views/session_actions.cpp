// SPDX-License-Identifier: GPL-3.0-only
#include "views/session_actions.h"

#include "views/departure.h"
#include "views/format.h"
#include "views/models_dialog.h"
#include "views/new_session_dialog.h"
#include "views/workbench.h"

#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>
#include <QStandardPaths>

namespace espalier {

namespace {
constexpr int recentKept = 10;
constexpr std::int64_t sampleEvaluations = 24;
} // namespace

QString freeFile(const QDir& folder, const QString& name)
{
    QString file = folder.filePath(name + QStringLiteral(".espalier"));
    for (int i = 2; QFileInfo::exists(file); ++i) {
        file = folder.filePath(QStringLiteral("%1-%2.espalier").arg(name).arg(i));
    }
    return file;
}

SessionActions::SessionActions(Workbench& bench, Departure& departure, QSettings& settings, QWidget* window)
    : QObject(window), m_bench(bench), m_departure(departure), m_settings(settings), m_window(window)
{
    connect(&bench, &Workbench::sessionOpened, this, [this] {
        remember(format::text(m_bench.session()->file));
        if (std::exchange(m_runWhenOpen, false) && m_bench.whyNotSearched().isEmpty()) {
            m_bench.bridge().send(command::Run{});
        }
    });
    connect(&bench.bridge(), &EngineBridge::openFailed, this, [this] { m_runWhenOpen = false; });
}

void SessionActions::open(EngineOptions options, bool run)
{
    const QFileInfo file(format::text(options.session.string()));
    const auto& now = m_bench.session();
    const bool viewed = !m_bench.bridge().viewedBecause().isEmpty(); // by now it may be searched
    if (now && !viewed && file.exists() &&
        file.canonicalFilePath() == QFileInfo(format::text(now->file)).canonicalFilePath()) {
        return emit said(tr("%1 is open already.").arg(file.fileName()));
    }
    m_departure.askFirst(tr("Opening %1").arg(file.fileName()), tr("End the search and open"),
                         [this, options = std::move(options), run] {
                             m_runWhenOpen = run;
                             m_bench.bridge().open(options);
                         });
}

void SessionActions::close()
{
    m_departure.askFirst(tr("Closing the session"), tr("End the search and close"), [this] { m_bench.closeSession(); });
}

void SessionActions::openFile(const QString& file)
{
    EngineOptions options;
    options.session = QFileInfo(file).absoluteFilePath().toStdString();
    open(std::move(options), false);
}

void SessionActions::openSample()
{
    const QDir data(QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) +
                    QStringLiteral("/espalier"));
    data.mkpath(QStringLiteral("."));
    EngineOptions options;
    // Each is a search of its own: an earlier one has used its budget up, and stays where it is.
    options.session = freeFile(data, QStringLiteral("sample")).toStdString();
    options.task = "softmax_f32";
    options.device = "sim";
    options.budget = Budget{sampleEvaluations, std::nullopt, std::nullopt};
    open(std::move(options), true);
}

void SessionActions::setModels(std::shared_ptr<ModelShelf> shelf)
{
    m_shelf = std::move(shelf);
}

QStringList SessionActions::modelNames() const
{
    QStringList models;
    for (const std::string& name : m_bench.bridge().modelNames()) {
        models += format::text(name);
    }
    return models;
}

void SessionActions::editModels()
{
    if (m_shelf) {
        // Over whatever asked for it: the window, or its New session dialog.
        QWidget* asked = QApplication::activeModalWidget();
        auto* dialog = new ModelsDialog(m_shelf, asked ? asked : m_window);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        connect(dialog, &QDialog::accepted, this, &SessionActions::modelsSaved);
        dialog->open();
    }
}

void SessionActions::startNew(const QString& file)
{
    auto* dialog = new NewSessionDialog(folder(), modelNames(), m_window);
    dialog->setStrategies(m_bench.bridge().strategies());
    connect(dialog, &NewSessionDialog::modelsWanted, this, &SessionActions::editModels);
    connect(this, &SessionActions::modelsSaved, dialog, [this, dialog] { dialog->setModels(modelNames()); });
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    if (!file.isEmpty()) {
        dialog->setFile(QFileInfo(file).absoluteFilePath());
    }
    connect(dialog, &QDialog::accepted, this, [this, dialog] { open(dialog->options(), true); });
    dialog->open();
}

void SessionActions::chooseFile()
{
    const QString file = QFileDialog::getOpenFileName(m_window, tr("Open session"), folder(),
                                                      tr("Sessions (*.espalier);;All files (*)"));
    if (!file.isEmpty()) {
        openFile(file);
    }
}

QString SessionActions::folder() const
{
    const QStringList files = recent();
    return files.isEmpty() ? QDir::homePath() : QFileInfo(files.front()).absolutePath();
}

QStringList SessionActions::recent() const
{
    return m_settings.value(QStringLiteral("recent")).toStringList();
}

void SessionActions::remember(const QString& file)
{
    QStringList files = recent();
    files.removeAll(file);
    files.prepend(file);
    m_settings.setValue(QStringLiteral("recent"), QStringList(files.mid(0, recentKept)));
}

void SessionActions::fillRecent(QMenu* menu)
{
    menu->clear();
    for (const QString& file : recent()) {
        menu->addAction(QDir::toNativeSeparators(file), this, [this, file] { openFile(file); });
    }
    if (menu->isEmpty()) {
        menu->addAction(tr("No session was opened yet"))->setEnabled(false);
    }
}

} // namespace espalier
