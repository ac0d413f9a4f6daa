// SPDX-License-Identifier: GPL-3.0-only
#include "views/banner.h"

#include "views/sign_icon.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace espalier {

Banner::Banner(ThemeManager& themes, QWidget* parent)
    : QFrame(parent), m_themes(themes), m_icon(new QLabel), m_text(new QLabel), m_next(new QWidget),
      m_close(new QToolButton)
{
    setObjectName(QStringLiteral("banner"));
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_close->setAutoRaise(true);
    m_close->setToolTip(tr("Dismiss"));
    m_close->setAccessibleName(tr("Dismiss the message"));
    connect(m_close, &QToolButton::clicked, this, &Banner::dismiss);
    auto* buttons = new QHBoxLayout(m_next);
    buttons->setContentsMargins(0, 0, 0, 0);
    buttons->setSpacing(8);
    buttons->addStretch();
    auto* words = new QVBoxLayout;
    words->setSpacing(8);
    words->addWidget(m_text);
    words->addWidget(m_next);
    m_next->hide();
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 8, 8, 8);
    layout->setSpacing(8);
    layout->addWidget(m_icon);
    layout->addLayout(words, 1);
    layout->addWidget(m_close);
    connect(&themes, &ThemeManager::themeChanged, this, &Banner::restyle);
    setVisible(false);
}

void Banner::say(Kind kind, const QString& sentence, const QList<QAction*>& next)
{
    m_kind = kind;
    for (QPushButton* old : m_next->findChildren<QPushButton*>()) {
        old->hide();
        old->deleteLater(); // it may be the one that was clicked
    }
    auto* row = static_cast<QHBoxLayout*>(m_next->layout());
    int shown = 0;
    for (QAction* action : next) {
        if (action->isEnabled()) {
            auto* button = new QPushButton(action->text().remove(QLatin1Char('&')));
            button->setToolTip(action->toolTip());
            connect(button, &QPushButton::clicked, this, &Banner::dismiss);
            connect(button, &QPushButton::clicked, action, &QAction::trigger);
            row->insertWidget(shown++, button);
        }
    }
    m_next->setVisible(shown > 0);
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
