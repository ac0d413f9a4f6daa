// SPDX-License-Identifier: GPL-3.0-only
#include "views/code_pane.h"

#include "views/code_marks.h"
#include "views/code_view.h"
#include "views/line_columns.h"
#include "views/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QStackedLayout>
#include <QVBoxLayout>
#include <algorithm>

namespace espalier {

CodePane::CodePane(ThemeManager& themes, const QString& title, CodeLanguage language, QWidget* parent)
    : QWidget(parent), m_themes(themes), m_view(new CodeView(themes, this, language)),
      m_columns(new LineColumns(themes, *m_view, this)), m_title(new QLabel(title)), m_note(new QLabel),
      m_missing(new QLabel), m_header(new QWidget), m_pages(new QStackedLayout),
      m_numbered(language == CodeLanguage::Cuda)
{
    m_view->setAccessibleName(title);
    m_title->setTextFormat(Qt::PlainText);
    m_note->setTextFormat(Qt::PlainText);
    m_note->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_header->setFixedHeight(m_columns->headerHeight());
    m_header->setAutoFillBackground(true);
    auto* head = new QHBoxLayout(m_header);
    head->setContentsMargins(8, 0, 8, 0);
    head->setSpacing(12);
    head->addWidget(m_title);
    head->addWidget(m_note, 1);
    m_note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* right = new QVBoxLayout;
    right->setContentsMargins(0, 0, 0, 0);
    right->setSpacing(0);
    right->addWidget(m_header);
    right->addWidget(m_view, 1);
    auto* page = new QWidget;
    auto* row = new QHBoxLayout(page);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_columns);
    row->addLayout(right, 1);
    m_missing->setAlignment(Qt::AlignCenter);
    m_missing->setWordWrap(true);
    m_missing->setMargin(24);
    m_missing->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_pages->setContentsMargins(0, 0, 0, 0);
    m_pages->addWidget(page);
    m_pages->addWidget(m_missing);
    setLayout(m_pages);

    connect(m_view, &QsciScintilla::cursorPositionChanged, this, [this](int line, int) {
        if (!m_silent && line != m_line) {
            m_line = line;
            emit lineChosen(line);
        }
    });
    connect(m_columns, &LineColumns::lineClicked, this, &CodePane::goTo);
    connect(m_view, &CodeView::themeApplied, this, [this] {
        restyle();
        remark();
    });
    restyle();
}

void CodePane::restyle()
{
    const Theme& theme = m_themes.theme();
    QPalette palette = m_header->palette();
    palette.setColor(QPalette::Window, theme[Token::Panel]);
    m_header->setPalette(palette);
    QPalette muted = palette;
    muted.setColor(QPalette::WindowText, theme[Token::Muted]);
    m_note->setPalette(muted);
    m_missing->setPalette(muted);
    m_view->markerDefine(QsciScintilla::Background, marks::LinkedLine);
    m_view->setMarkerBackgroundColor(theme[Token::Selection], marks::LinkedLine);
}

void CodePane::setText(const QString& text, bool keepPlace)
{
    m_silent = true; // a new text moves the caret: nobody chose that line
    m_view->setCode(text, keepPlace);
    if (m_numbered) {
        m_view->showPlainNumbers(m_view->lines());
    } else {
        m_view->setMarginWidth(marks::NumberMargin, 6); // offsets and labels say where one is
    }
    m_silent = false;
    m_line = -1;
    m_linked.clear();
    m_pages->setCurrentIndex(0);
}

void CodePane::setMissing(const QString& sentence)
{
    setText({});
    setFigures({});
    m_missing->setText(sentence);
    m_pages->setCurrentIndex(1);
}

QString CodePane::missing() const
{
    return m_pages->currentIndex() == 1 ? m_missing->text() : QString();
}

void CodePane::setFigures(LineFigures figures)
{
    m_columns->setFigures(std::move(figures));
}

void CodePane::setNote(const QString& note)
{
    m_note->setText(note);
    m_note->setToolTip(note);
}

QString CodePane::note() const
{
    return m_note->text();
}

void CodePane::markLinked(const std::vector<int>& lines, bool reveal)
{
    m_linked = lines;
    remark();
    if (!reveal || lines.empty()) {
        return;
    }
    const int first = int(m_view->SendScintilla(QsciScintilla::SCI_DOCLINEFROMVISIBLE,
                                                static_cast<unsigned long>(m_view->firstVisibleLine())));
    const int shown = int(m_view->SendScintilla(QsciScintilla::SCI_LINESONSCREEN));
    const bool seen =
        std::any_of(lines.begin(), lines.end(), [&](int line) { return line >= first && line < first + shown; });
    if (!seen) {
        m_view->SendScintilla(QsciScintilla::SCI_SETFIRSTVISIBLELINE,
                              static_cast<unsigned long>(std::max(0, lines.front() - shown / 3)));
    }
}

void CodePane::remark()
{
    m_view->markerDeleteAll(marks::LinkedLine);
    for (const int line : m_linked) {
        m_view->markerAdd(line, marks::LinkedLine);
    }
}

void CodePane::goTo(int line)
{
    m_view->setCursorPosition(line, 0);
    m_view->ensureLineVisible(line);
    const int shown = int(m_view->SendScintilla(QsciScintilla::SCI_LINESONSCREEN));
    const int first = m_view->firstVisibleLine();
    if (line < first + 2 || line > first + shown - 3) {
        m_view->SendScintilla(QsciScintilla::SCI_SETFIRSTVISIBLELINE,
                              static_cast<unsigned long>(std::max(0, line - shown / 3)));
    }
}

} // namespace espalier
