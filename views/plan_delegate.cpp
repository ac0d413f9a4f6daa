// SPDX-License-Identifier: GPL-3.0-only
#include "views/plan_delegate.h"

#include "views/idea_editor.h"
#include "views/plan_model.h"
#include "views/workbench.h"

#include <QApplication>
#include <QPainter>

namespace espalier {

namespace {
constexpr int margin = 8, gap = 8, padding = 4, iconSize = 16;
}

PlanDelegate::PlanDelegate(const Workbench& bench, QObject* parent) : QStyledItemDelegate(parent), m_bench(bench) {}

void PlanDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    if (index == m_edited) {
        return; // the editor stands there
    }
    const Theme& theme = m_bench.theme();
    QStyleOptionViewItem frame = option;
    QStyle* style = option.widget ? option.widget->style() : QApplication::style();
    style->drawPrimitive(QStyle::PE_PanelItemViewItem, &frame, painter, option.widget); // selection, focus, hover
    const QRect row = option.rect.adjusted(margin, padding, -margin, -padding);
    const int line = option.fontMetrics.height();
    const QRect first(row.left(), row.top(), row.width(), line),
        second(row.left(), row.top() + line + 2, row.width(), line);
    const int textAt = first.left() + iconSize + gap;
    index.data(Qt::DecorationRole)
        .value<QIcon>()
        .paint(painter, first.left(), first.center().y() - iconSize / 2, iconSize, iconSize);

    QString tag = index.data(PlanModel::TagRole).toString();
    if (const double boost = index.data(PlanModel::BoostRole).toDouble(); boost != 0 && boost != 1) {
        tag = QStringLiteral("×%1 · %2").arg(boost).arg(tag);
    }
    painter->save();
    painter->setFont(option.font);
    painter->setPen(theme[Token::Muted]);
    painter->drawText(first, Qt::AlignRight | Qt::AlignVCenter, tag);
    const int tagWidth = option.fontMetrics.horizontalAdvance(tag);
    const QRect why = second.adjusted(textAt - second.left(), 0, 0, 0);
    painter->drawText(
        why, Qt::AlignLeft | Qt::AlignVCenter,
        option.fontMetrics.elidedText(index.data(PlanModel::WhyRole).toString(), Qt::ElideRight, why.width()));
    painter->setPen(theme[Token::Text]);
    const QRect title = first.adjusted(textAt - first.left(), 0, tag.isEmpty() ? 0 : -tagWidth - gap, 0);
    painter->drawText(
        title, Qt::AlignLeft | Qt::AlignVCenter,
        option.fontMetrics.elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideRight, title.width()));
    painter->restore();
}

QSize PlanDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const int two = 2 * option.fontMetrics.height() + 2 + 2 * padding;
    return {100, index == m_edited ? m_room : two};
}

void PlanDelegate::makeRoom(const QModelIndex& index)
{
    m_edited = index;
    m_room = IdeaEditor().sizeHint().height();
    emit sizeHintChanged(index);
}

QWidget* PlanDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem&, const QModelIndex&) const
{
    auto* editor = new IdeaEditor(parent);
    auto* self = const_cast<PlanDelegate*>(this); // Qt asks a constant delegate for an editor that reports to it
    self->m_editor = editor;
    connect(editor, &IdeaEditor::committed, self, [self, editor] {
        emit self->commitData(editor);
        emit self->closeEditor(editor);
    });
    connect(editor, &IdeaEditor::cancelled, self, [self, editor] { emit self->closeEditor(editor, RevertModelCache); });
    return editor;
}

void PlanDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const
{
    static_cast<IdeaEditor*>(editor)->setWords(index.data(Qt::EditRole).value<IdeaWords>());
}

void PlanDelegate::setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const
{
    model->setData(index, QVariant::fromValue(static_cast<IdeaEditor*>(editor)->edit()), Qt::EditRole);
}

void PlanDelegate::updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option, const QModelIndex&) const
{
    editor->setGeometry(option.rect);
}

void PlanDelegate::destroyEditor(QWidget* editor, const QModelIndex& index) const
{
    QStyledItemDelegate::destroyEditor(editor, index);
    auto* self = const_cast<PlanDelegate*>(this);
    const QModelIndex edited = m_edited;
    self->m_edited = QPersistentModelIndex();
    self->m_editor = nullptr;
    emit self->sizeHintChanged(edited);
    emit self->editingEnded();
}

} // namespace espalier
