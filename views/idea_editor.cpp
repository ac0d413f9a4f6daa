// SPDX-License-Identifier: GPL-3.0-only
#include "views/idea_editor.h"

#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QVBoxLayout>

namespace espalier {

namespace {
constexpr int linesOfText = 5;
}

IdeaEditor::IdeaEditor(QWidget* parent) : QFrame(parent), m_title(new QLineEdit), m_text(new QPlainTextEdit)
{
    setFrameShape(QFrame::NoFrame);
    setAutoFillBackground(true);
    setFocusProxy(m_title);
    m_title->setPlaceholderText(tr("What to try, in a few words"));
    m_title->setAccessibleName(tr("Title of the idea"));
    m_text->setPlaceholderText(tr("What to change, and why it should be faster"));
    m_text->setAccessibleName(tr("Words of the idea"));
    m_text->setTabChangesFocus(true);
    m_text->setFixedHeight(m_text->fontMetrics().lineSpacing() * linesOfText + 12);
    auto* keys = new QLabel(tr("Enter: keep · Esc: leave · Shift+Enter: new line"));
    keys->setEnabled(false); // said quietly
    keys->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 4);
    layout->setSpacing(4);
    layout->addWidget(m_title);
    layout->addWidget(m_text);
    layout->addWidget(keys);
    m_title->installEventFilter(this);
    m_text->installEventFilter(this);
}

void IdeaEditor::setWords(const IdeaWords& words)
{
    if (!m_filled) {
        m_filled = true;
        m_before = words;
        m_title->setText(words.title);
        m_text->setPlainText(words.text);
    }
}

IdeaEdit IdeaEditor::edit() const
{
    return {m_before, {m_title->text().trimmed(), m_text->toPlainText().trimmed(), m_before.parent}};
}

bool IdeaEditor::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
        if (key->key() == Qt::Key_Escape) {
            emit cancelled();
            return true;
        }
        if (enter && !(key->modifiers() & Qt::ShiftModifier)) {
            if (edit().after.title.isEmpty()) {
                m_title->setFocus(); // an idea has a title
            } else {
                emit committed();
            }
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace espalier
