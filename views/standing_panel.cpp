// SPDX-License-Identifier: GPL-3.0-only
#include "views/standing_panel.h"

#include "views/format.h"
#include "views/steer_commands.h"
#include "views/workbench.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPointer>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <optional>

namespace espalier {

namespace {

QListWidget* listOf(const QString& name)
{
    auto* list = new QListWidget;
    list->setAccessibleName(name);
    list->setFrameShape(QFrame::NoFrame);
    list->setWordWrap(true);
    list->setResizeMode(QListView::Adjust);
    list->setSpacing(3);
    list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    return list;
}

QLineEdit* field(const QString& name, const QString& placeholder)
{
    auto* edit = new QLineEdit;
    edit->setAccessibleName(name);
    edit->setPlaceholderText(placeholder);
    edit->setToolTip(placeholder);
    return edit;
}

QToolButton* removing(const QString& text, const QString& tip)
{
    auto* button = new QToolButton;
    button->setText(text);
    button->setToolTip(tip);
    button->setAutoRaise(true);
    return button;
}

void fill(QListWidget* list, const QStringList& texts)
{
    const int row = list->currentRow();
    list->clear();
    for (const QString& text : texts) {
        auto* item = new QListWidgetItem(text, list);
        item->setToolTip(text);
    }
    list->setCurrentRow(std::min(row, list->count() - 1));
}

/// The place of the last such thing, from 1; nullopt: it is gone.
template <typename List, typename One>
std::optional<int> numberOf(const List& list, const One& one)
{
    const auto found = std::find(list.rbegin(), list.rend(), one);
    return found == list.rend() ? std::nullopt : std::optional(int(list.rend() - found));
}

} // namespace

StandingPanel::StandingPanel(Workbench& bench, QWidget* parent)
    : QWidget(parent), m_bench(bench), m_hints(listOf(tr("Hints"))), m_bans(listOf(tr("Bans"))),
      m_newHint(field(tr("New hint"), tr("A hint for every prompt; Enter adds it"))),
      m_banWords(field(tr("New ban"), tr("What is banned, in words: no fp16"))),
      m_banLimit(field(tr("Limit of the new ban"), tr("Limit the judge holds: fp16_instructions == 0"))),
      m_removeHint(removing(tr("Remove"), tr("Take the chosen hint out of the prompts"))),
      m_liftBan(removing(tr("Lift"), tr("Lift the chosen ban")))
{
    const auto head = [](const QString& text, QToolButton* button) {
        auto* row = new QHBoxLayout;
        row->setContentsMargins(8, 4, 4, 0);
        row->addWidget(new QLabel(text), 1);
        row->addWidget(button);
        return row;
    };
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(head(tr("Hints"), m_removeHint));
    layout->addWidget(m_hints, 1);
    auto* hint = new QVBoxLayout;
    hint->setContentsMargins(8, 4, 8, 4);
    hint->addWidget(m_newHint);
    layout->addLayout(hint);
    layout->addLayout(head(tr("Bans"), m_liftBan));
    layout->addWidget(m_bans, 1);
    auto* ban = new QVBoxLayout;
    ban->setContentsMargins(8, 4, 8, 8);
    ban->setSpacing(4);
    ban->addWidget(m_banWords);
    ban->addWidget(m_banLimit);
    layout->addLayout(ban);

    const auto onDelete = [this](QListWidget* list, QToolButton* button) {
        auto* action = new QAction(list);
        action->setShortcut(QKeySequence::Delete);
        action->setShortcutContext(Qt::WidgetShortcut);
        list->addAction(action);
        connect(action, &QAction::triggered, button, &QToolButton::click);
        connect(list, &QListWidget::currentRowChanged, this, &StandingPanel::updateEnabled);
    };
    onDelete(m_hints, m_removeHint);
    onDelete(m_bans, m_liftBan);
    connect(m_newHint, &QLineEdit::returnPressed, this, &StandingPanel::addHint);
    connect(m_banWords, &QLineEdit::returnPressed, this, &StandingPanel::addBan);
    connect(m_banLimit, &QLineEdit::returnPressed, this, &StandingPanel::addBan);
    connect(m_removeHint, &QToolButton::clicked, this, &StandingPanel::removeHint);
    connect(m_liftBan, &QToolButton::clicked, this, &StandingPanel::liftBan);
    connect(&bench, &Workbench::standingChanged, this, &StandingPanel::refresh);
    connect(&bench, &Workbench::sessionOpened, this, &StandingPanel::refresh);
    connect(&bench, &Workbench::sessionClosed, this, &StandingPanel::refresh);
    refresh();
}

void StandingPanel::refresh()
{
    QStringList hints, bans;
    for (const std::string& hint : m_bench.standing().hints) {
        hints += format::text(hint);
    }
    for (const BannedTechnique& ban : m_bench.standing().bans) {
        bans += ban.predicate.empty()
                    ? tr("%1 (said to the models only)").arg(format::text(ban.text))
                    : QStringLiteral("%1\n%2").arg(format::text(ban.text), format::text(ban.predicate));
    }
    fill(m_hints, hints);
    fill(m_bans, bans);
    updateEnabled();
}

void StandingPanel::startHint()
{
    m_newHint->setFocus();
}

void StandingPanel::startBan()
{
    m_banWords->setFocus();
}

/// Empties the fields for what is typed next. What the engine refuses comes back to be mended, unless something else
/// stands there by then; the last field gets the cursor.
EngineBridge::Answer StandingPanel::takenFrom(const QList<QLineEdit*>& fields)
{
    QStringList sent;
    for (QLineEdit* edit : fields) {
        sent += edit->text();
        edit->clear();
    }
    return [panel = QPointer(this), fields, sent](const std::optional<Error>& refusal) {
        const bool empty = panel && std::all_of(fields.begin(), fields.end(),
                                                [](const QLineEdit* edit) { return edit->text().isEmpty(); });
        if (!refusal || !empty) {
            return;
        }
        for (qsizetype i = 0; i < fields.size(); ++i) {
            fields[i]->setText(sent[i]);
        }
        fields.back()->setFocus();
    };
}

void StandingPanel::updateEnabled()
{
    const QString whyNot = m_bench.whyNotSearched();
    for (QLineEdit* edit : {m_newHint, m_banWords, m_banLimit}) {
        edit->setEnabled(whyNot.isEmpty());
        edit->setToolTip(whyNot.isEmpty() ? edit->placeholderText() : whyNot);
    }
    m_removeHint->setEnabled(whyNot.isEmpty() && m_hints->currentRow() >= 0);
    m_liftBan->setEnabled(whyNot.isEmpty() && m_bans->currentRow() >= 0);
}

void StandingPanel::addHint()
{
    const QString text = m_newHint->text().trimmed();
    if (text.isEmpty()) {
        return;
    }
    const std::string hint = text.toStdString();
    steer(
        m_bench, tr("Hint \"%1\"").arg(text), [hint] { return command::Command(command::AddHint{hint}); },
        [bench = &m_bench, hint]() -> std::optional<command::Command> {
            const auto number = numberOf(bench->standing().hints, hint);
            return number ? std::optional<command::Command>(command::RemoveHint{*number}) : std::nullopt;
        },
        takenFrom({m_newHint}));
}

void StandingPanel::removeHint()
{
    const int row = m_hints->currentRow();
    if (row < 0 || row >= int(m_bench.standing().hints.size())) {
        return;
    }
    const std::string hint = m_bench.standing().hints[std::size_t(row)];
    steer(
        m_bench, tr("Remove the hint \"%1\"").arg(format::text(hint)),
        [bench = &m_bench, hint]() -> std::optional<command::Command> {
            const auto number = numberOf(bench->standing().hints, hint);
            return number ? std::optional<command::Command>(command::RemoveHint{*number}) : std::nullopt;
        },
        [hint] { return command::Command(command::AddHint{hint}); });
}

void StandingPanel::addBan()
{
    const BannedTechnique ban{m_banWords->text().trimmed().toStdString(), m_banLimit->text().trimmed().toStdString()};
    if (ban.text.empty()) {
        return m_banWords->setFocus(); // the models are told in words
    }
    steer(
        m_bench, tr("Ban \"%1\"").arg(format::text(ban.text)),
        [ban] { return command::Command(command::Ban{ban.text, ban.predicate}); },
        [bench = &m_bench, ban]() -> std::optional<command::Command> {
            const auto& bans = bench->standing().bans;
            const auto found = std::find_if(bans.rbegin(), bans.rend(),
                                            [&](const BannedTechnique& one) { return one.text == ban.text; });
            return found == bans.rend() ? std::nullopt
                                        : std::optional<command::Command>(command::LiftBan{int(bans.rend() - found)});
        },
        takenFrom({m_banWords, m_banLimit})); // the engine reads the limit only
    m_banWords->setFocus();
}

void StandingPanel::liftBan()
{
    const int row = m_bans->currentRow();
    if (row < 0 || row >= int(m_bench.standing().bans.size())) {
        return;
    }
    const BannedTechnique ban = m_bench.standing().bans[std::size_t(row)];
    steer(
        m_bench, tr("Lift the ban \"%1\"").arg(format::text(ban.text)),
        [bench = &m_bench, ban]() -> std::optional<command::Command> {
            const auto number = numberOf(bench->standing().bans, ban);
            return number ? std::optional<command::Command>(command::LiftBan{*number}) : std::nullopt;
        },
        [ban] { return command::Command(command::Ban{ban.text, ban.predicate}); });
}

} // namespace espalier
