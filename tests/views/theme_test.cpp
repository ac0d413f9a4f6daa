// SPDX-License-Identifier: GPL-3.0-only
#include "views/theme.h"

#include <QFontInfo>
#include <cmath>
#include <gtest/gtest.h>

using namespace espalier;

namespace {

double luminance(const QColor& colour)
{
    const auto linear = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

double contrast(const QColor& a, const QColor& b)
{
    const double high = std::max(luminance(a), luminance(b)), low = std::min(luminance(a), luminance(b));
    return (high + 0.05) / (low + 0.05);
}

} // namespace

TEST(Theme, TextIsReadableOnEveryGround)
{
    for (const Theme* theme : {&Theme::light(), &Theme::dark()}) {
        for (const Token text :
             {Token::Text, Token::Muted, Token::Accent, Token::Passed, Token::Incorrect, Token::Suspicious,
              Token::Failed, Token::Running, Token::Draft, Token::SyntaxKeyword, Token::SyntaxCuda,
              Token::SyntaxComment, Token::SyntaxString, Token::SyntaxNumber, Token::SyntaxPreprocessor}) {
            EXPECT_GE(contrast((*theme)[text], (*theme)[Token::Background]), 4.5)
                << int(text) << (theme->isDark() ? " dark" : " light");
            EXPECT_GE(contrast((*theme)[text], (*theme)[Token::Panel]), 4.3)
                << int(text) << (theme->isDark() ? " dark" : " light");
        }
        for (const Token ground : {Token::Selection, Token::DiffAdded, Token::DiffRemoved, Token::DiffAddedWord,
                                   Token::DiffRemovedWord, Token::Heat}) {
            EXPECT_GE(contrast((*theme)[Token::Text], (*theme)[ground]), 4.5)
                << int(ground) << (theme->isDark() ? " dark" : " light");
        }
        for (const Token syntax : {Token::SyntaxKeyword, Token::SyntaxCuda, Token::SyntaxComment, Token::SyntaxString,
                                   Token::SyntaxNumber}) {
            EXPECT_GE(contrast((*theme)[syntax], (*theme)[Token::DiffAdded]), 4.0) << int(syntax);
            EXPECT_GE(contrast((*theme)[syntax], (*theme)[Token::DiffRemoved]), 4.0) << int(syntax);
        }
    }
}

TEST(Theme, ModesDressTheApplication)
{
    ThemeManager themes;
    int changes = 0;
    QObject::connect(&themes, &ThemeManager::themeChanged, &themes, [&] { ++changes; });
    themes.setMode(ThemeMode::Dark);
    EXPECT_TRUE(themes.theme().isDark());
    EXPECT_EQ(QGuiApplication::palette().color(QPalette::Base), Theme::dark()[Token::Background]);
    themes.setMode(ThemeMode::Light);
    EXPECT_EQ(QGuiApplication::palette().color(QPalette::Base), Theme::light()[Token::Background]);
    themes.setMode(ThemeMode::System); // offscreen: a light palette
    EXPECT_FALSE(themes.theme().isDark());
    EXPECT_EQ(changes, 3);
}

TEST(Fonts, ResolveToRealFamilies)
{
    // Without fonts Qt draws boxes and ends with success.
    const QFontInfo code(codeFont());
    EXPECT_FALSE(code.family().isEmpty());
    const QFontMetrics metrics(codeFont());
    EXPECT_TRUE(metrics.inFont(QLatin1Char('W')));
    EXPECT_EQ(metrics.horizontalAdvance(QStringLiteral("iiii")), metrics.horizontalAdvance(QStringLiteral("WWWW")));
}
