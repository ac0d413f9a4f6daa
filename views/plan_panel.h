// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/base/ids.h"

#include <QPoint>
#include <QWidget>
#include <optional>

class QLabel;
class QListView;
class QModelIndex;

namespace espalier {

class IdeaEditor;
class PlanDelegate;
class PlanModel;
class Workbench;

/// The ideas and what is planned next, beside the tree; ideas are written and edited in place. Follows the common
/// selection. Thread: GUI.
class PlanPanel : public QWidget
{
    Q_OBJECT
public:
    explicit PlanPanel(Workbench& bench, QWidget* parent = nullptr);

    QListView* view() { return m_view; }
    PlanModel* model() { return m_model; }
    IdeaEditor* editor() const; ///< the one that is open, or none
    /// Opens the editor over the idea; where its words are still on their way, when they have come.
    void editIdea(NodeId idea);
    /// Opens the editor of the first row, for an idea under the selected kernel.
    void writeIdea();

signals:
    void contextMenuWanted(const QPoint& global);

private:
    void open(const QModelIndex& index);
    void followSelection();
    void sayWhyEmpty();

    Workbench& m_bench;
    PlanModel* m_model;
    PlanDelegate* m_delegate;
    QListView* m_view;
    QLabel* m_why; ///< below the list where nothing is planned
    std::optional<NodeId> m_editWhenThere;
    bool m_following = false;
};

} // namespace espalier
