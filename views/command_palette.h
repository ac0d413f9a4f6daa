// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QDialog>
#include <QList>

class QAction;
class QLabel;
class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace espalier {

class Workbench;

/// Every act by name (Ctrl+Shift+P): letters in order narrow the list, a number goes to that node. Thread: GUI.
class CommandPalette : public QDialog
{
    Q_OBJECT
public:
    CommandPalette(Workbench& bench, const QList<QAction*>& actions, QWidget* parent);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    enum ItemRole { ActionRole = Qt::UserRole, NodeRole };
    void narrow();
    void addNodes(const QString& wanted);
    QTreeWidgetItem* add(const QString& name, const QString& keys, int action, qlonglong node);
    bool canDo(const QTreeWidgetItem* item) const;
    void sayWhyNot();
    void choose();

    Workbench& m_bench;
    QList<QAction*> m_actions;
    QLineEdit* m_words;
    QTreeWidget* m_list;
    QLabel* m_whyNot; ///< below the list: why the marked act cannot be done
};

/// All letters of `wanted` occur in `text` in order, case aside; the better match has the higher score, 0: none.
int fuzzyScore(const QString& text, const QString& wanted);

/// A window that lists every action with its keys (F1).
void showShortcuts(const QList<QAction*>& actions, QWidget* parent);

} // namespace espalier
