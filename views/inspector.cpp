// SPDX-License-Identifier: GPL-3.0-only
#include "views/inspector.h"

#include "views/diagnosis_text.h"
#include "views/diff_panel.h"
#include "views/format.h"
#include "views/profile_panel.h"
#include "views/prompt_panel.h"
#include "views/scrolling.h"
#include "views/sentence.h"
#include "views/sign_label.h"
#include "views/source_panel.h"
#include "views/stages_model.h"
#include "views/workbench.h"

#include <QDateTime>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTabWidget>
#include <QTextBrowser>
#include <QTreeView>
#include <QVBoxLayout>

namespace espalier {

namespace {

/// "branch budget 3/12 evals, USD 0.25/1.50".
QString branchWords(const NodeSummary& node)
{
    const BranchBudget& budget = node.budget;
    const BranchSpending& spent = node.branchSpent;
    QStringList parts;
    if (budget.evaluations) {
        parts += Inspector::tr("%1/%2 evals").arg(spent.evaluations).arg(*budget.evaluations);
    }
    if (budget.tokens) {
        parts += Inspector::tr("%1/%2 tokens").arg(spent.tokens).arg(*budget.tokens);
    }
    if (budget.usd) {
        parts += Inspector::tr("USD %1/%2").arg(spent.usd, 0, 'f', 2).arg(*budget.usd, 0, 'f', 2);
    }
    if (budget.seconds) {
        parts += Inspector::tr("%1 of %2 of the device")
                     .arg(format::seconds(spent.seconds), format::seconds(*budget.seconds));
    }
    return Inspector::tr("branch budget %1").arg(parts.join(QStringLiteral(", ")));
}

/// Why the search chose it, as one sentence; empty: nobody did.
QString whySentence(const NodeDetail& detail)
{
    QString why = format::text(detail.why);
    if (why.isEmpty()) {
        return detail.summary.proposer == "engineer" ? Inspector::tr("Added by the engineer.") : QString();
    }
    return (detail.summary.kind == NodeKind::Idea ? Inspector::tr("Why it was asked for: %1.")
                                                  : Inspector::tr("Why it was chosen: %1."))
        .arg(why);
}

void enlarge(QLabel* label, double factor)
{
    QFont font = label->font();
    font.setPointSizeF(font.pointSizeF() * factor);
    label->setFont(font);
}

} // namespace

Inspector::Inspector(Workbench& bench, QWidget* parent)
    : QWidget(parent), m_bench(bench), m_sign(new SignLabel(bench.themes())), m_title(new QLabel),
      m_sentence(new QLabel), m_facts(new QLabel), m_diagnosis(new QLabel), m_tabs(new QTabWidget), m_why(new QLabel),
      m_idea(new QTextBrowser), m_diff(new DiffPanel(bench.themes())), m_source(new SourcePanel(bench)),
      m_profile(new ProfilePanel(bench.themes())), m_stages(new QTreeView),
      m_stagesModel(new StagesModel(bench.themes(), this)), m_prompt(new PromptPanel(bench))
{
    enlarge(m_sentence, 1.15);
    for (QLabel* label : {m_title, m_sentence, m_facts, m_why}) {
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    m_sentence->setAccessibleName(tr("Verdict"));
    m_why->setAccessibleName(tr("Why it was chosen"));
    m_why->setContentsMargins(12, 8, 12, 0);
    m_why->setForegroundRole(QPalette::WindowText); // on the ground of a text it would take the text's colour
    m_diagnosis->setTextFormat(Qt::RichText);
    m_diagnosis->setWordWrap(true);
    m_diagnosis->setTextInteractionFlags(Qt::TextBrowserInteraction);
    m_diagnosis->setAccessibleName(tr("Diagnosis"));
    connect(m_diagnosis, &QLabel::linkActivated, this, &Inspector::follow);
    connect(m_profile, &ProfilePanel::lineWanted, this,
            [this](int line) { follow(QStringLiteral("line:%1").arg(line)); });
    m_idea->setFrameShape(QFrame::NoFrame);
    m_idea->document()->setDocumentMargin(12);
    m_idea->setAccessibleName(tr("Idea"));
    m_stages->setModel(m_stagesModel);
    m_stages->setFrameShape(QFrame::NoFrame);
    m_stages->setRootIsDecorated(true);
    m_stages->setUniformRowHeights(true);
    m_stages->setAllColumnsShowFocus(true);
    m_stages->setAccessibleName(tr("Stage records"));
    m_stages->header()->setSectionResizeMode(StagesModel::Name, QHeaderView::ResizeToContents);
    m_stages->header()->setSectionResizeMode(StagesModel::Value, QHeaderView::Stretch);
    m_stages->header()->setSectionResizeMode(StagesModel::Seconds, QHeaderView::ResizeToContents);
    m_stages->header()->setStretchLastSection(false);

    m_tabs->setDocumentMode(true);
    auto* idea = new QWidget;
    idea->setAutoFillBackground(true);
    idea->setBackgroundRole(QPalette::Base);
    auto* words = new QVBoxLayout(idea);
    words->setContentsMargins(0, 0, 0, 0);
    words->setSpacing(0);
    words->addWidget(m_why);
    words->addWidget(m_idea, 1);
    m_tabs->addTab(idea, tr("Idea"));
    m_tabs->addTab(scrolling(m_diff), tr("Diff"));
    m_tabs->addTab(scrolling(m_source), tr("Source"));
    m_tabs->addTab(scrolling(m_profile), tr("Profile"));
    m_tabs->addTab(m_stages, tr("Stages"));
    m_tabs->addTab(scrolling(m_prompt), tr("Prompt"));

    auto* titleRow = new QHBoxLayout;
    titleRow->setSpacing(8);
    titleRow->addWidget(m_sign, 0, Qt::AlignTop);
    titleRow->addWidget(m_title, 1);
    auto* head = new QVBoxLayout;
    head->setContentsMargins(12, 12, 12, 8);
    head->setSpacing(4);
    head->addWidget(m_sentence);
    head->addLayout(titleRow);
    head->addWidget(m_facts);
    head->addWidget(m_diagnosis);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(head);
    layout->addWidget(m_tabs, 1);

    connect(&bench, &Workbench::selectionChanged, this, [this] {
        updateHead();
        updateDetail();
    });
    connect(&bench, &Workbench::detailChanged, this, [this](NodeId node) {
        if (node == m_bench.selected()) {
            updateDetail();
        }
    });
    connect(&bench.nodes(), &NodeStore::updated, this, &Inspector::updateHead);
    connect(&bench.nodes(), &NodeStore::statusChanged, this, &Inspector::updateHead);
    connect(&bench, &Workbench::planChanged, this, &Inspector::updateHead);
    connect(&bench.themes(), &ThemeManager::themeChanged, this, [this] {
        updateHead();
        m_stages->expandAll();
        showDiagnosis();
    });
    updateHead();
    updateDetail();
}

QString Inspector::sentence() const
{
    return m_sentence->text();
}

void Inspector::showTab(Tab tab)
{
    m_tabs->setCurrentIndex(tab);
}

/// For what waits: how much is before it, and that nothing moves while the search does not run. With a blank before it.
QString Inspector::whenItsTurnComes(const NodeSummary& node) const
{
    if (node.kind == NodeKind::Idea || node.state != NodeState::Queued || !m_bench.whyNotSearched().isEmpty()) {
        return {};
    }
    int before = 0;
    bool planned = false;
    for (const PlannedStep& step : m_bench.plan().steps) {
        planned = step.node == node.id;
        if (planned) {
            break;
        }
        before += step.kind == PlannedStep::Running || step.kind == PlannedStep::Queued ? 1 : 0;
    }
    QString words;
    if (planned) {
        words = before == 0   ? tr(" It is the next one.")
                : before == 1 ? tr(" One other comes before it.")
                              : tr(" %1 others come before it.").arg(before);
    }
    return m_bench.isSearching()
               ? words
               : words + tr(" The search does not run: Run (F5) goes on, Step (F10) judges the next one.");
}

void Inspector::updateHead()
{
    const int index = m_bench.selectedIndex();
    if (index < 0) {
        m_sign->clear();
        m_title->clear();
        m_facts->clear();
        m_sentence->setText(m_bench.session() ? tr("Select a node to see what became of it.")
                                              : tr("No session is open."));
        return;
    }
    const NodeSummary& node = m_bench.nodes().at(index);
    const bool best = index == m_bench.nodes().bestIndex();
    m_sign->setLook(lookOf(node, best));
    m_sentence->setText(
        sentenceFor(node, node.kind == NodeKind::Idea ? m_bench.nodes().resultOf(index) : IdeaResult()) +
        whenItsTurnComes(node));
    m_title->setText(QStringLiteral("%1  %2").arg(node.id.value).arg(format::text(node.title)));
    QStringList facts{format::kind(node.kind)};
    if (!node.proposer.empty() && node.kind != NodeKind::Root) {
        facts += tr("by %1").arg(format::text(node.proposer));
    }
    if (best) {
        facts += tr("best so far");
    }
    if (node.timeUs) {
        facts += format::withBounds(format::time(node.timeUs->value, node.provenance.value_or(Provenance::Model)),
                                    *node.timeUs);
    }
    if (node.provenance) {
        facts += format::provenance(*node.provenance);
    }
    if (node.tokens > 0) {
        facts += node.usd ? tr("%1 tokens, %2 USD").arg(node.tokens).arg(*node.usd, 0, 'f', 4)
                          : tr("%1 tokens").arg(node.tokens);
    }
    if (node.pinned) {
        facts += tr("pinned");
    }
    if (node.boost != 1) {
        facts += tr("boost %1×").arg(node.boost);
    }
    if (!node.budget.none()) {
        facts += branchWords(node);
    }
    if (node.pruned) {
        facts += tr("pruned");
    }
    if (!node.banned.empty()) {
        facts += tr("banned");
    }
    m_facts->setText(facts.join(QStringLiteral(" · ")));
    QPalette muted = m_facts->palette();
    muted.setColor(QPalette::WindowText, m_bench.theme()[Token::Muted]);
    m_facts->setPalette(muted);
}

void Inspector::updateDetail()
{
    const auto selected = m_bench.selected();
    if (!selected) {
        return showDetail(nullptr);
    }
    if (const auto detail = m_bench.detail(*selected)) {
        showDetail(detail);
    } else if (m_shown && m_shown->summary.id != *selected) {
        m_diagnosis->hide();
        showIdea(nullptr); // another node's words must not stand under this one's name
    }
}

void Inspector::showDetail(const std::shared_ptr<const NodeDetail>& detail)
{
    m_shown = detail;
    showIdea(detail.get());
    const int parent = detail && detail->parentCandidate ? m_bench.nodes().indexOf(*detail->parentCandidate) : -1;
    m_diff->setDetail(detail, parent >= 0 ? format::text(m_bench.nodes().at(parent).title) : QString());
    m_source->setDetail(detail);
    m_profile->setDetail(detail);
    showDiagnosis();
    m_stagesModel->setDetail(detail && detail->summary.kind != NodeKind::Idea ? detail : nullptr);
    m_stages->expandAll();
}

QString Inspector::diagnosis() const
{
    return m_diagnosis->isHidden() ? QString() : m_diagnosis->text();
}

void Inspector::showDiagnosis()
{
    const bool candidate = m_shown && m_shown->summary.kind != NodeKind::Idea;
    const QString card = candidate ? diagnosisCard(*m_shown, m_bench.theme()) : QString();
    m_diagnosis->setText(card);
    m_diagnosis->setVisible(!card.isEmpty());
}

/// A link of a diagnosis: to a line of the source, or to all findings.
void Inspector::follow(const QString& link)
{
    if (link.startsWith(QStringLiteral("line:"))) {
        showTab(Source);
        m_source->goToLine(link.mid(5).toInt());
    } else {
        showTab(Profile);
    }
}

QString Inspector::why() const
{
    return m_why->isHidden() ? QString() : m_why->text();
}

void Inspector::showIdea(const NodeDetail* detail)
{
    m_why->setText(detail ? whySentence(*detail) : QString());
    m_why->setHidden(m_why->text().isEmpty());
    QPalette muted = m_why->palette();
    muted.setColor(QPalette::WindowText, m_bench.theme()[Token::Muted]);
    m_why->setPalette(muted);
    if (!detail) {
        m_idea->clear();
        return;
    }
    if (detail->ideaText.empty()) {
        m_idea->setPlainText(detail->summary.kind == NodeKind::Root
                                 ? tr("The task's own kernel: no idea stands behind it.")
                                 : tr("No idea was recorded for this node."));
        return;
    }
    m_idea->setMarkdown(format::text(detail->ideaText));
}

void Inspector::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_shown) {
        showIdea(m_shown.get()); // a document keeps the colours it was made with
    }
}

} // namespace espalier
