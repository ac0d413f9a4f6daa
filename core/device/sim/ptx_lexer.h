// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace espalier::sim {

enum class TokenKind : std::uint8_t {
    Word,   ///< name, opcode with its suffixes, directive (starts with '.'), register (starts with '%')
    Number, ///< starts with a digit
    String, ///< without its quotes, escapes kept
    Punct,  ///< one character
    End,
};

struct Token {
    TokenKind kind = TokenKind::End;
    std::string_view text; ///< points into the source
    int line = 0;          ///< of the PTX text, from 1

    bool is(char c) const { return kind == TokenKind::Punct && text[0] == c; }
    bool is(std::string_view word) const { return kind == TokenKind::Word && text == word; }
};

/// Splits PTX text into tokens; the last one is End. Errors: InvalidInput "line N: ...".
Result<std::vector<Token>> lexPtx(std::string_view text);

struct PtxNumber {
    std::uint64_t bits = 0; ///< integer value, or the bits of a double
    bool isFloat = false;
};

/// Reads an integer (decimal, 0x, 0b, octal, U suffix) or a float (0fXXXXXXXX, 0dXXXXXXXXXXXXXXXX, 1.5e3).
/// False when it is neither.
bool readPtxNumber(std::string_view text, PtxNumber& number);

} // namespace espalier::sim
