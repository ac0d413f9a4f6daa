// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <Qsci/qscilexercustom.h>

namespace espalier {

class Theme;

/// PTX and machine code: opcodes, registers, labels and directives, offsets and remarks. One line never depends on
/// another. Thread: GUI.
class AsmLexer : public QsciLexerCustom
{
    Q_OBJECT
public:
    explicit AsmLexer(QObject* parent = nullptr);
    const char* language() const override { return "GPU assembly"; }
    QString description(int style) const override;
    void styleText(int start, int end) override;
    void setTheme(const Theme& theme, const QFont& font);

    enum Style { Plain, Opcode, Register, Directive, Remark, styles };
    /// Lengths and styles of one line's parts, in bytes; they add up to the line.
    static std::vector<std::pair<int, Style>> parts(std::string_view line);
};

} // namespace espalier
