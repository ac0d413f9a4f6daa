// SPDX-License-Identifier: GPL-3.0-only
#include "views/code_view.h"

#include "views/asm_lexer.h"
#include "views/code_marks.h"
#include "views/cuda_lexer.h"
#include "views/theme.h"

#include <QEvent>
#include <QKeyEvent>

namespace espalier {

CodeView::CodeView(ThemeManager& themes, QWidget* parent, CodeLanguage language)
    : QsciScintilla(parent), m_themes(themes), m_font(codeFont())
{
    if (language == CodeLanguage::Cuda) {
        auto* lexer = new CudaLexer(this);
        m_lexer = lexer;
        m_dress = [lexer](const Theme& theme, const QFont& font) { lexer->setTheme(theme, font); };
    } else {
        auto* lexer = new AsmLexer(this);
        m_lexer = lexer;
        m_dress = [lexer](const Theme& theme, const QFont& font) { lexer->setTheme(theme, font); };
    }
    setUtf8(true);
    setReadOnly(true);
    setFrameShape(QFrame::NoFrame);
    setTabWidth(4);
    setWrapMode(QsciScintilla::WrapNone);
    setFolding(QsciScintilla::NoFoldStyle);
    setMargins(2);
    setMarginType(marks::SymbolMargin, QsciScintilla::SymbolMargin);
    setMarginWidth(marks::SymbolMargin, 0);
    setMarginType(marks::NumberMargin, QsciScintilla::TextMarginRightJustified);
    SendScintilla(SCI_SETSCROLLWIDTH, 1UL);
    SendScintilla(SCI_SETSCROLLWIDTHTRACKING, 1UL);
    SendScintilla(SCI_SETENDATLASTLINE, 1UL);
    SendScintilla(SCI_SETMARGINLEFT, 0UL, 8L);
    SendScintilla(SCI_SETCARETSTYLE, static_cast<unsigned long>(CARETSTYLE_LINE));
    setExtraAscent(1);
    setExtraDescent(2);
    applyTheme();
    connect(&themes, &ThemeManager::themeChanged, this, &CodeView::applyTheme);
}

void CodeView::applyTheme()
{
    const Theme& theme = m_themes.theme();
    setPaper(theme[Token::Background]);
    setColor(theme[Token::Text]);
    m_dress(theme, m_font);
    setLexer(m_lexer); // sets every style again: what is below must follow it
    setMarginsFont(m_font);
    setMarginsBackgroundColor(theme[Token::Background]);
    setMarginsForegroundColor(theme[Token::Draft]);
    setMarginBackgroundColor(marks::SymbolMargin, theme[Token::Background]);
    setMarginBackgroundColor(marks::NumberMargin, theme[Token::Background]);
    setCaretForegroundColor(theme[Token::Text]);
    setCaretLineVisible(false);
    setSelectionBackgroundColor(theme[Token::Selection]);
    resetSelectionForegroundColor();
    setWhitespaceForegroundColor(theme[Token::Hairline]);
    setMatchedBraceBackgroundColor(theme[Token::Selection]);
    setMatchedBraceForegroundColor(theme[Token::Text]);
    setUnmatchedBraceBackgroundColor(theme[Token::Background]);
    setUnmatchedBraceForegroundColor(theme[Token::Incorrect]);

    markerDefine(QsciScintilla::Background, marks::AddedLine);
    markerDefine(QsciScintilla::Background, marks::RemovedLine);
    markerDefine(QsciScintilla::Background, marks::ErrorLine);
    markerDefine(QsciScintilla::Circle, marks::ErrorSign);
    setMarkerBackgroundColor(theme[Token::DiffAdded], marks::AddedLine);
    setMarkerBackgroundColor(theme[Token::DiffRemoved], marks::RemovedLine);
    setMarkerBackgroundColor(theme[Token::DiffRemoved], marks::ErrorLine);
    setMarkerBackgroundColor(theme[Token::Incorrect], marks::ErrorSign);
    setMarkerForegroundColor(theme[Token::Incorrect], marks::ErrorSign);
    setMarginMarkerMask(marks::SymbolMargin, 1 << marks::ErrorSign);
    setMarginMarkerMask(marks::NumberMargin, 0);

    for (const auto& [indicator, token] :
         {std::pair{marks::AddedWord, Token::DiffAddedWord}, std::pair{marks::RemovedWord, Token::DiffRemovedWord},
          std::pair{marks::FoundText, Token::Best}}) {
        indicatorDefine(QsciScintilla::FullBoxIndicator, indicator);
        setIndicatorForegroundColor(theme[token], indicator);
        setIndicatorDrawUnder(true, indicator);
        const bool found = indicator == marks::FoundText;
        SendScintilla(SCI_INDICSETALPHA, static_cast<unsigned long>(indicator), found ? 90L : 255L);
        SendScintilla(SCI_INDICSETOUTLINEALPHA, static_cast<unsigned long>(indicator), found ? 160L : 255L);
    }
    emit themeApplied();
}

/// Scintilla knows the keypad's plus only.
void CodeView::keyPressEvent(QKeyEvent* event)
{
    const bool zooms = event->modifiers() & Qt::ControlModifier;
    if (zooms && (event->key() == Qt::Key_Plus || event->key() == Qt::Key_Equal)) {
        zoomIn();
    } else if (zooms && event->key() == Qt::Key_Minus) {
        zoomOut();
    } else if (zooms && event->key() == Qt::Key_0) {
        zoomTo(0);
    } else {
        QsciScintilla::keyPressEvent(event);
    }
}

void CodeView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange) {
        m_font = codeFont();
        applyTheme();
    }
    QsciScintilla::changeEvent(event);
}

void CodeView::setCode(const QString& text, bool keepPlace)
{
    const long line = SendScintilla(SCI_GETFIRSTVISIBLELINE);
    setReadOnly(false);
    setText(text);
    setReadOnly(true);
    SendScintilla(SCI_EMPTYUNDOBUFFER);
    SendScintilla(SCI_SETSCROLLWIDTH, 1UL);
    SendScintilla(SCI_SETFIRSTVISIBLELINE, static_cast<unsigned long>(keepPlace ? line : 0));
    SendScintilla(SCI_SETXOFFSET, 0UL);
}

void CodeView::setLineNumbers(int firstLine, int firstNumber, int count)
{
    for (int i = 0; i < count; ++i) {
        const QByteArray number = QByteArray::number(firstNumber + i);
        SendScintilla(SCI_MARGINSETTEXT, static_cast<unsigned long>(firstLine + i), number.constData());
        SendScintilla(SCI_MARGINSETSTYLE, static_cast<unsigned long>(firstLine + i),
                      static_cast<long>(STYLE_LINENUMBER));
    }
    setMarginWidth(marks::NumberMargin,
                   QString(std::max<qsizetype>(3, QString::number(firstNumber + count).size()) + 1, QLatin1Char('0')));
}

void CodeView::showPlainNumbers(int lines)
{
    SendScintilla(SCI_MARGINTEXTCLEARALL);
    setLineNumbers(0, 1, lines);
}

} // namespace espalier
