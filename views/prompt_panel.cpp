// SPDX-License-Identifier: GPL-3.0-only
#include "views/prompt_panel.h"

#include "views/format.h"
#include "views/manual_answer.h"
#include "views/workbench.h"

#include <QComboBox>
#include <QFontDatabase>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>

namespace espalier {

namespace {

QPlainTextEdit* textField(const QString& name, bool readOnly)
{
    auto* field = new QPlainTextEdit;
    field->setReadOnly(readOnly);
    field->setAccessibleName(name);
    field->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    field->setFrameShape(QFrame::NoFrame);
    field->setTabChangesFocus(true);
    return field;
}

QString purposeWords(const std::string& purpose)
{
    if (purpose == "idea") {
        return PromptPanel::tr("Ideas");
    }
    if (purpose == "implement") {
        return PromptPanel::tr("Kernel");
    }
    if (purpose == "repair") {
        return PromptPanel::tr("Repair");
    }
    return purpose == "crossover" ? PromptPanel::tr("Crossover") : format::text(purpose);
}

QString stateWords(const Exchange& exchange)
{
    switch (exchange.state) {
    case Exchange::State::Sent:
        return PromptPanel::tr("under way");
    case Exchange::State::Answered:
        return exchange.finish == "complete" ? PromptPanel::tr("answered") : format::text(exchange.finish);
    case Exchange::State::Failed:
        return PromptPanel::tr("failed");
    case Exchange::State::Lost:
        return PromptPanel::tr("lost");
    }
    return {};
}

QString costWords(const Exchange& exchange)
{
    const auto count = [](std::int64_t tokens) { return tokens < 0 ? QStringLiteral("?") : QString::number(tokens); };
    const QString money =
        exchange.usd ? PromptPanel::tr("%1 USD").arg(*exchange.usd, 0, 'f', 4) : PromptPanel::tr("price unknown");
    return PromptPanel::tr("%1 tokens in (%2 cached), %3 out (%4 reasoning), %5")
        .arg(count(exchange.tokens.input), count(exchange.tokens.cachedInput), count(exchange.tokens.output),
             count(exchange.tokens.reasoning), money);
}

/// "task, contract, parent; not sent: attachments (the provider's rule …)"
QString partsWords(const Exchange& exchange)
{
    QStringList sent, left;
    for (const PromptPart& part : exchange.parts) {
        QString words = format::text(part.channel);
        for (const std::string& file : part.files) {
            words += QStringLiteral(" %1").arg(format::text(file));
        }
        if (!part.note.empty()) {
            words += QStringLiteral(" (%1)").arg(format::text(part.note));
        }
        (part.sent ? sent : left) += words;
    }
    QString line = PromptPanel::tr("Sent: %1").arg(sent.join(QStringLiteral(", ")));
    if (!left.isEmpty()) {
        line += PromptPanel::tr("\nNot sent: %1").arg(left.join(QStringLiteral(", ")));
    }
    return line;
}

QString factsOf(const Exchange& exchange)
{
    const std::string& where = exchange.url.empty() ? exchange.provider : exchange.url;
    QStringList lines{PromptPanel::tr("To %1, model %2").arg(format::text(where), format::text(exchange.model)),
                      partsWords(exchange), costWords(exchange)};
    if (!exchange.reason.empty()) {
        lines += format::text(exchange.reason);
    }
    for (const std::string& note : exchange.notes) {
        lines += format::text(note);
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace

PromptPanel::PromptPanel(Workbench& bench, QWidget* parent)
    : QWidget(parent), m_bench(bench), m_choice(new QComboBox), m_facts(new QLabel),
      m_prompt(textField(tr("Prompt"), false)), m_byHand(new ManualAnswer), m_answers(new QTabWidget),
      m_answer(textField(tr("Answer"), true)), m_reasoning(textField(tr("Reasoning"), true)),
      m_wire(textField(tr("Request"), true)), m_send(new QPushButton(tr("Send again"))),
      m_restore(new QPushButton(tr("Restore"))), m_said(new QLabel)
{
    m_choice->setAccessibleName(tr("Question"));
    m_facts->setTextFormat(Qt::PlainText);
    m_facts->setWordWrap(true);
    m_facts->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_said->setTextFormat(Qt::PlainText);
    m_said->setWordWrap(true);
    m_restore->setToolTip(tr("The prompt as it was sent"));
    m_answers->setDocumentMode(true);
    m_answers->addTab(m_answer, tr("Answer"));
    m_answers->addTab(m_reasoning, tr("Reasoning"));
    m_answers->addTab(m_wire, tr("Request"));

    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(12, 4, 12, 8);
    buttons->addWidget(m_said, 1);
    buttons->addWidget(m_restore);
    buttons->addWidget(m_send);
    auto* upper = new QWidget;
    auto* upperLayout = new QVBoxLayout(upper);
    upperLayout->setContentsMargins(0, 0, 0, 0);
    upperLayout->setSpacing(4);
    upperLayout->addWidget(m_prompt, 1);
    upperLayout->addLayout(buttons);
    auto* split = new QSplitter(Qt::Vertical);
    split->setChildrenCollapsible(false);
    split->addWidget(upper);
    split->addWidget(m_byHand);
    split->addWidget(m_answers);
    auto* head = new QVBoxLayout;
    head->setContentsMargins(12, 8, 12, 8);
    head->setSpacing(8);
    head->addWidget(m_choice);
    head->addWidget(m_facts);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(head);
    layout->addWidget(split, 1);

    connect(m_choice, &QComboBox::currentIndexChanged, this, &PromptPanel::showExchange);
    connect(m_send, &QPushButton::clicked, this, &PromptPanel::sendAgain);
    connect(m_restore, &QPushButton::clicked, this, [this] { showExchange(m_choice->currentIndex()); });
    connect(m_prompt, &QPlainTextEdit::textChanged, this, &PromptPanel::updateSend);
    connect(&bench, &Workbench::selectionChanged, this, &PromptPanel::askForExchanges);
    connect(&bench, &Workbench::detailChanged, this, [this](NodeId node) {
        if (node == m_node) {
            askForExchanges();
        }
    });
    connect(&bench, &Workbench::sessionClosed, this, [this] {
        m_node.reset();
        setExchanges({});
    });
    connect(&bench.bridge(), &EngineBridge::exchangesArrived, this,
            [this](NodeId node, const std::vector<Exchange>& exchanges) {
                if (node == m_node) {
                    setExchanges(exchanges);
                }
            });
    connect(&bench.bridge(), &EngineBridge::answerGrew, this, &PromptPanel::grow);
    setExchanges({});
}

QString PromptPanel::facts() const
{
    return m_facts->text();
}

void PromptPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    askForExchanges();
}

void PromptPanel::askForExchanges()
{
    const auto selected = m_bench.selected();
    if (selected != m_node) {
        m_node = selected;
        setExchanges({});
    }
    if (m_node && isVisible()) {
        m_bench.bridge().send(command::FetchExchanges{*m_node});
    }
}

/// What the user has begun to write stays while the same question is looked at.
void PromptPanel::setExchanges(const std::vector<Exchange>& exchanges)
{
    const Exchange* before = current();
    const std::int64_t kept = before ? before->id : 0;
    const bool edited = before && m_prompt->toPlainText() != format::text(before->prompt);
    const QString draft = m_prompt->toPlainText();
    m_exchanges = exchanges;
    const QSignalBlocker quiet(m_choice);
    m_choice->clear();
    int index = static_cast<int>(m_exchanges.size()) - 1;
    for (int i = 0; i < static_cast<int>(m_exchanges.size()); ++i) {
        const Exchange& exchange = m_exchanges[static_cast<std::size_t>(i)];
        m_choice->addItem(tr("%1. %2 · %3 · %4")
                              .arg(exchange.id)
                              .arg(purposeWords(exchange.purpose), format::text(exchange.model), stateWords(exchange)));
        index = exchange.id == kept ? i : index;
    }
    m_choice->setCurrentIndex(index);
    m_choice->setEnabled(!m_exchanges.empty());
    showExchange(index);
    if (edited && current() && current()->id == kept) {
        m_prompt->setPlainText(draft);
    }
}

const Exchange* PromptPanel::current() const
{
    const int index = m_choice->currentIndex();
    return index >= 0 && index < static_cast<int>(m_exchanges.size()) ? &m_exchanges[static_cast<std::size_t>(index)]
                                                                      : nullptr;
}

void PromptPanel::showExchange(int)
{
    const Exchange* exchange = current();
    m_said->clear();
    m_byHand->setExchange(exchange);
    if (!exchange) {
        m_facts->setText(m_node ? tr("No model was asked about this node.")
                                : tr("Select a node to see what models were asked."));
        for (QPlainTextEdit* field : {m_prompt, m_answer, m_reasoning, m_wire}) {
            field->clear();
        }
        return updateSend();
    }
    m_facts->setText(factsOf(*exchange));
    m_prompt->setPlainText(format::text(exchange->prompt));
    m_answer->setPlainText(format::text(exchange->answer));
    m_reasoning->setPlainText(format::text(exchange->reasoning));
    m_wire->setPlainText(format::text(exchange->request));
    m_answers->setTabEnabled(1, !exchange->reasoning.empty());
    updateSend();
}

void PromptPanel::grow(NodeId node, qint64 exchange, const QString& text)
{
    const Exchange* shown = current();
    if (node != m_node || !shown || shown->id != exchange) {
        return;
    }
    QTextCursor end(m_answer->document());
    end.movePosition(QTextCursor::End);
    end.insertText(text);
}

void PromptPanel::updateSend()
{
    const Exchange* exchange = current();
    const bool edited = exchange && m_prompt->toPlainText() != format::text(exchange->prompt);
    m_prompt->setReadOnly(!exchange);
    const QString whyNot = m_bench.whyNotSearched();
    m_send->setEnabled(exchange && whyNot.isEmpty() && !m_prompt->toPlainText().trimmed().isEmpty());
    m_send->setToolTip(
        whyNot.isEmpty() ? tr("Sends the prompt as it stands above; the answer becomes a node of its own") : whyNot);
    m_restore->setEnabled(edited);
}

void PromptPanel::sendAgain()
{
    const Exchange* exchange = current();
    if (!exchange || !m_node) {
        return;
    }
    const bool ideas = exchange->purpose == "idea";
    // Ideas belong to the kernel that they were asked for, wherever their question is looked at.
    m_bench.bridge().send(command::Ask{ideas ? exchange->node : *m_node, m_prompt->toPlainText().toStdString(), ideas},
                          [said = QPointer(m_said)](const std::optional<Error>& refusal) {
                              if (said && !refusal) {
                                  said->setText(tr("It is sent when the session runs."));
                              }
                          });
}

} // namespace espalier
