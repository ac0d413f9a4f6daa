// SPDX-License-Identifier: GPL-3.0-only
#include "views/banner.h"

#include "views/sign_icon.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace espalier {

Banner::Banner(ThemeManager& themes, QWidget* parent)
    : QFrame(parent), m_themes(themes), m_icon(new QLabel), m_text(new QLabel), m_close(new QToolButton)
{
    setObjectName(QStringLiteral("banner"));
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_close->setAutoRaise(true);
    m_close->setToolTip(tr("Dismiss"));
    m_close->setAccessibleName(tr("Dismiss the message"));
    connect(m_close, &QToolButton::clicked, this, &Banner::dismiss);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 8, 8, 8);
    layout->setSpacing(8);
    layout->addWidget(m_icon);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_close);
    connect(&themes, &ThemeManager::themeChanged, this, &Banner::restyle);
    setVisible(false);
}

void Banner::say(Kind kind, const QString& sentence)
{
    m_kind = kind;
    m_text->setText(sentence);
    setAccessibleName(sentence);
    restyle();
    setVisible(true);
}

QString Banner::text() const
{
    return isHidden() ? QString() : m_text->text();
}

void Banner::restyle()
{
    const Theme& theme = m_themes.theme();
    const bool problem = m_kind == Kind::Problem;
    const Token ground = problem ? Token::DiffRemoved : Token::Selection;
    setStyleSheet(QStringLiteral("#banner { background: %1; border: 0; border-bottom: 1px solid %2; }")
                      .arg(theme[ground].name(), theme[Token::Hairline].name()));
    m_icon->setPixmap(themedIcon(problem ? QStringLiteral("problem") : QStringLiteral("note"), theme,
                                 problem ? Token::Incorrect : Token::Accent)
                          .pixmap(20, 20));
    m_close->setIcon(themedIcon(QStringLiteral("close"), theme));
}

} // namespace espalier
