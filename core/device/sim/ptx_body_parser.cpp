// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/ptx_parser_state.h"

#include <bit>
#include <charconv>
#include <fmt/format.h>

namespace espalier::sim {

namespace {

constexpr int deepestNesting = 200;
constexpr std::int64_t sourceFile = 1;

std::vector<std::string_view> splitDots(std::string_view text)
{
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t dot = text.find('.');
        parts.push_back(text.substr(0, dot));
        text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
    }
    return parts;
}

} // namespace

BodyParser::BodyParser(TokenCursor& cursor, Function& function) : m_cursor(cursor), m_function(function)
{
    m_scopes.emplace_back();
    m_function.scopeParents.assign(1, 0);
}

void BodyParser::declareParameter(std::uint32_t variable)
{
    m_scopes.front().variables[m_function.variables[variable].name] = variable;
}

Result<void> BodyParser::parse()
{
    while (!m_scopes.empty()) {
        if (m_cursor.atEnd())
            return m_cursor.complain("'}' at the end of a function");
        ESPALIER_CHECK(item());
    }
    return {};
}

Result<void> BodyParser::item()
{
    const Token& token = m_cursor.now();
    if (m_cursor.accept(';'))
        return {};
    if (m_cursor.accept('}')) {
        m_scopes.pop_back();
        return {};
    }
    if (m_cursor.accept('{')) {
        if (m_scopes.size() > deepestNesting)
            return m_cursor.complain("fewer nested braces");
        m_function.scopeParents.push_back(m_scopes.back().number);
        m_scopes.emplace_back().number = static_cast<std::uint32_t>(m_function.scopeParents.size() - 1);
        return {};
    }
    if (token.kind == TokenKind::Word && token.text.starts_with('.'))
        return directive();
    if (token.kind == TokenKind::Word && m_cursor.ahead().is(':')) {
        const std::string_view name = m_cursor.next().text;
        m_cursor.next();
        if (m_cursor.now().is(".branchtargets"))
            return branchTargets(name);
        if (m_cursor.now().is(".callprototype") || m_cursor.now().is(".calltargets"))
            return skipStatement();
        const bool fresh =
            m_function.labels.emplace(std::pair{m_scopes.back().number, name}, m_function.statements.size()).second;
        if (!fresh)
            return m_cursor.complain(fmt::format("only one label {}", name));
        return {};
    }
    return statement();
}

Result<void> BodyParser::skipStatement()
{
    while (!m_cursor.atEnd() && !m_cursor.now().is(';'))
        m_cursor.next();
    return m_cursor.expect(';');
}

Result<void> BodyParser::branchTargets(std::string_view label)
{
    m_cursor.next();
    auto& targets = m_function.branchTargets[label];
    while (!m_cursor.accept(';')) {
        if (m_cursor.accept(','))
            continue;
        ESPALIER_TRY(const std::string_view target, m_cursor.word("a label"));
        targets.push_back(target);
    }
    return {};
}

Result<void> BodyParser::directive()
{
    if (m_cursor.accept(".reg"))
        return registers();
    if (m_cursor.accept(".local"))
        return variable(Space::Local);
    if (m_cursor.accept(".shared"))
        return variable(Space::Shared);
    if (m_cursor.accept(".param"))
        return variable(Space::Param);
    if (m_cursor.accept(".loc"))
        return location();
    if (m_cursor.now().is(".pragma") || m_cursor.now().is(".noreturn"))
        return skipStatement();
    if (m_cursor.now().is(".extern") || m_cursor.now().is(".visible")) {
        m_cursor.next();
        return {};
    }
    return m_cursor.complain("a directive that may stand in a function");
}

/// .reg .b32 %r<62>, a, b;
Result<void> BodyParser::registers()
{
    Type type = Type::None;
    std::uint32_t vectorOf = 1;
    while (m_cursor.now().kind == TokenKind::Word && m_cursor.now().text.starts_with('.')) {
        const std::string_view word = m_cursor.next().text.substr(1);
        if (word == "v2" || word == "v4")
            vectorOf = 2;
        else
            type = typeNamed(word);
    }
    if (type == Type::None || vectorOf != 1)
        return m_cursor.complain("a scalar register type before");
    do {
        ESPALIER_TRY(const std::string_view name, m_cursor.word("the name of a register"));
        RegisterRange range{m_declarations++, 0, type};
        if (m_cursor.accept('<')) {
            ESPALIER_TRY(const std::int64_t count, m_cursor.integer());
            ESPALIER_CHECK(m_cursor.expect('>'));
            if (count < 1 || count > 0xFFFFFFFF)
                return m_cursor.complain("a register count from 1 before");
            range.count = static_cast<std::uint64_t>(count);
        }
        m_scopes.back().registers[name] = range;
    } while (m_cursor.accept(','));
    return m_cursor.expect(';');
}

