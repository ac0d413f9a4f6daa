// SPDX-License-Identifier: GPL-3.0-only
#include "views/command_palette.h"

#include "views/format.h"
#include "views/workbench.h"

#include <QAction>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QTableWidget>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

namespace espalier {

namespace {

QString nameOfAction(const QAction* action)
{
    QString name = action->text();
    return name.remove(QLatin1Char('&'));
}

QString keysOf(const QAction* action)
{
    return action->shortcut().toString(QKeySequence::NativeText);
}

} // namespace

int fuzzyScore(const QString& text, const QString& wanted)
{
    int score = 1, last = -2;
    for (const QChar letter : wanted) {
        if (letter.isSpace()) {
            continue;
        }
        const int at = int(text.indexOf(letter, last < 0 ? 0 : last + 1, Qt::CaseInsensitive));
        if (at < 0) {
            return 0;
        }
        const bool start = at == 0 || !text[at - 1].isLetterOrNumber();
        score += 2 + (start ? 6 : 0) + (at == last + 1 ? 4 : 0);
        last = at;
    }
    return score;
}

CommandPalette::CommandPalette(Workbench& bench, const QList<QAction*>& actions, QWidget* parent)
    : QDialog(parent, Qt::Popup), m_bench(bench), m_actions(actions), m_words(new QLineEdit), m_list(new QTreeWidget),
      m_whyNot(new QLabel)
{
    setAttribute(Qt::WA_DeleteOnClose);
    m_words->setPlaceholderText(tr("Type an act, or a node's number"));
    m_words->setAccessibleName(tr("Command"));
    m_words->installEventFilter(this);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setHeaderHidden(true);
    m_list->setRootIsDecorated(false);
    m_list->setColumnCount(2);
    m_list->setIconSize({16, 16});
    m_list->setStyleSheet(QStringLiteral("QTreeView::item { padding: 3px 0; }"));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setUniformRowHeights(true);
    m_list->header()->setStretchLastSection(false);
    m_list->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_list->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    m_whyNot->setWordWrap(true);
    m_whyNot->setTextFormat(Qt::PlainText);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->setSpacing(8);
    layout->addWidget(m_words);
    layout->addWidget(m_list);
    layout->addWidget(m_whyNot);
    resize(520, 360);
    move(parent->mapToGlobal(QPoint((parent->width() - width()) / 2, 64)));
    connect(m_words, &QLineEdit::textChanged, this, &CommandPalette::narrow);
    connect(m_words, &QLineEdit::returnPressed, this, &CommandPalette::choose);
    connect(m_list, &QTreeWidget::itemClicked, this, &CommandPalette::choose);
    connect(m_list, &QTreeWidget::currentItemChanged, this, &CommandPalette::sayWhyNot);
    narrow();
    m_words->setFocus();
}

QTreeWidgetItem* CommandPalette::add(const QString& name, const QString& keys, int action, qlonglong node)
{
    auto* item = new QTreeWidgetItem(m_list, {name, keys});
    item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    item->setData(0, ActionRole, action);
    item->setData(0, NodeRole, node);
    return item;
}

/// A node by its number, and those whose titles hold what was typed.
void CommandPalette::addNodes(const QString& wanted)
{
    constexpr int mostNodes = 8;
    constexpr qsizetype fewestLetters = 3;
    bool isNumber = false;
    const qlonglong number = wanted.toLongLong(&isNumber);
    const NodeStore& nodes = m_bench.nodes();
    int found = 0;
    for (int node = 0; node < nodes.count() && found < mostNodes; ++node) {
        const NodeSummary& summary = nodes.at(node);
        const QString title = format::text(summary.title);
        if (isNumber ? summary.id.value == number
                     : wanted.size() >= fewestLetters && title.contains(wanted, Qt::CaseInsensitive)) {
            add(tr("Go to node %1  %2").arg(summary.id.value).arg(title), {}, -1, summary.id.value);
            ++found;
        }
    }
}

void CommandPalette::narrow()
{
    m_list->clear();
    const QString wanted = m_words->text().trimmed();
    bool isNumber = false;
    wanted.toLongLong(&isNumber);
    if (isNumber) {
        addNodes(wanted);
    }
    std::vector<std::pair<int, int>> found;
    for (int i = 0; i < m_actions.size(); ++i) {
        const int score = fuzzyScore(nameOfAction(m_actions[i]), wanted);
        if (score > 0 && !m_actions[i]->isSeparator()) {
            found.emplace_back(-score, i);
        }
    }
    std::stable_sort(found.begin(), found.end());
    for (const auto& [score, i] : found) {
        const QAction* action = m_actions[i];
        QTreeWidgetItem* item = add(nameOfAction(action), keysOf(action), i, 0);
        item->setIcon(0, action->icon());
        item->setToolTip(0, action->toolTip());
        if (!action->isEnabled()) {
            for (const int column : {0, 1}) {
                item->setForeground(column, m_bench.theme()[Token::Muted]);
            }
        }
    }
    if (!isNumber) {
        addNodes(wanted);
    }
    // The first that can be done: Return does something wherever something can be done.
    QTreeWidgetItem* first = m_list->topLevelItem(0);
    for (int row = 0; row < m_list->topLevelItemCount(); ++row) {
        if (canDo(m_list->topLevelItem(row))) {
            first = m_list->topLevelItem(row);
            break;
        }
    }
    m_list->setCurrentItem(first);
    sayWhyNot();
}

bool CommandPalette::canDo(const QTreeWidgetItem* item) const
{
    const int action = item->data(0, ActionRole).toInt();
    return action < 0 || m_actions[action]->isEnabled();
}

void CommandPalette::sayWhyNot()
{
    const QTreeWidgetItem* item = m_list->currentItem();
    const QString reason = !item          ? tr("No act and no node is called so.")
                           : !canDo(item) ? m_actions[item->data(0, ActionRole).toInt()]->toolTip()
                                          : QString();
    m_whyNot->setText(reason);
    m_whyNot->setHidden(reason.isEmpty());
}

void CommandPalette::choose()
{
    const QTreeWidgetItem* item = m_list->currentItem();
    if (!item || !canDo(item)) {
        return; // it is said why
    }
    const int index = item->data(0, ActionRole).toInt();
    const qlonglong node = item->data(0, NodeRole).toLongLong();
    close();
    if (index < 0) {
        m_bench.select(NodeId{node});
    } else {
        m_actions[index]->trigger();
    }
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up) {
            const int row = m_list->indexOfTopLevelItem(m_list->currentItem()) + (key == Qt::Key_Down ? 1 : -1);
            m_list->setCurrentItem(
                m_list->topLevelItem(std::clamp(row, 0, std::max(0, m_list->topLevelItemCount() - 1))));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

void showShortcuts(const QList<QAction*>& actions, QWidget* parent)
{
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(CommandPalette::tr("Keys"));
    auto* table = new QTableWidget(0, 2, dialog);
    table->setHorizontalHeaderLabels({CommandPalette::tr("Act"), CommandPalette::tr("Key")});
    table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    table->horizontalHeader()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    table->verticalHeader()->hide();
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setFrameShape(QFrame::NoFrame);
    table->setShowGrid(false);
    const auto add = [table](const QString& act, const QString& key) {
        const int row = table->rowCount();
        table->insertRow(row);
        table->setItem(row, 0, new QTableWidgetItem(act));
        table->setItem(row, 1, new QTableWidgetItem(key));
    };
    for (const QAction* action : actions) {
        if (!keysOf(action).isEmpty()) {
            add(nameOfAction(action), keysOf(action));
        }
    }
    add(CommandPalette::tr("In the tree: parent, child, neighbours"), CommandPalette::tr("← → ↑ ↓"));
    add(CommandPalette::tr("In the tree: whole tree, best, fold"), CommandPalette::tr("F, B, Space"));
    add(CommandPalette::tr("In the tree: zoom in, out, to 100 %"), CommandPalette::tr("Ctrl++, Ctrl+−, 0"));
    add(CommandPalette::tr("In a source: zoom in, out, as it was"), CommandPalette::tr("Ctrl++, Ctrl+−, Ctrl+0"));
    auto* layout = new QVBoxLayout(dialog);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(table);
    dialog->resize(460, 560);
    dialog->show();
}

} // namespace espalier
