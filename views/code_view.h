// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <Qsci/qsciscintilla.h>
#include <functional>

namespace espalier {

class Theme;
class ThemeManager;
enum class CodeLanguage { Cuda, Assembly };

/// A read-only pane of source or listing in the theme's colours; Ctrl + and Ctrl − zoom. Thread: GUI.
class CodeView : public QsciScintilla
{
    Q_OBJECT
public:
    explicit CodeView(ThemeManager& themes, QWidget* parent = nullptr, CodeLanguage language = CodeLanguage::Cuda);

    /// Replaces the text; keeps the scroll position when `keepPlace` (a newer version of what is being read).
    void setCode(const QString& text, bool keepPlace = false);
    /// Line numbers by hand, so that a pane may have lines that are not the source's (see DiffView).
    void setLineNumbers(int firstLine, int firstNumber, int count);
    void showPlainNumbers(int lines);
    const QFont& font() const { return m_font; }

signals:
    void themeApplied(); ///< styles were set anew: own styles on top must be too

protected:
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void applyTheme();
    ThemeManager& m_themes;
    QsciLexer* m_lexer;
    std::function<void(const Theme&, const QFont&)> m_dress; ///< the lexer's colours
    QFont m_font;
};

} // namespace espalier
