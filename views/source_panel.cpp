// SPDX-License-Identifier: GPL-3.0-only
#include "views/source_panel.h"

#include "views/code_marks.h"
#include "views/code_pane.h"
#include "views/code_view.h"
#include "views/format.h"
#include "views/line_columns.h"
#include "views/sign_icon.h"
#include "views/workbench.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QShortcut>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <Qsci/qscistyle.h>
#include <algorithm>
#include <map>

namespace espalier {

SourcePanel::SourcePanel(Workbench& bench, QWidget* parent)
    : QWidget(parent), m_bench(bench), m_panes(new QSplitter(Qt::Horizontal)),
      m_source(new CodePane(bench.themes(), tr("Source"), CodeLanguage::Cuda)),
      m_ptx(new CodePane(bench.themes(), tr("PTX"), CodeLanguage::Assembly)),
      m_sass(new CodePane(bench.themes(), tr("Machine code (SASS)"), CodeLanguage::Assembly)),
      m_code(&m_source->view()), m_find(new QLineEdit(this)), m_found(new QLabel(this)), m_hot(new QLabel(this)),
      m_nextHot(new QAction(tr("Next hottest line"), this)),
      m_previousHot(new QAction(tr("Previous hottest line"), this)), m_ptxShown(new QAction(tr("PTX"), this)),
      m_sassShown(new QAction(tr("SASS"), this))
{
    m_code->setAccessibleName(tr("Source of the selected node"));
    m_code->setAnnotationDisplay(QsciScintilla::AnnotationStandard);
    auto* bar = new QHBoxLayout;
    buildBar(bar);
    for (CodePane* pane : {m_source, m_ptx, m_sass}) {
        m_panes->addWidget(pane);
        m_panes->setStretchFactor(m_panes->count() - 1, 1);
    }
    m_panes->setChildrenCollapsible(false);
    m_panes->setHandleWidth(3);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(m_panes, 1);

    auto* focusFind = new QShortcut(QKeySequence::Find, this);
    focusFind->setContext(Qt::WidgetWithChildrenShortcut);
    connect(focusFind, &QShortcut::activated, this, &SourcePanel::startFind);
    connect(m_code, &CodeView::themeApplied, this, &SourcePanel::annotate);
    connect(m_source, &CodePane::lineChosen, this, &SourcePanel::linkFromSource);
    connect(m_ptx, &CodePane::lineChosen, this, [this](int line) {
        if (m_listings) {
            linkFromListing(*m_ptx, m_listings->ptx.lines, line);
        }
    });
    connect(m_sass, &CodePane::lineChosen, this, [this](int line) {
        if (m_listings) {
            linkFromListing(*m_sass, m_listings->sass.lines, line);
        }
    });
    connect(&bench, &Workbench::listingsChanged, this, [this](NodeId node) {
        if (m_detail && m_detail->summary.id == node) {
            updateListings();
        }
    });
    showListings(false);
    resetHot();
}

void SourcePanel::buildBar(QHBoxLayout* bar)
{
    m_find->setPlaceholderText(tr("Find in source (Ctrl+F)"));
    m_find->setClearButtonEnabled(true);
    m_find->setAccessibleName(tr("Find in source"));
    connect(m_find, &QLineEdit::textChanged, this, [this] {
        markAll();
        m_code->setCursorPosition(0, 0);
        find(true);
    });
    connect(m_find, &QLineEdit::returnPressed, this,
            [this] { find(!(QApplication::keyboardModifiers() & Qt::ShiftModifier)); });
    m_nextHot->setShortcut(QKeySequence(Qt::Key_F8));
    m_previousHot->setShortcut(QKeySequence(Qt::SHIFT | Qt::Key_F8));
    connect(m_nextHot, &QAction::triggered, this, [this] { stepHot(1); });
    connect(m_previousHot, &QAction::triggered, this, [this] { stepHot(-1); });
    const auto icons = [this] {
        m_previousHot->setIcon(themedIcon(QStringLiteral("previous"), m_bench.theme()));
        m_nextHot->setIcon(themedIcon(QStringLiteral("next"), m_bench.theme()));
    };
    connect(&m_bench.themes(), &ThemeManager::themeChanged, this, icons);
    icons();
    bar->setContentsMargins(8, 4, 8, 4);
    bar->setSpacing(8);
    bar->addWidget(m_find, 1);
    bar->addWidget(m_found);
    bar->addWidget(m_hot);
    for (QAction* action : {m_previousHot, m_nextHot}) {
        auto* button = new QToolButton(this);
        button->setDefaultAction(action);
        button->setAutoRaise(true);
        bar->addWidget(button);
    }
    for (QAction* action : {m_ptxShown, m_sassShown}) {
        action->setCheckable(true);
        connect(action, &QAction::toggled, this, &SourcePanel::updateListings);
        auto* button = new QToolButton(this);
        button->setDefaultAction(action);
        button->setAutoRaise(true);
        bar->addWidget(button);
    }
    m_ptxShown->setToolTip(tr("Show the PTX beside the source"));
    m_sassShown->setToolTip(tr("Show the machine code beside the source"));
    auto* copy = new QToolButton(this);
    copy->setText(tr("Copy source"));
    copy->setAutoRaise(true);
    connect(copy, &QToolButton::clicked, this, &SourcePanel::copySource);
    bar->addWidget(copy);
}

void SourcePanel::setDetail(const std::shared_ptr<const NodeDetail>& detail)
{
    const bool sameNode = detail && m_detail && detail->summary.id == m_detail->summary.id;
    const bool sameText = sameNode && detail->source == m_detail->source;
    m_detail = detail;
    if (!sameText) {
        m_source->setText(detail ? format::text(detail->source) : QString(), sameNode);
    }
    if (m_listings && (!detail || m_listings->node != detail->summary.id)) {
        m_listings.reset();
    }
    showFigures();
    m_source->setNote(!detail || detail->source.empty()                 ? QString()
                      : !detail->evaluation.profile                     ? tr("not profiled: no figures by line")
                      : m_source->columns().figures().hottest().empty() ? tr("no samples by line were taken")
                                                                        : QString());
    resetHot();
    annotate();
    markAll();
    updateListings();
}

void SourcePanel::showFigures()
{
    m_source->setFigures(m_detail ? sourceFigures(*m_detail, m_code->lines(), m_listings.get()) : LineFigures());
}

void SourcePanel::showListings(bool shown)
{
    m_ptxShown->setChecked(shown);
    m_sassShown->setChecked(shown);
    updateListings();
    m_panes->setSizes({4000, 3000, 3500}); // in proportion
}

void SourcePanel::goToLine(int line)
{
    m_source->goTo(line - 1);
    linkFromSource(line - 1);
}

void SourcePanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    updateListings();
}

