// SPDX-License-Identifier: GPL-3.0-only
#include "views/theme.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QTimer>

namespace espalier {

namespace {

struct Row {
    Token token;
    QRgb light, dark;
};

/// The one table. The first block is the project's window description; outcome colours are safe for colour-blind eyes
/// and never the only sign. Text on Background keeps a contrast of at least 4.5 in both columns.
constexpr Row rows[] = {
    {Token::Background, 0xffffff, 0x1e1f22},
    {Token::Panel, 0xf6f7f9, 0x26282c},
    {Token::Text, 0x1f2328, 0xe6e6e6},
    {Token::Muted, 0x57606a, 0xa3a9b1},
    {Token::Hairline, 0xd8dce2, 0x3a3d42},
    {Token::Accent, 0x1565c0, 0x64b5f6},
    {Token::Selection, 0xd6e6f8, 0x2b435f},
    {Token::CurrentLine, 0xf3f5f8, 0x25272b},
    {Token::Passed, 0x1b7f5c, 0x4cc38a},
    {Token::Incorrect, 0xb3261e, 0xff8a80},
    {Token::Suspicious, 0xa15c00, 0xffb74d},
    {Token::Failed, 0x6b5b95, 0xb39ddb},
    {Token::Running, 0x1565c0, 0x64b5f6},
    {Token::Draft, 0x6b7280, 0x9ca3af},
    {Token::Best, 0xc99700, 0xffd54f},
    {Token::DiffAdded, 0xe3f5ea, 0x1f3a2c},
    {Token::DiffRemoved, 0xfdeae8, 0x432629},
    {Token::DiffAddedWord, 0xa6dfbd, 0x2f6b4b},
    {Token::DiffRemovedWord, 0xf6beb8, 0x7d3a3c},
    {Token::DiffFiller, 0xeceef1, 0x2c2e33},
    {Token::Heat, 0xf4b168, 0x8a4b12},
    {Token::SyntaxKeyword, 0x0b4fa8, 0x7db4f5},
    {Token::SyntaxCuda, 0x8a2b7c, 0xdf9ade},
    {Token::SyntaxComment, 0x5c6b62, 0x8fa396},
    {Token::SyntaxString, 0x8a4b00, 0xe2b07a},
    {Token::SyntaxNumber, 0x0f6a73, 0x7fd0d6},
    {Token::SyntaxPreprocessor, 0x6a4f9c, 0xc0a6f0},
};
static_assert(std::size(rows) == static_cast<std::size_t>(Token::Count));

} // namespace

Theme::Theme(bool dark, const Colours& colours) : m_dark(dark)
{
    for (std::size_t i = 0; i < colours.size(); ++i) {
        m_colours[i] = QColor::fromRgb(colours[i]);
    }
}

const Theme& Theme::light()
{
    static const Theme theme = [] {
        Colours colours{};
        for (const Row& row : rows) {
            colours[static_cast<std::size_t>(row.token)] = row.light;
        }
        return Theme(false, colours);
    }();
    return theme;
}

const Theme& Theme::dark()
{
    static const Theme theme = [] {
        Colours colours{};
        for (const Row& row : rows) {
            colours[static_cast<std::size_t>(row.token)] = row.dark;
        }
        return Theme(true, colours);
    }();
    return theme;
}

QPalette Theme::palette() const
{
    const Theme& t = *this;
    QPalette palette(t[Token::Text], t[Token::Panel], t[Token::Background], t[Token::Hairline], t[Token::Hairline],
                     t[Token::Text], t[Token::Background]);
    palette.setColor(QPalette::Window, t[Token::Panel]);
    palette.setColor(QPalette::WindowText, t[Token::Text]);
    palette.setColor(QPalette::Base, t[Token::Background]);
    palette.setColor(QPalette::AlternateBase, t[Token::CurrentLine]);
    palette.setColor(QPalette::Button, t[Token::Panel]);
    palette.setColor(QPalette::ButtonText, t[Token::Text]);
    palette.setColor(QPalette::Highlight, t[Token::Selection]);
    palette.setColor(QPalette::HighlightedText, t[Token::Text]);
    palette.setColor(QPalette::ToolTipBase, t[Token::Panel]);
    palette.setColor(QPalette::ToolTipText, t[Token::Text]);
    palette.setColor(QPalette::PlaceholderText, t[Token::Muted]);
    palette.setColor(QPalette::Link, t[Token::Accent]);
    palette.setColor(QPalette::Light, m_dark ? t[Token::Hairline] : t[Token::Background]);
    palette.setColor(QPalette::Mid, t[Token::Hairline]);
    palette.setColor(QPalette::Dark, m_dark ? t[Token::Background].darker(130) : t[Token::Hairline].darker(115));
    palette.setColor(QPalette::Shadow, m_dark ? t[Token::Background].darker(170) : t[Token::Hairline].darker(140));
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        palette.setColor(QPalette::Disabled, role, t[Token::Draft]);
    }
    palette.setColor(QPalette::Disabled, QPalette::Highlight, t[Token::Hairline]);
    return palette;
}

QFont codeFont()
{
    const QString preferred = QStringLiteral("JetBrains Mono");
    QFont font = QFontDatabase::families().contains(preferred) ? QFont(preferred)
                                                               : QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setStyleHint(QFont::Monospace);
    font.setFixedPitch(true);
    font.setPointSizeF(QApplication::font().pointSizeF());
    return font;
}

ThemeManager::ThemeManager(QObject* parent) : QObject(parent), m_theme(&Theme::light())
{
    qApp->installEventFilter(this);
    apply();
}

void ThemeManager::setMode(ThemeMode mode)
{
    m_mode = mode;
    apply();
}

bool ThemeManager::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::ThemeChange && m_mode == ThemeMode::System && !m_applying) {
        m_applying = true; // several windows get the event; one look afterwards is enough
        QTimer::singleShot(0, this, [this] { apply(); });
    }
    return QObject::eventFilter(watched, event);
}

bool ThemeManager::systemIsDark()
{
    // Qt 6.4 cannot be asked for the colour scheme: without our palette the application shows the platform's.
    QApplication::setPalette(QPalette());
    const QPalette system = QApplication::palette();
    return system.color(QPalette::Window).lightness() < system.color(QPalette::WindowText).lightness();
}

void ThemeManager::apply()
{
    m_applying = true;
    const bool dark = m_mode == ThemeMode::System ? systemIsDark() : m_mode == ThemeMode::Dark;
    m_theme = dark ? &Theme::dark() : &Theme::light();
    QApplication::setPalette(m_theme->palette());
    m_applying = false;
    emit themeChanged();
}

} // namespace espalier