Result<void> BodyParser::variable(Space space)
{
    do {
        ESPALIER_TRY(VariableDecl decl, parseVariable(m_cursor, space));
        m_scopes.back().variables[decl.name] = static_cast<std::uint32_t>(m_function.variables.size());
        m_function.variables.push_back(decl);
    } while (m_cursor.accept(','));
    return m_cursor.expect(';');
}

/// .loc file line column [, function_name label[+n], inlined_at file line column]
Result<void> BodyParser::location()
{
    const auto place = [&]() -> Result<Place> {
        ESPALIER_TRY(const std::int64_t file, m_cursor.integer());
        ESPALIER_TRY(const std::int64_t line, m_cursor.integer());
        ESPALIER_TRY(const std::int64_t column, m_cursor.integer());
        return Place{file, line, column};
    };
    ESPALIER_TRY(const Place here, place());
    const auto lineOf = [](const Place& at) {
        return SourceLine{static_cast<std::uint32_t>(at[0]), static_cast<int>(at[1]), {}};
    };
    SourceLine at = lineOf(here);
    while (m_cursor.accept(',')) {
        ESPALIER_TRY(const std::string_view word, m_cursor.word("function_name or inlined_at"));
        if (word == "function_name") {
            ESPALIER_TRY(at.function, m_cursor.word("a label"));
            if (m_cursor.accept('+'))
                ESPALIER_CHECK(m_cursor.integer());
        } else if (word == "inlined_at") {
            ESPALIER_TRY(const Place outer, place());
            // The caller's line means more to the engineer than a line of a toolkit header; file 1 is the source. A
            // caller that was inlined itself has had a .loc of its own before.
            const auto caller = m_callers.find(outer);
            const std::string_view called = at.function;
            if (outer[0] != sourceFile && caller != m_callers.end())
                at = caller->second;
            else if (at.file != sourceFile || outer[0] == sourceFile)
                at = lineOf(outer);
            at.function = at.function.empty() ? called : at.function;
        }
    }
    if (at.line <= 0)
        return {};
    m_source = at;
    if (here[0] != sourceFile)
        m_callers[here] = at;
    return {};
}

Result<void> BodyParser::statement()
{
    Statement made;
    made.line = m_cursor.now().line;
    made.source = m_source;
    made.scope = m_scopes.back().number;
    if (m_cursor.accept('@')) {
        made.guardNegated = m_cursor.accept('!');
        ESPALIER_TRY(const std::string_view name, m_cursor.word("a predicate"));
        std::uint32_t guard = 0;
        if (!lookUpRegister(name, guard) || m_function.registers[guard] != Type::Pred)
            return m_cursor.complain(fmt::format("{} to be a predicate", name));
        made.guard = static_cast<std::int32_t>(guard);
    }
    ESPALIER_TRY(const std::string_view opcode, m_cursor.word("an instruction"));
    made.modifiers = splitDots(opcode);
    if (made.modifiers.empty() || made.modifiers[0].empty() || opcode[0] == '%')
        return m_cursor.complain("an instruction");
    made.opcode = made.modifiers[0];
    made.modifiers.erase(made.modifiers.begin());
    ESPALIER_CHECK(made.opcode == "call" ? callOperands(made) : operands(made));
    ESPALIER_CHECK(m_cursor.expect(';'));
    m_function.statements.push_back(std::move(made));
    return {};
}

Result<void> BodyParser::operands(Statement& statement)
{
    if (m_cursor.now().is(';'))
        return {};
    do {
        ESPALIER_TRY(Operand made, operand());
        if (m_cursor.accept('|')) {
            ESPALIER_TRY(Operand second, operand());
            made.items.push_back(std::move(second));
        }
        statement.operands.push_back(std::move(made));
    } while (m_cursor.accept(','));
    return {};
}

/// call (results), function, (arguments), prototype: operands become vector, name, vector.
Result<void> BodyParser::callOperands(Statement& statement)
{
    const auto list = [&]() -> Result<Operand> {
        Operand made{.kind = Operand::Kind::Vector};
        ESPALIER_CHECK(m_cursor.expect('('));
        while (!m_cursor.accept(')')) {
            if (m_cursor.accept(','))
                continue;
            ESPALIER_TRY(Operand item, operand());
            made.items.push_back(std::move(item));
        }
        return made;
    };
    Operand results{.kind = Operand::Kind::Vector};
    if (m_cursor.now().is('(')) {
        ESPALIER_TRY(results, list());
        ESPALIER_CHECK(m_cursor.expect(','));
    }
    ESPALIER_TRY(Operand callee, operand());
    Operand arguments{.kind = Operand::Kind::Vector};
    while (m_cursor.accept(',')) {
        if (m_cursor.now().is('(')) {
            ESPALIER_TRY(arguments, list());
        } else {
            ESPALIER_CHECK(m_cursor.word("a prototype"));
        }
    }
    statement.operands = {std::move(results), std::move(callee), std::move(arguments)};
    return {};
}

