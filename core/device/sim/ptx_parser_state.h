// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/ptx_lexer.h"
#include "core/device/sim/ptx_syntax.h"

#include <array>
#include <map>
#include <unordered_map>

namespace espalier::sim {

/// A cursor over the tokens. Past the end it stays on End.
class TokenCursor
{
public:
    explicit TokenCursor(const std::vector<Token>& tokens) : m_tokens(&tokens) {}

    const Token& now() const { return (*m_tokens)[m_at]; }
    const Token& ahead() const { return (*m_tokens)[std::min(m_at + 1, m_tokens->size() - 1)]; }
    bool atEnd() const { return now().kind == TokenKind::End; }
    Token next();
    bool accept(char c);
    bool accept(std::string_view word);
    Result<void> expect(char c);
    Result<std::string_view> word(std::string_view what);
    Result<std::int64_t> integer(); ///< with an optional sign
    std::unexpected<Error> complain(std::string_view expected) const;

private:
    const std::vector<Token>* m_tokens;
    std::size_t m_at = 0;
};

/// ".shared .align 4 .b8 name[128]" from after its space word. `registers` never come here.
Result<VariableDecl> parseVariable(TokenCursor& cursor, Space space);

/// The statements of one function between its braces.
/// Thread: any. Owns nothing but scopes; writes into the function it was given.
class BodyParser
{
public:
    BodyParser(TokenCursor& cursor, Function& function);

    /// From after the opening brace to after the closing one.
    Result<void> parse();
    void declareParameter(std::uint32_t variable);

private:
    struct RegisterRange {
        std::uint32_t declaration = 0;
        std::uint64_t count = 0; ///< 0: a single register
        Type type = Type::None;
    };
    struct Scope {
        std::uint32_t number = 0;
        std::unordered_map<std::string_view, RegisterRange> registers;
        std::unordered_map<std::string_view, std::uint32_t> variables;
    };

    Result<void> item();
    Result<void> directive();
    Result<void> registers();
    Result<void> variable(Space space);
    Result<void> location();
    Result<void> branchTargets(std::string_view label);
    Result<void> skipStatement();
    Result<void> statement();
    Result<void> operands(Statement& statement);
    Result<void> callOperands(Statement& statement);
    Result<Operand> operand();
    Result<Operand> address();
    Result<Operand> vector();
    Result<Operand> number(bool minus);
    Operand named(std::string_view name);
    bool lookUpRegister(std::string_view name, std::uint32_t& number);
    std::uint32_t registerNumber(const RegisterRange& range, std::uint64_t index);

    TokenCursor& m_cursor;
    Function& m_function;
    std::vector<Scope> m_scopes;
    std::unordered_map<std::uint64_t, std::uint32_t> m_registerNumbers; ///< (declaration, index) → number
    std::uint32_t m_declarations = 0;
    int m_depth = 0;
    SourceLine m_source;
    using Place = std::array<std::int64_t, 3>; ///< file, line, column
    std::map<Place, SourceLine> m_callers;     ///< lines of headers → line of the source they were inlined into
};

} // namespace espalier::sim
