// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QWidget>
#include <memory>

class QTextBrowser;
class QTreeView;

namespace espalier {

class KernelModel;
class ThemeManager;

/// The Profile tab: findings in words above, what each kernel needs of a multiprocessor below. Thread: GUI.
class ProfilePanel : public QWidget
{
    Q_OBJECT
public:
    explicit ProfilePanel(ThemeManager& themes, QWidget* parent = nullptr);
    void setDetail(const std::shared_ptr<const NodeDetail>& detail); ///< null: empty
    KernelModel& kernels() { return *m_kernels; }
    QString findings() const; ///< as plain text

signals:
    void lineWanted(int line); ///< 1-based

private:
    void refresh();
    ThemeManager& m_themes;
    QTextBrowser* m_findings;
    QTreeView* m_table;
    KernelModel* m_kernels;
    std::shared_ptr<const NodeDetail> m_detail;
};

} // namespace espalier
