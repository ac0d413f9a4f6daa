// SPDX-License-Identifier: GPL-3.0-only
#include "views/diff_panel.h"

#include "views/diff_view.h"
#include "views/format.h"
#include "views/sign_icon.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QStackedLayout>
#include <QToolButton>

namespace espalier {

DiffPanel::DiffPanel(ThemeManager& themes, QWidget* parent)
    : QWidget(parent), m_themes(themes), m_job(new DiffJob(this)), m_view(new DiffView(themes)), m_summary(new QLabel),
      m_empty(new QLabel), m_blanks(new QToolButton), m_previous(new QAction(this)), m_next(new QAction(this))
{
    m_blanks->setText(tr("Ignore white space"));
    m_blanks->setCheckable(true);
    m_blanks->setAutoRaise(true);
    m_previous->setText(tr("Previous change (Shift+F7)"));
    m_previous->setShortcut(QKeySequence(Qt::SHIFT | Qt::Key_F7));
    m_next->setText(tr("Next change (F7)"));
    m_next->setShortcut(QKeySequence(Qt::Key_F7));
    connect(m_previous, &QAction::triggered, this, [this] { step(-1); });
    connect(m_next, &QAction::triggered, this, [this] { step(1); });
    connect(m_blanks, &QToolButton::toggled, this, [this] {
        m_shown.reset();
        restart();
    });
    connect(m_job, &DiffJob::finished, this, &DiffPanel::showCompared);
    connect(m_view, &DiffView::hunkChanged, this, &DiffPanel::updateBar);
    connect(&themes, &ThemeManager::themeChanged, this, &DiffPanel::updateIcons);

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(8, 4, 8, 4);
    bar->setSpacing(8);
    m_summary->setMinimumWidth(80);
    bar->addWidget(m_summary, 1);
    bar->addWidget(m_blanks);
    for (QAction* action : {m_previous, m_next}) {
        auto* button = new QToolButton(this);
        button->setDefaultAction(action);
        button->setAutoRaise(true);
        bar->addWidget(button);
        addAction(action);
    }
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setMargin(24);
    auto* page = new QWidget(this);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(m_view, 1);
    m_pages = new QStackedLayout(this);
    m_pages->addWidget(page);
    m_pages->addWidget(m_empty);
    updateIcons();
    setDetail(nullptr, {});
}

void DiffPanel::updateIcons()
{
    m_previous->setIcon(themedIcon(QStringLiteral("previous"), m_themes.theme()));
    m_next->setIcon(themedIcon(QStringLiteral("next"), m_themes.theme()));
}

void DiffPanel::setDetail(const std::shared_ptr<const NodeDetail>& detail, const QString& parentTitle)
{
    m_detail = detail;
    m_parentTitle = parentTitle;
    restart();
}

void DiffPanel::restart()
{
    const bool possible = m_detail && m_detail->parentCandidate && !m_detail->source.empty();
    if (!possible) {
        m_job->cancel();
        m_shown.reset();
        m_view->setCompared(nullptr);
        m_empty->setText(!m_detail ? tr("Select a candidate to compare it with its parent.")
                         : m_detail->summary.kind == NodeKind::Idea
                             ? tr("An idea has no source of its own: select one of its candidates to see what changed.")
                         : m_detail->source.empty() ? tr("This candidate has no source yet.")
                                                    : tr("The root has no parent to compare with."));
        m_pages->setCurrentIndex(1);
        return;
    }
    if (m_shown && m_shown->left == m_detail->parentSource && m_shown->right == m_detail->source) {
        return; // news about the node, not about its text: keep the place
    }
    const auto named = [](NodeId id, const std::string& title) { return std::to_string(id.value) + "  " + title; };
    m_job->start(m_detail->parentSource, m_detail->source,
                 named(*m_detail->parentCandidate, m_parentTitle.toStdString()),
                 named(m_detail->summary.id, m_detail->summary.title), {.ignoreWhitespace = m_blanks->isChecked()});
}

void DiffPanel::showCompared(const std::shared_ptr<const ComparedTexts>& compared)
{
    m_shown = compared;
    m_pages->setCurrentIndex(0);
    m_view->setCompared(compared);
    updateBar();
    emit this->compared();
}

void DiffPanel::updateBar()
{
    const int hunks = m_view->hunks();
    m_previous->setEnabled(hunks > 0 && m_view->currentHunk() > 0);
    m_next->setEnabled(hunks > 0 && m_view->currentHunk() + 1 < hunks);
    if (!m_shown) {
        m_summary->clear();
        return;
    }
    m_summary->setText(hunks == 0 ? tr("No difference")
                                  : tr("Change %1 of %2 · +%3 −%4 lines")
                                        .arg(m_view->currentHunk() + 1)
                                        .arg(hunks)
                                        .arg(m_shown->diff.added)
                                        .arg(m_shown->diff.removed));
}

void DiffPanel::step(int direction)
{
    m_view->showHunk(m_view->currentHunk() + direction);
}

} // namespace espalier
