// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QDialog>
#include <QList>

class QAction;
class QLineEdit;
class QListWidget;

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
    void narrow();
    void choose();

    Workbench& m_bench;
    QList<QAction*> m_actions;
    QLineEdit* m_words;
    QListWidget* m_list;
};

/// All letters of `wanted` occur in `text` in order, case aside; the better match has the higher score, 0: none.
int fuzzyScore(const QString& text, const QString& wanted);

/// A window that lists every action with its keys (F1).
void showShortcuts(const QList<QAction*>& actions, QWidget* parent);

} // namespace espalier
