// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/line_figures.h"

#include <QWidget>

class QLabel;
class QStackedLayout;

namespace espalier {

class CodeView;
class LineColumns;
class ThemeManager;
enum class CodeLanguage;

/// A text with its columns and a title above; or, where there is no text, a sentence that says why. Lines that belong
/// together across panes are marked. Thread: GUI.
class CodePane : public QWidget
{
    Q_OBJECT
public:
    CodePane(ThemeManager& themes, const QString& title, CodeLanguage language, QWidget* parent = nullptr);
    CodeView& view() { return *m_view; }
    LineColumns& columns() { return *m_columns; }

    void setText(const QString& text, bool keepPlace = false);
    void setMissing(const QString& sentence); ///< instead of a text
    void setFigures(LineFigures figures);
    void setNote(const QString& note); ///< beside the title
    QString note() const;
    QString missing() const;
    /// Marks these lines; scrolls to the first one when none of them can be seen and `reveal`.
    void markLinked(const std::vector<int>& lines, bool reveal);
    const std::vector<int>& linked() const { return m_linked; }
    void goTo(int line);

signals:
    void lineChosen(int line); ///< by a click or by moving the caret

private:
    void remark();
    void restyle();

    ThemeManager& m_themes;
    CodeView* m_view;
    LineColumns* m_columns;
    QLabel *m_title, *m_note, *m_missing;
    QWidget* m_header;
    QStackedLayout* m_pages;
    std::vector<int> m_linked;
    int m_line = -1;
    bool m_numbered;
    bool m_silent = false;
};

} // namespace espalier