void SourcePanel::updateListings()
{
    m_ptx->setVisible(m_ptxShown->isChecked());
    m_sass->setVisible(m_sassShown->isChecked());
    const bool wanted = isVisible() && (m_ptxShown->isChecked() || m_sassShown->isChecked());
    const bool code = m_detail && m_detail->summary.kind != NodeKind::Idea && !m_detail->source.empty();
    if (!code) {
        m_listings.reset();
        for (CodePane* pane : {m_ptx, m_sass}) {
            pane->setMissing(tr("Select a candidate to see what the compiler made of it."));
        }
        return;
    }
    if (!wanted) {
        return;
    }
    const auto listings = m_bench.listings(m_detail->summary.id);
    if (listings && listings == m_listings) {
        m_sass->setFigures(sassFigures(*m_detail, listings->sass.lines)); // samples may have come since
        return;
    }
    const bool stale = !listings && m_listings && m_listings->node == m_detail->summary.id;
    if (stale) {
        return; // the old ones stay until the new ones are there
    }
    m_listings = listings;
    if (!listings) {
        for (CodePane* pane : {m_ptx, m_sass}) {
            pane->setMissing(tr("Reading…"));
        }
        return;
    }
    fill(*m_ptx, listings->ptx);
    fill(*m_sass, listings->sass);
    m_sass->setFigures(sassFigures(*m_detail, listings->sass.lines));
    showFigures();
    int line = 0, column = 0;
    m_code->getCursorPosition(&line, &column);
    linkFromSource(line);
}

void SourcePanel::fill(CodePane& pane, const Listing& listing)
{
    if (!listing.missing.empty()) {
        pane.setMissing(format::text(listing.missing));
        return;
    }
    std::string text;
    for (const ListingLine& line : listing.lines) {
        text += line.text;
        text += '\n';
    }
    pane.setText(format::text(text));
    pane.setNote(QString());
}

void SourcePanel::linkFromSource(int line)
{
    m_source->setNote(QString());
    markLine(line + 1, m_source);
}

void SourcePanel::linkFromListing(CodePane& pane, const std::vector<ListingLine>& lines, int line)
{
    if (line < 0 || line >= int(lines.size())) {
        return;
    }
    const std::vector<ListingPlace>& chain = lines[std::size_t(line)].chain;
    const auto own = ownLine(chain);
    m_source->setNote(chain.empty() ? QString() : chainText(chain)); // inlined code: from where to where
    if (own) {
        markLine(*own, &pane);
    }
}

/// Marks in every pane what belongs to one line of the source (1-based); scrolls the others there.
void SourcePanel::markLine(int line, CodePane* origin)
{
    m_source->markLinked({line - 1}, origin != m_source);
    const auto mark = [&](CodePane& pane, const std::vector<ListingLine>& lines) {
        std::vector<int> found;
        int instructions = 0;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const auto& chain = lines[i].chain;
            const bool here =
                lines[i].instruction && std::any_of(chain.begin(), chain.end(), [&](const ListingPlace& place) {
                    return place.line == line && ownLine({place}).has_value();
                });
            if (here) {
                found.push_back(int(i));
                ++instructions;
            }
        }
        pane.markLinked(found, &pane != origin);
        pane.setNote(instructions == 0 ? tr("line %1: no instructions").arg(line)
                                       : tr("line %1: %2 instructions").arg(line).arg(instructions));
    };
    if (m_listings) {
        if (m_listings->ptx.missing.empty()) {
            mark(*m_ptx, m_listings->ptx.lines);
        }
        if (m_listings->sass.missing.empty()) {
            mark(*m_sass, m_listings->sass.lines);
        }
    }
}

