// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/comparison.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QStackedLayout;
class QToolButton;

namespace espalier {

class ProfileShelf;
class RooflineView;
class Workbench;

/// The roofline of all profiled candidates, with the selected one's verdict in words, the choice of level, isolating a
/// lineage, and export. Thread: GUI.
class RooflinePanel : public QWidget
{
    Q_OBJECT
public:
    RooflinePanel(Workbench& bench, ProfileShelf& shelf, Comparison& comparison, QWidget* parent = nullptr);
    RooflineView* view() { return m_view; }
    QString verdict() const;
    void setLevel(int choice); ///< DRAM, L2, L1, all
    void setIsolated(bool on);
    /// Writes what is shown; the form is the file's ending: png, svg, csv. Empty when it worked, else a sentence.
    QString exportTo(const QString& file) const;

signals:
    void exported(const QString& file);
    void exportFailed(const QString& sentence);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void rebuild(); ///< points
    void refocus(); ///< what of them is looked at
    void restyle();
    void chooseFile(const QString& ending);

    Workbench& m_bench;
    ProfileShelf& m_shelf;
    Comparison& m_comparison;
    RooflineView* m_view;
    QLabel *m_verdict, *m_count, *m_empty;
    QComboBox* m_level;
    QToolButton *m_isolate, *m_export;
    QStackedLayout* m_pages;
};

} // namespace espalier
