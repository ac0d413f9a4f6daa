// SPDX-License-Identifier: GPL-3.0-only
#include "views/nsight.h"

#include "views/workbench.h"

#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <algorithm>
#include <utility>

namespace espalier {

namespace {

constexpr int lastLines = 3; ///< of what a program said when it failed

/// The newest of several versions stands last.
QString newestIn(const QString& folder, const QString& pattern, const QString& program)
{
    QStringList versions = QDir(folder).entryList({pattern}, QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name);
    while (!versions.isEmpty()) {
        const QFileInfo file(QDir(folder).filePath(versions.takeLast() + QLatin1Char('/') + program));
        if (file.isExecutable() && file.isFile()) {
            return file.absoluteFilePath();
        }
    }
    return {};
}

QString find(const QString& program)
{
    if (const QString found = QStandardPaths::findExecutable(program); !found.isEmpty()) {
        return found;
    }
    QStringList toolkits{qEnvironmentVariable("CUDA_HOME"), QStringLiteral("/usr/local/cuda")};
    toolkits.removeAll(QString());
    for (const QString& toolkit : toolkits) {
        if (const QString found = QStandardPaths::findExecutable(program, {toolkit + QStringLiteral("/bin")});
            !found.isEmpty()) {
            return found;
        }
        if (const QString found = newestIn(toolkit, QStringLiteral("nsight-compute*"), program); !found.isEmpty()) {
            return found;
        }
    }
    return newestIn(QStringLiteral("/opt/nvidia/nsight-compute"), QStringLiteral("*"), program);
}

} // namespace

NsightPrograms findNsight()
{
    return {find(QStringLiteral("ncu")), find(QStringLiteral("ncu-ui"))};
}

Nsight::Nsight(Workbench& bench, NsightPrograms programs, QObject* parent)
    : QObject(parent), m_bench(bench), m_programs(std::move(programs))
{
    connect(&bench.nodes(), &NodeStore::statusChanged, this, &Nsight::changed);
    connect(&bench, &Workbench::sessionClosed, this, [this] {
        if (m_node && !m_process) { // the engine's answer will not come
            end();
        }
    });
    connect(&bench.bridge(), &EngineBridge::reproWritten, this,
            [this](NodeId node, const QString& file, const QString& compiler) {
                if (node == m_node && !m_process) {
                    build(file, compiler);
                }
            });
    connect(&bench.bridge(), &EngineBridge::commandFailed, this, [this](const QString& what) {
        if (what == QStringLiteral("repro") && m_node && !m_process) {
            end(); // the sentence is the window's to show
        }
    });
}

Nsight::~Nsight()
{
    if (m_process) {
        m_process->disconnect(this);
        m_process->kill();
        m_process->waitForFinished(1000);
    }
}

QString Nsight::whyNot() const
{
    if (!m_programs.found()) {
        return tr("Nsight Compute is not installed here: %1 stands neither on the PATH nor in the CUDA toolkit")
            .arg(m_programs.profiler.isEmpty() ? QStringLiteral("ncu") : QStringLiteral("ncu-ui"));
    }
    if (m_node) {
        return tr("Nsight Compute is being opened for node %1").arg(m_node->value);
    }
    const RunState state = m_bench.nodes().status().state;
    const bool busy = state == RunState::Running || state == RunState::Pausing;
    return busy && m_bench.provenance() == Provenance::Measured
               ? tr("Pause the search first: a profiler beside it would spoil its timings")
               : QString();
}

void Nsight::open(NodeId node)
{
    if (!whyNot().isEmpty()) {
        return;
    }
    QTemporaryDir folder(QDir::temp().filePath(QStringLiteral("espalier-nsight-XXXXXX")));
    if (!folder.isValid()) {
        emit failed(
            tr("No folder can be made in %1 (%2): make room there.").arg(QDir::tempPath(), folder.errorString()));
        return;
    }
    folder.setAutoRemove(false);
    m_folder = folder.path();
    m_node = node;
    emit changed();
    m_bench.bridge().send(command::Repro{node, m_folder.toStdString()});
}

void Nsight::build(const QString& file, const QString& compiler)
{
    if (compiler.isEmpty()) {
        emit failed(tr("There is no CUDA compiler here: %1 can be built and profiled where nvcc is.").arg(file));
        return end();
    }
    emit said(tr("Building node %1 for Nsight Compute…").arg(m_node->value));
    start(compiler,
          {QStringLiteral("-O3"), QStringLiteral("-lineinfo"), QStringLiteral("-arch=native"), QStringLiteral("-o"),
           m_folder + QStringLiteral("/repro"), file},
          tr("nvcc"), &Nsight::profile);
}

void Nsight::profile()
{
    emit said(tr("Profiling node %1…").arg(m_node->value));
    start(m_programs.profiler,
          {QStringLiteral("--set"), QStringLiteral("full"), QStringLiteral("--import-source"), QStringLiteral("yes"),
           QStringLiteral("-f"), QStringLiteral("-o"), m_folder + QStringLiteral("/report"),
           m_folder + QStringLiteral("/repro")},
          tr("ncu"), &Nsight::showReport);
}

void Nsight::showReport()
{
    const QString report = m_folder + QStringLiteral("/report.ncu-rep");
    if (QProcess::startDetached(m_programs.window, {report}, m_folder)) {
        emit said(tr("Nsight Compute opens %1").arg(report));
    } else {
        emit failed(tr("%1 could not be started; the report is %2.").arg(m_programs.window, report));
    }
    end();
}

void Nsight::start(const QString& program, const QStringList& arguments, const QString& what, void (Nsight::*then)())
{
    m_process = new QProcess(this);
    m_process->setWorkingDirectory(m_folder);
    m_process->setProcessChannelMode(QProcess::MergedChannels);
    const auto done = [this, what, then, process = m_process](bool good, const QString& why) {
        m_process = nullptr;
        process->deleteLater();
        if (good) {
            (this->*then)();
        } else {
            emit failed(tr("%1 failed on node %2: %3").arg(what).arg(m_node->value).arg(why));
            end();
        }
    };
    connect(m_process, &QProcess::finished, this, [done, process = m_process](int code, QProcess::ExitStatus status) {
        const QStringList lines = QString::fromUtf8(process->readAll()).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
        done(status == QProcess::NormalExit && code == 0,
             lines.mid(std::max(qsizetype(0), lines.size() - lastLines)).join(QLatin1Char(' ')));
    });
    connect(m_process, &QProcess::errorOccurred, this, [done, process = m_process](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) { // of anything else finished() tells
            done(false, process->errorString());
        }
    });
    m_process->start(program, arguments);
}

void Nsight::end()
{
    m_node.reset();
    emit changed();
}

} // namespace espalier
