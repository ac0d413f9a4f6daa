// SPDX-License-Identifier: GPL-3.0-only
#include "views/diff_view.h"

#include "views/code_marks.h"
#include "views/code_view.h"
#include "views/diff_overview.h"
#include "views/format.h"
#include "views/theme.h"

#include <QHBoxLayout>
#include <QSplitter>
#include <QTimer>
#include <Qsci/qscistyle.h>
#include <algorithm>

namespace espalier {

namespace {

QString documentText(const std::string& name, const std::string& source)
{
    QString text = QStringLiteral("// ") + format::text(name) + QLatin1Char('\n') + format::text(source);
    if (text.endsWith(QLatin1Char('\n'))) {
        text.chop(1); // else Scintilla shows one empty line more, and the panes end at different heights
    }
    return text;
}

} // namespace

DiffView::DiffView(ThemeManager& themes, QWidget* parent)
    : QWidget(parent), m_themes(themes), m_left(new CodeView(themes)), m_right(new CodeView(themes)),
      m_overview(new DiffOverview(themes, this))
{
    m_left->setAccessibleName(tr("Parent's source"));
    m_right->setAccessibleName(tr("Selected candidate's source"));
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setChildrenCollapsible(false);
    splitter->setHandleWidth(1);
    for (CodeView* pane : {m_left, m_right}) {
        pane->setAnnotationDisplay(QsciScintilla::AnnotationStandard);
        pane->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOn); // one without the other would end a row later
        splitter->addWidget(pane);
    }
    m_left->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff); // one bar for both, on the right
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(splitter, 1);
    layout->addWidget(m_overview);

    connect(m_left, &QsciScintillaBase::SCN_UPDATEUI, this,
            [this](int updated) { followed(m_left, m_right, updated); });
    connect(m_right, &QsciScintillaBase::SCN_UPDATEUI, this,
            [this](int updated) { followed(m_right, m_left, updated); });
    connect(m_overview, &DiffOverview::rowWanted, this, &DiffView::scrollToRow);
    connect(m_right, &CodeView::themeApplied, this, [this] {
        addFillers(); // their style carries colours
        m_overview->update();
    });
}

void DiffView::setCompared(const std::shared_ptr<const ComparedTexts>& compared)
{
    m_compared = compared;
    m_hunk = -1;
    m_following = true; // filling scrolls; nobody is to follow that
    fill(m_left, true);
    fill(m_right, false);
    addFillers();
    m_following = false;
    m_overview->setDiff(compared ? &compared->diff : nullptr);
    if (hunks() > 0) {
        showHunk(0);
    } else {
        emit hunkChanged();
    }
}

void DiffView::fill(CodeView* pane, bool isLeft)
{
    pane->setCode(m_compared ? documentText(isLeft ? m_compared->leftName : m_compared->rightName,
                                            isLeft ? m_compared->left : m_compared->right)
                             : QString());
    pane->SendScintilla(QsciScintilla::SCI_MARGINTEXTCLEARALL);
    pane->markerDeleteAll();
    if (!m_compared) {
        return;
    }
    const TextDiff& diff = m_compared->diff;
    pane->setLineNumbers(1, 1, isLeft ? diff.leftLines : diff.rightLines);
    for (const DiffRow& row : diff.rows) {
        const int line = isLeft ? row.left : row.right;
        if (line >= 0 && row.kind != RowKind::Equal) {
            pane->markerAdd(line + 1, isLeft ? marks::RemovedLine : marks::AddedLine);
        }
    }
    markWords(pane, isLeft);
}

void DiffView::markWords(CodeView* pane, bool isLeft)
{
    pane->SendScintilla(QsciScintilla::SCI_SETINDICATORCURRENT,
                        static_cast<unsigned long>(isLeft ? marks::RemovedWord : marks::AddedWord));
    for (const DiffRow& row : m_compared->diff.rows) {
        if (row.words < 0) {
            continue;
        }
        const long start = pane->SendScintilla(QsciScintilla::SCI_POSITIONFROMLINE,
                                               static_cast<unsigned long>((isLeft ? row.left : row.right) + 1));
        const WordDiff& words = m_compared->diff.words[std::size_t(row.words)];
        for (const ByteSpan& span : isLeft ? words.left : words.right) {
            pane->SendScintilla(QsciScintilla::SCI_INDICATORFILLRANGE, static_cast<unsigned long>(start + span.begin),
                                static_cast<long>(span.end - span.begin));
        }
    }
}

