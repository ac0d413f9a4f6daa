// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/exchange.h"

#include <QWidget>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTabWidget;

namespace espalier {

class ManualAnswer;
class Workbench;

/// The Prompt tab: every question to a model behind the selected node, with what was sent where, the answer, the
/// reasoning and the cost. The prompt can be edited and sent again. Asks for the exchanges when it is seen. Thread:
/// GUI.
class PromptPanel : public QWidget
{
    Q_OBJECT
public:
    explicit PromptPanel(Workbench& bench, QWidget* parent = nullptr);

    QPlainTextEdit* prompt() { return m_prompt; }
    QPlainTextEdit* answer() { return m_answer; }
    QPushButton* send() { return m_send; }
    QString facts() const;

protected:
    void showEvent(QShowEvent* event) override;

private:
    void askForExchanges();
    void setExchanges(const std::vector<Exchange>& exchanges);
    void showExchange(int index);
    void grow(NodeId node, qint64 exchange, const QString& text);
    void sendAgain();
    void updateSend();
    const Exchange* current() const;

    Workbench& m_bench;
    QComboBox* m_choice;
    QLabel* m_facts;
    QPlainTextEdit* m_prompt;
    ManualAnswer* m_byHand;
    QTabWidget* m_answers;
    QPlainTextEdit* m_answer;
    QPlainTextEdit* m_reasoning;
    QPlainTextEdit* m_wire;
    QPushButton* m_send;
    QPushButton* m_restore;
    QLabel* m_said;
    std::vector<Exchange> m_exchanges;
    std::optional<NodeId> m_node;
};

} // namespace espalier
