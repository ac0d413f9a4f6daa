// SPDX-License-Identifier: GPL-3.0-only
#include "views/command_palette.h"

#include "views/format.h"
#include "views/workbench.h"

#include <QAction>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QTableWidget>
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
    : QDialog(parent, Qt::Popup), m_bench(bench), m_actions(actions), m_words(new QLineEdit), m_list(new QListWidget)
{
    setAttribute(Qt::WA_DeleteOnClose);
    m_words->setPlaceholderText(tr("Type an act, or a node's number"));
    m_words->setAccessibleName(tr("Command"));
    m_words->installEventFilter(this);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setUniformItemSizes(true);
    m_list->setFocusPolicy(Qt::NoFocus);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->setSpacing(8);
    layout->addWidget(m_words);
    layout->addWidget(m_list);
    resize(520, 360);
    move(parent->mapToGlobal(QPoint((parent->width() - width()) / 2, 64)));
    connect(m_words, &QLineEdit::textChanged, this, &CommandPalette::narrow);
    connect(m_words, &QLineEdit::returnPressed, this, &CommandPalette::choose);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::choose);
    narrow();
    m_words->setFocus();
}

void CommandPalette::narrow()
{
    m_list->clear();
    const QString wanted = m_words->text().trimmed();
    bool isNumber = false;
    const qlonglong number = wanted.toLongLong(&isNumber);
    if (const int node = isNumber ? m_bench.nodes().indexOf(NodeId{number}) : -1; node >= 0) {
        auto* item = new QListWidgetItem(
            tr("Go to node %1  %2").arg(number).arg(format::text(m_bench.nodes().at(node).title)), m_list);
        item->setData(Qt::UserRole, -1);
        item->setData(Qt::UserRole + 1, number);
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
        const QString keys = keysOf(action);
        auto* item = new QListWidgetItem(
            action->icon(), nameOfAction(action) + (keys.isEmpty() ? QString() : QStringLiteral("    ") + keys),
            m_list);
        item->setData(Qt::UserRole, i);
        item->setToolTip(action->toolTip());
        if (!action->isEnabled()) {
            item->setFlags(Qt::NoItemFlags);
        }
    }
    m_list->setCurrentRow(0);
}

void CommandPalette::choose()
{
    const QListWidgetItem* item = m_list->currentItem();
    if (!item || !(item->flags() & Qt::ItemIsEnabled)) {
        return;
    }
    const int index = item->data(Qt::UserRole).toInt();
    const qlonglong node = item->data(Qt::UserRole + 1).toLongLong();
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
            const int row = m_list->currentRow() + (key == Qt::Key_Down ? 1 : -1);
            m_list->setCurrentRow(std::clamp(row, 0, std::max(0, m_list->count() - 1)));
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
    add(CommandPalette::tr("In a source: zoom"), CommandPalette::tr("Ctrl + wheel"));
    auto* layout = new QVBoxLayout(dialog);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(table);
    dialog->resize(460, 560);
    dialog->show();
}

} // namespace espalier