void DiffView::addFillers()
{
    m_left->clearAnnotations();
    m_right->clearAnnotations();
    if (!m_compared) {
        return;
    }
    int leftLine = 0, rightLine = 0, leftRows = 0, rightRows = 0; // document lines; 0 is the naming comment
    const auto flush = [&] {
        addFiller(m_left, leftLine, leftRows);
        addFiller(m_right, rightLine, rightRows);
        leftRows = rightRows = 0;
    };
    for (const DiffRow& row : m_compared->diff.rows) {
        if ((row.left >= 0 && leftRows > 0) || (row.right >= 0 && rightRows > 0)) {
            flush();
        }
        leftLine = row.left >= 0 ? row.left + 1 : leftLine;
        rightLine = row.right >= 0 ? row.right + 1 : rightLine;
        leftRows += row.left < 0;
        rightRows += row.right < 0;
    }
    flush();
}

void DiffView::addFiller(CodeView* pane, int line, int rows)
{
    if (rows == 0) {
        return;
    }
    const Theme& theme = m_themes.theme();
    const QsciStyle style(marks::FillerStyle, QStringLiteral("filler"), theme[Token::Muted], theme[Token::DiffFiller],
                          pane->font(), true);
    QStringList lines(rows, QStringLiteral(" "));
    pane->annotate(line, lines.join(QLatin1Char('\n')), style);
}

void DiffView::followed(CodeView* source, CodeView* target, int updated)
{
    if (updated & QsciScintilla::SC_UPDATE_V_SCROLL) {
        const long first = source->SendScintilla(QsciScintilla::SCI_GETFIRSTVISIBLELINE);
        m_overview->setSeen(int(first) - 1, int(source->SendScintilla(QsciScintilla::SCI_LINESONSCREEN)));
    }
    if (m_following) {
        return;
    }
    m_following = true;
    if (updated & QsciScintilla::SC_UPDATE_V_SCROLL) {
        target->SendScintilla(QsciScintilla::SCI_SETFIRSTVISIBLELINE, static_cast<unsigned long>(source->SendScintilla(
                                                                          QsciScintilla::SCI_GETFIRSTVISIBLELINE)));
    }
    if (updated & QsciScintilla::SC_UPDATE_H_SCROLL) {
        target->SendScintilla(QsciScintilla::SCI_SETXOFFSET,
                              static_cast<unsigned long>(source->SendScintilla(QsciScintilla::SCI_GETXOFFSET)));
    }
    m_following = false;
}

void DiffView::showHunk(int hunk)
{
    if (!m_compared || hunk < 0 || hunk >= hunks()) {
        return;
    }
    m_hunk = hunk;
    scrollToRow(m_compared->diff.hunks[std::size_t(hunk)].begin);
    m_overview->setCurrent(hunk);
    emit hunkChanged();
}

/// Rows and display lines agree but for the naming comment: fillers fill the difference.
void DiffView::scrollToRow(int row)
{
    const int seen = int(m_right->SendScintilla(QsciScintilla::SCI_LINESONSCREEN));
    const auto first = static_cast<unsigned long>(std::max(0, row + 1 - seen / 4));
    m_following = true;
    m_left->SendScintilla(QsciScintilla::SCI_SETFIRSTVISIBLELINE, first);
    m_right->SendScintilla(QsciScintilla::SCI_SETFIRSTVISIBLELINE, first);
    m_following = false;
    m_placedAt = m_right->SendScintilla(QsciScintilla::SCI_GETFIRSTVISIBLELINE);
    m_overview->setSeen(int(m_placedAt) - 1, seen);
}

void DiffView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    QTimer::singleShot(0, this, [this] { // the panes have their new height only afterwards
        const long first = m_right->SendScintilla(QsciScintilla::SCI_GETFIRSTVISIBLELINE);
        if (m_compared && m_hunk >= 0 && first == m_placedAt) {
            scrollToRow(m_compared->diff.hunks[std::size_t(m_hunk)].begin); // it was placed before the tab had its size
        } else {
            m_overview->setSeen(int(first) - 1, int(m_right->SendScintilla(QsciScintilla::SCI_LINESONSCREEN)));
        }
    });
}

} // namespace espalier
