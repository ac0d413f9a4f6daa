// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/event.h"
#include "views/idea_editor.h"

#include <QAbstractListModel>
#include <cstddef>
#include <optional>
#include <vector>

namespace espalier {

class Workbench;

/// What happens next, as the engine tells it: what runs, what is queued, the strategy's next choice, the open ideas.
/// The first row writes a new idea. Rows keep their identity while the plan changes, so that an editor over one stays
/// open. Dropping an open idea before another one boosts it beyond that one. Thread: GUI.
class PlanModel : public QAbstractListModel
{
    Q_OBJECT
public:
    enum Role { TagRole = Qt::UserRole, WhyRole, BoostRole };
    explicit PlanModel(Workbench& bench, QObject* parent = nullptr);

    std::optional<NodeId> nodeAt(const QModelIndex& index) const; ///< none: the row for a new idea
    QModelIndex indexOf(NodeId node) const;
    QModelIndex newIdeaRow() const { return index(0); }
    bool isNewIdea(const QModelIndex& index) const { return index.row() == 0; }
    /// A node that has a row whatever the plan says, while it is edited.
    void keep(std::optional<NodeId> node);
    /// Rows are being moved: a view's current row that changes now is nobody's choice.
    bool isMoving() const { return m_moving; }
    /// Under which kernel a new idea goes now: the selected one, or the one that the selected idea changes.
    std::optional<NodeId> newIdeaParent() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override; ///< IdeaEdit
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
    QStringList mimeTypes() const override;
    QMimeData* mimeData(const QModelIndexList& indexes) const override;
    bool canDropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                         const QModelIndex& parent) const override;
    bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                      const QModelIndex& parent) override;

private:
    void follow();
    void handleUpdate(const QList<int>& added, const QList<int>& changed);
    void refresh();
    static int rowOf(std::ptrdiff_t step) { return int(step) + 1; }
    const PlannedStep& stepAt(const QModelIndex& index) const { return m_steps[std::size_t(index.row() - 1)]; }
    bool isDraft(const QModelIndex& index) const;
    QVariant newIdeaData(int role) const;
    QString tagOf(const PlannedStep& step, const NodeSummary& node) const;
    QString whyOf(const PlannedStep& step, const NodeSummary& node) const;
    QString nameOf(NodeId node) const;

    Workbench& m_bench;
    std::vector<PlannedStep> m_steps;
    std::optional<NodeId> m_kept;
    std::optional<IdeaWords> m_refused; ///< a new idea's, as the engine did not take it
    bool m_moving = false;
    bool m_incomplete = false; ///< a step's node is not known yet
};

} // namespace espalier