void SourcePanel::resetHot()
{
    m_hottest = m_source->columns().figures().hottest();
    m_hotIndex = -1;
    m_hot->setText({});
    const bool any = !m_hottest.empty();
    m_nextHot->setEnabled(any);
    m_previousHot->setEnabled(any);
    const QString why = any ? QString() : tr(" — there are no samples by line");
    m_nextHot->setToolTip(tr("To the next hottest line (F8)") + why);
    m_previousHot->setToolTip(tr("To the line before in heat (Shift+F8)") + why);
}

void SourcePanel::stepHot(int step)
{
    if (m_hottest.empty()) {
        return;
    }
    m_hotIndex = std::clamp(m_hotIndex + step, 0, int(m_hottest.size()) - 1);
    const int line = m_hottest[std::size_t(m_hotIndex)];
    m_source->goTo(line);
    linkFromSource(line);
    const LineRow& row = m_source->columns().figures().rows.at(line);
    m_hot->setText(tr("%1 of %2 · line %3 · %4")
                       .arg(m_hotIndex + 1)
                       .arg(m_hottest.size())
                       .arg(line + 1)
                       .arg(row.cells.front() ? row.cells.front()->text : QString()));
}

/// The compiler's messages stand below the lines they are about.
void SourcePanel::annotate()
{
    m_code->clearAnnotations();
    m_code->markerDeleteAll(marks::ErrorLine);
    m_code->markerDeleteAll(marks::ErrorSign);
    m_code->setMarginWidth(marks::SymbolMargin, 0);
    if (!m_detail || !m_detail->evaluation.build) {
        return;
    }
    std::map<int, QStringList> byLine;
    for (const CompileMessage& message : m_detail->evaluation.build->messages) {
        if (message.line >= 1 && message.line <= m_code->lines()) {
            byLine[message.line - 1] +=
                QStringLiteral("%1%2").arg(message.error ? tr("error: ") : tr("warning: "), format::text(message.text));
            if (message.error) {
                m_code->markerAdd(message.line - 1, marks::ErrorLine);
                m_code->markerAdd(message.line - 1, marks::ErrorSign);
            }
        }
    }
    const Theme& theme = m_bench.theme();
    const QsciStyle style(marks::MessageStyle, QStringLiteral("message"), theme[Token::Incorrect], theme[Token::Panel],
                          m_code->font(), true);
    for (const auto& [line, texts] : byLine) {
        m_code->annotate(line, QStringLiteral("    ") + texts.join(QStringLiteral("\n    ")), style);
        m_code->setMarginWidth(marks::SymbolMargin, 16);
    }
    if (!byLine.empty()) {
        m_code->ensureLineVisible(byLine.begin()->first);
    }
}

void SourcePanel::markAll()
{
    const unsigned long length = static_cast<unsigned long>(m_code->length());
    m_code->SendScintilla(QsciScintilla::SCI_SETINDICATORCURRENT, static_cast<unsigned long>(marks::FoundText));
    m_code->SendScintilla(QsciScintilla::SCI_INDICATORCLEARRANGE, 0UL, static_cast<long>(length));
    const QByteArray wanted = m_find->text().toUtf8().toLower();
    int count = 0;
    if (!wanted.isEmpty() && m_detail) {
        const QByteArray text = QByteArray::fromStdString(m_detail->source).toLower();
        for (qsizetype at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.size())) {
            m_code->SendScintilla(QsciScintilla::SCI_INDICATORFILLRANGE, static_cast<unsigned long>(at),
                                  static_cast<long>(wanted.size()));
            ++count;
        }
    }
    m_found->setText(wanted.isEmpty() ? QString() : tr("%1 found").arg(count));
}

void SourcePanel::find(bool forward)
{
    if (m_find->text().isEmpty()) {
        return;
    }
    int line = 0, column = 0;
    m_code->getCursorPosition(&line, &column);
    if (!forward) {
        int toLine = 0, toColumn = 0;
        m_code->getSelection(&line, &column, &toLine, &toColumn);
    }
    m_code->findFirst(m_find->text(), false, false, false, true, forward, std::max(line, 0), std::max(column, 0));
}

void SourcePanel::startFind()
{
    if (m_code->hasSelectedText() && !m_code->selectedText().contains(QLatin1Char('\n'))) {
        m_find->setText(m_code->selectedText());
    }
    m_find->setFocus();
    m_find->selectAll();
}

void SourcePanel::copySource()
{
    if (m_detail) {
        QApplication::clipboard()->setText(format::text(m_detail->source));
    }
}

} // namespace espalier
