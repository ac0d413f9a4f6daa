// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/base/ids.h"

#include <QObject>
#include <optional>

class QProcess;

namespace espalier {

class Workbench;

/// Where Nsight Compute is installed: its two programs. Empty strings: it is not.
struct NsightPrograms {
    QString profiler; ///< ncu
    QString window;   ///< ncu-ui
    bool found() const { return !profiler.isEmpty() && !window.isEmpty(); }
};
/// On the PATH, else in the CUDA toolkit or /opt/nvidia.
NsightPrograms findNsight();

/// "Open in Nsight Compute": has the engine write a program that runs the one kernel, builds it, profiles it and opens
/// the report, each step in a process of its own; one kernel at a time. The report stays in a temporary folder, because
/// the other program reads it for as long as it likes. Thread: GUI, which never waits.
class Nsight : public QObject
{
    Q_OBJECT
public:
    Nsight(Workbench& bench, NsightPrograms programs, QObject* parent = nullptr);
    ~Nsight() override;

    /// As a sentence; empty: it can be opened.
    QString whyNot() const;
    void open(NodeId node);

signals:
    void changed(); ///< of whyNot()
    void said(const QString& progress);
    void failed(const QString& sentence);

private:
    void build(const QString& file, const QString& compiler);
    void profile();
    void showReport();
    void start(const QString& program, const QStringList& arguments, const QString& what, void (Nsight::*then)());
    void end();

    Workbench& m_bench;
    NsightPrograms m_programs;
    std::optional<NodeId> m_node; ///< under way
    QString m_folder;
    QProcess* m_process = nullptr;
};

} // namespace espalier
