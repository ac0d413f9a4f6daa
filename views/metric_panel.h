// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/comparison.h"

#include <QWidget>

class QHBoxLayout;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QSettings;
class QStackedLayout;
class QToolButton;
class QTreeView;

namespace espalier {

class MetricModel;
class MetricProxy;
struct MetricTable;
class ProfileShelf;
class Workbench;

/// The metric table with its bar: what to compare with, a filter, the noise threshold, pins, copying. Pins and
/// threshold are remembered. Thread: GUI.
class MetricPanel : public QWidget
{
    Q_OBJECT
public:
    MetricPanel(Workbench& bench, ProfileShelf& shelf, Comparison& comparison, QSettings& settings,
                QWidget* parent = nullptr);
    MetricModel& model() { return *m_model; }
    QTreeView* view() { return m_view; }
    QString emptyText() const;

public slots:
    void copyMarkdown();
    void copyCsv();
    void pinCurrent();

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void shareWidth();
    void refresh();
    void showTable(MetricTable table);
    void buildBar(QHBoxLayout* bar);
    void restyle();
    QString whyEmpty() const;

    Workbench& m_bench;
    ProfileShelf& m_shelf;
    Comparison& m_comparison;
    QSettings& m_settings;
    MetricModel* m_model;
    MetricProxy* m_proxy;
    QTreeView* m_view;
    QLabel* m_empty;
    QLabel* m_note;
    QStackedLayout* m_pages;
    QComboBox* m_against;
    QLineEdit* m_filter;
    QDoubleSpinBox* m_noise;
    QToolButton *m_keep, *m_onlyChanged, *m_copy;
    std::vector<NodeId> m_shown;
};

} // namespace espalier
