// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <Qsci/qscilexercpp.h>

namespace espalier {

class Theme;

/// C++ with CUDA's words as a keyword set of their own: qualifiers, built-in variables, vector types, intrinsics.
/// Every style takes its colours from the theme; call setTheme() before the lexer is given to an editor and again after
/// a change. Thread: GUI.
class CudaLexer : public QsciLexerCPP
{
    Q_OBJECT
public:
    explicit CudaLexer(QObject* parent = nullptr);
    const char* language() const override { return "CUDA"; }
    const char* keywords(int set) const override;
    void setTheme(const Theme& theme, const QFont& font);
};

} // namespace espalier
