// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/exchange.h"

#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace espalier {

/// A question that waits for a person: its prompt for the clipboard, and a field to paste the answer into or drop a
/// file on. The answer becomes NAME.answer.md beside the prompt's file, whole or not at all: that is where the engine
/// waits for it, so it counts although the engine is restarted meanwhile. Hidden for all other questions. Thread: GUI.
class ManualAnswer : public QWidget
{
    Q_OBJECT
public:
    explicit ManualAnswer(QWidget* parent = nullptr);
    /// nullptr: no question is looked at. What was begun stays while it is the same one.
    void setExchange(const Exchange* exchange);

private:
    void copyPrompt();
    void hand();
    void updateButton();

    QLabel* m_words;
    QPlainTextEdit* m_text;
    QPushButton* m_copy;
    QPushButton* m_hand;
    std::int64_t m_exchange = 0;
    QString m_prompt, m_promptFile;
};

} // namespace espalier
