// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QPersistentModelIndex>
#include <QStyledItemDelegate>

namespace espalier {

class IdeaEditor;
class Workbench;

/// Two lines a step: sign, title and what happens to it; then why. An idea is edited in its row, which grows for that.
/// Thread: GUI.
class PlanDelegate : public QStyledItemDelegate
{
    Q_OBJECT
public:
    explicit PlanDelegate(const Workbench& bench, QObject* parent = nullptr);

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void setEditorData(QWidget* editor, const QModelIndex& index) const override;
    void setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const override;
    void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const override;
    void destroyEditor(QWidget* editor, const QModelIndex& index) const override;
    /// Gives the row the height of an editor; before the view opens one.
    void makeRoom(const QModelIndex& index);
    IdeaEditor* editor() const { return m_editor; } ///< the one that is open, or none

signals:
    void editingEnded();

private:
    const Workbench& m_bench;
    QPersistentModelIndex m_edited;
    int m_room = 0;                 ///< height of an editor
    IdeaEditor* m_editor = nullptr; ///< the view's
};

} // namespace espalier
