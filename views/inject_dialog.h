// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/base/result.h"

#include <QDialog>
#include <optional>

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
    /// A source to begin with, of `name`; it is judged once it was changed.
    void startFrom(const QString& source, const QString& name);
    /// Words below the title: when it will be judged.
    void sayWhen(const QString& words);
    /// The engine's answer to wanted(): closes the dialog, or says in it what was wrong.
    void answer(const std::optional<Error>& refusal);
    void accept() override; ///< asks for it; the dialog stays until answer()

signals:
    void wanted();

private:
    void chooseFile();
    void paste();
    void check();

    QLineEdit* m_title;
    CodeView* m_source;
    QLabel* m_when;
    QLabel* m_problem;
    QPushButton* m_inject;
    QString m_start, m_startName;
};

} // namespace espalier
