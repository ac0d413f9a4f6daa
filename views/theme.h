// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>
#include <QPalette>
#include <array>

namespace espalier {

/// Every colour of the window has a name here; nothing that paints invents one.
enum class Token {
    Background,
    Panel,
    Text,
    Muted,
    Hairline,
    Accent,
    Selection,
    CurrentLine,
    Passed,
    Incorrect,
    Suspicious,
    Failed,
    Running,
    Draft,
    Best,
    DiffAdded,
    DiffRemoved,
    DiffAddedWord,
    DiffRemovedWord,
    DiffFiller,
    Heat,
    SyntaxKeyword,
    SyntaxCuda,
    SyntaxComment,
    SyntaxString,
    SyntaxNumber,
    SyntaxPreprocessor,
    Count
};

/// One set of colours. A value; thread: any.
class Theme
{
public:
    static const Theme& light();
    static const Theme& dark();

    QColor operator[](Token token) const { return m_colours[static_cast<std::size_t>(token)]; }
    bool isDark() const { return m_dark; }
    QPalette palette() const;

private:
    using Colours = std::array<QRgb, static_cast<std::size_t>(Token::Count)>;
    Theme(bool dark, const Colours& colours);
    bool m_dark;
    std::array<QColor, static_cast<std::size_t>(Token::Count)> m_colours;
};

/// The monospaced family for code and figures: JetBrains Mono if installed, else the system's fixed font.
QFont codeFont();

enum class ThemeMode { System, Light, Dark };

/// Holds the chosen mode, dresses the application with it and tells who paints by hand. In System mode it follows the
/// platform's palette, also while the program runs. Thread: GUI. Owned by the application's entry point.
class ThemeManager : public QObject
{
    Q_OBJECT
public:
    explicit ThemeManager(QObject* parent = nullptr);
    const Theme& theme() const { return *m_theme; }
    ThemeMode mode() const { return m_mode; }
    void setMode(ThemeMode mode);
    bool eventFilter(QObject* watched, QEvent* event) override;

signals:
    void themeChanged();

private:
    void apply();
    static bool systemIsDark();
    ThemeMode m_mode = ThemeMode::System;
    const Theme* m_theme;
    bool m_applying = false;
};

} // namespace espalier
