// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QDialog>

class QLabel;
class QLineEdit;
class QPushButton;

namespace espalier {

class CodeView;
class ThemeManager;

/// A kernel of one's own: typed, pasted or read from a file. It cannot be accepted without a source. Thread: GUI.
class InjectDialog : public QDialog
{
    Q_OBJECT
public:
    /// `parent`: the node that it is put under, in words; empty: it becomes a root.
    InjectDialog(ThemeManager& themes, const QString& parent, QWidget* owner = nullptr);

    QString title() const; ///< "Own kernel" where none was given
    QString source() const;
    /// Says in the dialog what is wrong with a file that cannot be read.
    void readFile(const QString& file);
    CodeView* editor() { return m_source; }

private:
    void chooseFile();
    void paste();
    void check();

    QLineEdit* m_title;
    CodeView* m_source;
    QLabel* m_problem;
    QPushButton* m_inject;
};

} // namespace espalier
