// SPDX-License-Identifier: GPL-3.0-only
#include "views/asm_lexer.h"

#include "views/theme.h"

#include <Qsci/qsciscintilla.h>
#include <cctype>

namespace espalier {

namespace {

bool wordByte(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '%' || c == '$' || c == '@' ||
           c == '!';
}

bool isRegister(std::string_view word)
{
    if (word.starts_with('%') || word.starts_with('@')) {
        return true;
    }
    if (word.starts_with('!')) {
        word.remove_prefix(1);
    }
    // R12, UR4, P0, UP1, RZ, PT, with or without .reuse or a half
    word = word.substr(0, word.find('.'));
    if (word.starts_with('U')) {
        word.remove_prefix(1);
    }
    if (word.size() < 2 || (word[0] != 'R' && word[0] != 'P' && word[0] != 'B')) {
        return false;
    }
    return word == "RZ" || word == "PT" || word.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

} // namespace

AsmLexer::AsmLexer(QObject* parent) : QsciLexerCustom(parent) {}

QString AsmLexer::description(int style) const
{
    constexpr const char* names[] = {"plain", "opcode", "register", "directive", "remark"};
    return style >= 0 && style < styles ? QString::fromLatin1(names[style]) : QString();
}

std::vector<std::pair<int, AsmLexer::Style>> AsmLexer::parts(std::string_view line)
{
    std::vector<std::pair<int, Style>> found;
    const auto add = [&](std::size_t length, Style style) {
        if (length > 0) {
            found.emplace_back(int(length), style);
        }
    };
    bool opcodeSeen = false;
    std::size_t at = 0;
    while (at < line.size()) {
        const std::string_view rest = line.substr(at);
        if (rest.starts_with("//")) {
            add(rest.size(), Remark);
            break;
        }
        if (rest.starts_with("/*")) {
            const auto close = rest.find("*/");
            const std::size_t length = close == std::string_view::npos ? rest.size() : close + 2;
            add(length, Remark);
            at += length;
            continue;
        }
        std::size_t length = 0;
        while (length < rest.size() && wordByte(rest[length])) {
            ++length;
        }
        if (length == 0) {
            add(1, Plain);
            ++at;
            continue;
        }
        const std::string_view word = rest.substr(0, length);
        const bool label = (word.starts_with('.') || word.starts_with('$')) && !opcodeSeen;
        if (label) {
            add(length, Directive);
            opcodeSeen = true;
        } else if (isRegister(word)) {
            add(length, Register);
        } else if (!opcodeSeen) {
            add(length, Opcode);
            opcodeSeen = true;
        } else {
            add(length, Plain);
        }
        at += length;
    }
    return found;
}

void AsmLexer::styleText(int start, int end)
{
    if (!editor() || end <= start) {
        return;
    }
    QByteArray text(end - start + 1, Qt::Uninitialized);
    editor()->SendScintilla(QsciScintillaBase::SCI_GETTEXTRANGE, start, end, text.data());
    text.chop(1);
    startStyling(start);
    for (qsizetype at = 0; at < text.size();) {
        qsizetype stop = text.indexOf('\n', at);
        stop = stop < 0 ? text.size() : stop + 1;
        for (const auto& [length, style] : parts({text.constData() + at, std::size_t(stop - at)})) {
            setStyling(length, style);
        }
        at = stop;
    }
}

void AsmLexer::setTheme(const Theme& theme, const QFont& font)
{
    setDefaultFont(font);
    setDefaultColor(theme[Token::Text]);
    setDefaultPaper(theme[Token::Background]);
    constexpr Token tokens[] = {Token::Text, Token::SyntaxKeyword, Token::SyntaxNumber, Token::SyntaxPreprocessor,
                                Token::SyntaxComment};
    for (int style = 0; style < styles; ++style) {
        setFont(font, style);
        setColor(theme[tokens[style]], style);
        setPaper(theme[Token::Background], style);
        setEolFill(false, style);
    }
}

} // namespace espalier
