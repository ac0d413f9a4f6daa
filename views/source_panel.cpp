// SPDX-License-Identifier: GPL-3.0-only
#include "views/source_panel.h"

#include "views/code_marks.h"
#include "views/code_view.h"
#include "views/format.h"
#include "views/theme.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QShortcut>
#include <QToolButton>
#include <QVBoxLayout>
#include <Qsci/qscistyle.h>
#include <map>

namespace espalier {

SourcePanel::SourcePanel(ThemeManager& themes, QWidget* parent)
    : QWidget(parent), m_themes(themes), m_code(new CodeView(themes, this)), m_find(new QLineEdit(this)),
      m_found(new QLabel(this))
{
    m_code->setAccessibleName(tr("Source of the selected node"));
    m_code->setAnnotationDisplay(QsciScintilla::AnnotationStandard);
    m_find->setPlaceholderText(tr("Find in source (Ctrl+F)"));
    m_find->setClearButtonEnabled(true);
    m_find->setAccessibleName(tr("Find in source"));
    auto* copy = new QToolButton(this);
    copy->setText(tr("Copy source"));
    copy->setAutoRaise(true);
    connect(copy, &QToolButton::clicked, this, &SourcePanel::copySource);

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(8, 4, 8, 4);
    bar->setSpacing(8);
    bar->addWidget(m_find, 1);
    bar->addWidget(m_found);
    bar->addWidget(copy);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(m_code, 1);

    connect(m_find, &QLineEdit::textChanged, this, [this] {
        markAll();
        m_code->setCursorPosition(0, 0);
        find(true);
    });
    connect(m_find, &QLineEdit::returnPressed, this,
            [this] { find(!(QApplication::keyboardModifiers() & Qt::ShiftModifier)); });
    auto* focusFind = new QShortcut(QKeySequence::Find, this);
    focusFind->setContext(Qt::WidgetWithChildrenShortcut);
    connect(focusFind, &QShortcut::activated, this, &SourcePanel::startFind);
    connect(m_code, &CodeView::themeApplied, this, &SourcePanel::annotate);
}

void SourcePanel::setDetail(const std::shared_ptr<const NodeDetail>& detail)
{
    const bool sameNode = detail && m_detail && detail->summary.id == m_detail->summary.id;
    const bool sameText = sameNode && detail->source == m_detail->source;
    m_detail = detail;
    if (!sameText) {
        m_code->setCode(detail ? format::text(detail->source) : QString(), sameNode);
        m_code->showPlainNumbers(detail ? m_code->lines() : 0);
    }
    annotate();
    markAll();
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
    const Theme& theme = m_themes.theme();
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
