// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QWidget>
#include <memory>

class QAction;
class QLabel;
class QStackedLayout;
class QToolButton;

namespace espalier {

class DiffJob;
class DiffView;
class ThemeManager;
struct ComparedTexts;

/// The Diff tab: the selected candidate against the nearest candidate above it. Thread: GUI; comparing happens in a
/// DiffJob, the old picture stays until the new one is there.
class DiffPanel : public QWidget
{
    Q_OBJECT
public:
    explicit DiffPanel(ThemeManager& themes, QWidget* parent = nullptr);
    void setDetail(const std::shared_ptr<const NodeDetail>& detail, const QString& parentTitle); ///< null: empty
    DiffView* view() { return m_view; }

signals:
    void compared();

private:
    void restart();
    void showCompared(const std::shared_ptr<const ComparedTexts>& compared);
    void updateBar();
    void updateIcons();
    void step(int direction);

    ThemeManager& m_themes;
    DiffJob* m_job;
    DiffView* m_view;
    QLabel* m_summary;
    QLabel* m_empty;
    QToolButton* m_blanks;
    QAction* m_previous;
    QAction* m_next;
    QStackedLayout* m_pages;
    std::shared_ptr<const NodeDetail> m_detail;
    std::shared_ptr<const ComparedTexts> m_shown;
    QString m_parentTitle;
};

} // namespace espalier