Result<Operand> BodyParser::operand()
{
    const Token& token = m_cursor.now();
    if (token.is('['))
        return address();
    if (token.is('{'))
        return vector();
    if (m_cursor.accept('-'))
        return number(true);
    if (token.kind == TokenKind::Number)
        return number(false);
    if (m_cursor.accept('!')) {
        ESPALIER_TRY(const std::string_view name, m_cursor.word("a predicate"));
        Operand made = named(name);
        made.negated = true;
        return made;
    }
    ESPALIER_TRY(const std::string_view name, m_cursor.word("an operand"));
    Operand made = named(name);
    if (made.kind != Operand::Kind::Register && m_cursor.accept('+')) {
        ESPALIER_TRY(made.offset, m_cursor.integer());
    }
    return made;
}

Result<Operand> BodyParser::number(bool minus)
{
    PtxNumber value;
    if (m_cursor.now().kind != TokenKind::Number || !readPtxNumber(m_cursor.now().text, value))
        return m_cursor.complain("a number");
    m_cursor.next();
    Operand made{.kind = Operand::Kind::Immediate, .isFloat = value.isFloat, .bits = value.bits};
    if (minus)
        made.bits = value.isFloat ? value.bits ^ (std::uint64_t{1} << 63) : 0 - value.bits;
    return made;
}

/// [base], [base+8], [base+-8], [16]; bulk copies and tensors ([a, {b, c}]) are kept as far as their base.
Result<Operand> BodyParser::address()
{
    if (++m_depth > deepestNesting)
        return m_cursor.complain("fewer nested brackets");
    m_cursor.next();
    Operand made{.kind = Operand::Kind::Address};
    ESPALIER_TRY(Operand base, operand());
    if (base.kind == Operand::Kind::Symbol || base.kind == Operand::Kind::Label) {
        made.offset = base.offset;
        base.offset = 0;
    }
    if (base.kind == Operand::Kind::Register && m_cursor.accept('+')) {
        ESPALIER_TRY(made.offset, m_cursor.integer());
    }
    made.items.push_back(std::move(base));
    while (m_cursor.accept(',')) {
        ESPALIER_TRY(Operand extra, operand());
        made.items.push_back(std::move(extra));
    }
    ESPALIER_CHECK(m_cursor.expect(']'));
    --m_depth;
    return made;
}

Result<Operand> BodyParser::vector()
{
    if (++m_depth > deepestNesting)
        return m_cursor.complain("fewer nested braces");
    m_cursor.next();
    Operand made{.kind = Operand::Kind::Vector};
    while (!m_cursor.accept('}')) {
        if (m_cursor.accept(','))
            continue;
        ESPALIER_TRY(Operand item, operand());
        made.items.push_back(std::move(item));
    }
    --m_depth;
    return made;
}

Operand BodyParser::named(std::string_view name)
{
    Operand made{.name = name};
    if (name == "_") {
        made.kind = Operand::Kind::Sink;
        return made;
    }
    if (lookUpRegister(name, made.index)) {
        made.kind = Operand::Kind::Register;
        return made;
    }
    for (auto scope = m_scopes.rbegin(); scope != m_scopes.rend(); ++scope) {
        if (const auto found = scope->variables.find(name); found != scope->variables.end()) {
            made.kind = Operand::Kind::Symbol;
            made.isLocalVariable = true;
            made.index = found->second;
            return made;
        }
    }
    made.kind = name.starts_with('%') || name == "WARP_SZ" ? Operand::Kind::Special : Operand::Kind::Symbol;
    return made;
}

bool BodyParser::lookUpRegister(std::string_view name, std::uint32_t& number)
{
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        --digits;
    const std::string_view prefix = name.substr(0, digits);
    std::uint64_t index = 0;
    const auto end = name.data() + name.size();
    const bool numbered = digits < name.size() && std::from_chars(name.data() + digits, end, index).ec == std::errc{};
    for (auto scope = m_scopes.rbegin(); scope != m_scopes.rend(); ++scope) {
        if (const auto found = scope->registers.find(name); found != scope->registers.end() && !found->second.count) {
            number = registerNumber(found->second, 0);
            return true;
        }
        // "%r<62>" may be declared under a prefix that itself ends in digits ("%rd1<4>"): try every split.
        for (std::size_t cut = digits; numbered && cut < name.size(); ++cut) {
            const auto found = scope->registers.find(cut == digits ? prefix : name.substr(0, cut));
            if (found == scope->registers.end())
                continue;
            std::from_chars(name.data() + cut, end, index);
            if (index < found->second.count) {
                number = registerNumber(found->second, index);
                return true;
            }
        }
    }
    return false;
}

std::uint32_t BodyParser::registerNumber(const RegisterRange& range, std::uint64_t index)
{
    const std::uint64_t key = (std::uint64_t{range.declaration} << 32) | index;
    const auto [at, fresh] = m_registerNumbers.emplace(key, m_function.registers.size());
    if (fresh)
        m_function.registers.push_back(range.type);
    return at->second;
}

} // namespace espalier::sim
