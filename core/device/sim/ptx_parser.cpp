// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/ptx_parser.h"

#include "core/device/sim/ptx_parser_state.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace espalier::sim {

Token TokenCursor::next()
{
    const Token token = now();
    if (m_at + 1 < m_tokens->size())
        ++m_at;
    return token;
}

bool TokenCursor::accept(char c)
{
    if (!now().is(c))
        return false;
    next();
    return true;
}

bool TokenCursor::accept(std::string_view word)
{
    if (!now().is(word))
        return false;
    next();
    return true;
}

Result<void> TokenCursor::expect(char c)
{
    if (!accept(c))
        return complain(fmt::format("'{}'", c));
    return {};
}

Result<std::string_view> TokenCursor::word(std::string_view what)
{
    if (now().kind != TokenKind::Word)
        return complain(what);
    return next().text;
}

Result<std::int64_t> TokenCursor::integer()
{
    const bool minus = accept('-');
    PtxNumber number;
    if (now().kind != TokenKind::Number || !readPtxNumber(now().text, number) || number.isFloat)
        return complain("an integer");
    next();
    return static_cast<std::int64_t>(minus ? 0 - number.bits : number.bits);
}

std::unexpected<Error> TokenCursor::complain(std::string_view expected) const
{
    const Token& token = now();
    const std::string_view found = token.kind == TokenKind::End ? "the end of the text" : token.text.substr(0, 60);
    return fail(ErrorCode::InvalidInput,
                fmt::format("line {}: expected {}; found \"{}\"", token.line, expected, found));
}

Result<VariableDecl> parseVariable(TokenCursor& cursor, Space space)
{
    VariableDecl variable{.space = space, .line = cursor.now().line};
    std::uint64_t element = 0;
    while (cursor.now().kind == TokenKind::Word && cursor.now().text.starts_with('.')) {
        const std::string_view word = cursor.next().text.substr(1);
        if (word == "align") {
            ESPALIER_TRY(const std::int64_t align, cursor.integer());
            if (align < 1 || align > 65536 || !std::has_single_bit(static_cast<std::uint64_t>(align)))
                return cursor.complain("an alignment that is a power of two");
            variable.alignment = static_cast<std::uint32_t>(align);
        } else if (word == "v2" || word == "v4" || word == "v8") {
            element = static_cast<std::uint64_t>(word[1] - '0'); // multiplied by the type below
        } else if (const Type type = typeNamed(word); type != Type::None) {
            element = bytesOf(type) * std::max<std::uint64_t>(element, 1);
            variable.alignment = std::max<std::uint32_t>(variable.alignment, static_cast<std::uint32_t>(element));
            variable.elementBytes = std::max(bytesOf(type), 1u);
            if (element == 0)
                return cursor.complain("a type that has a size");
        } else if (word == "ptr" || word == "global" || word == "shared" || word == "const" || word == "local") {
            continue; // .param .u64 .ptr .global .align 16 name: advice
        }
    }
    ESPALIER_TRY(variable.name, cursor.word("the name of a variable"));
    variable.bytes = std::max<std::uint64_t>(element, 1);
    constexpr std::uint64_t limit = std::uint64_t{1} << 31;
    while (cursor.accept('[')) {
        if (cursor.accept(']')) {
            variable.bytes = 0;
            continue;
        }
        ESPALIER_TRY(const std::int64_t count, cursor.integer());
        ESPALIER_CHECK(cursor.expect(']'));
        if (count < 0 || (variable.bytes != 0 && static_cast<std::uint64_t>(count) > limit / variable.bytes))
            return cursor.complain("an array of less than 2 GiB");
        variable.bytes *= static_cast<std::uint64_t>(count);
    }
    return variable;
}

namespace {

class ModuleParser
{
public:
    explicit ModuleParser(const std::vector<Token>& tokens) : m_cursor(tokens) {}

    Result<Module> run()
    {
        if (!m_cursor.now().is(".version"))
            return m_cursor.complain(".version at the start of the PTX text");
        while (!m_cursor.atEnd())
            ESPALIER_CHECK(item());
        return std::move(m_module);
    }

private:
    Result<void> item()
    {
        const Token& token = m_cursor.now();
        if (token.is(".version") || token.is(".target") || token.is(".address_size"))
            return skipLine();
        if (token.is(".file"))
            return file();
        if (token.is(".section"))
            return section();
        if (token.is(".pragma") || token.is(".alias"))
            return skipPast(';');
        if (token.is(';') || token.is(".loc"))
            return token.is(';') ? skipPast(';') : skipLine();
        return declaration();
    }

    Result<void> skipLine()
    {
        const int line = m_cursor.now().line;
        while (!m_cursor.atEnd() && m_cursor.now().line == line)
            m_cursor.next();
        return {};
    }

    Result<void> skipPast(char end)
    {
        while (!m_cursor.atEnd() && !m_cursor.now().is(end))
            m_cursor.next();
        return m_cursor.expect(end);
    }

    Result<void> file()
    {
        m_cursor.next();
        ESPALIER_TRY(const std::int64_t number, m_cursor.integer());
        if (m_cursor.now().kind != TokenKind::String)
            return m_cursor.complain("a file name in quotes");
        m_module.files[static_cast<std::uint32_t>(number)] = std::string(m_cursor.next().text);
        while (m_cursor.accept(',')) // time stamp and size
            ESPALIER_CHECK(m_cursor.integer());
        return {};
    }

    /// .section .debug_str { label: .b8 104,101,120,112,0 ... }; other sections are skipped.
    Result<void> section()
    {
        m_cursor.next();
        const bool strings = m_cursor.now().is(".debug_str");
        while (!m_cursor.atEnd() && !m_cursor.now().is('{'))
            m_cursor.next();
        std::string* text = nullptr;
        while (strings && !m_cursor.atEnd() && !m_cursor.now().is('}')) {
            const Token token = m_cursor.next();
            PtxNumber number;
            if (token.kind == TokenKind::Word && m_cursor.accept(':'))
                text = &m_module.strings[token.text];
            else if (text && token.kind == TokenKind::Number && readPtxNumber(token.text, number) && number.bits != 0)
                *text += static_cast<char>(number.bits);
        }
        return skipPast('}');
    }

    Result<void> declaration()
    {
        bool external = false;
        while (m_cursor.now().kind == TokenKind::Word) {
            const std::string_view word = m_cursor.now().text;
            if (word == ".extern")
                external = true;
            else if (word != ".visible" && word != ".weak" && word != ".common")
                break;
            m_cursor.next();
        }
        if (m_cursor.accept(".func"))
            return function(false);
        if (m_cursor.accept(".entry"))
            return function(true);
        if (m_cursor.accept(".global") || m_cursor.now().is(".tex"))
            return global(Space::Global, external);
        if (m_cursor.accept(".const"))
            return global(Space::Const, external);
        if (m_cursor.accept(".shared"))
            return global(Space::Shared, external);
        return m_cursor.complain("a directive of a PTX module");
    }

    Result<void> global(Space space, bool external)
    {
        while (true) {
            GlobalDecl decl;
            ESPALIER_TRY(decl.variable, parseVariable(m_cursor, space));
            decl.variable.external = external;
            if (m_cursor.accept('='))
                ESPALIER_CHECK(initializer(decl, decl.variable.elementBytes));
            m_module.globalByName[decl.variable.name] = static_cast<std::uint32_t>(m_module.globals.size());
            m_module.globals.push_back(std::move(decl));
            if (!m_cursor.accept(','))
                break;
        }
        return m_cursor.expect(';');
    }

    Result<void> initializer(GlobalDecl& decl, std::uint32_t element)
    {
        if (!m_cursor.accept('{'))
            return initialValue(decl, element);
        int depth = 1;
        while (depth > 0) {
            if (m_cursor.accept('{'))
                ++depth;
            else if (m_cursor.accept('}'))
                --depth;
            else if (!m_cursor.accept(','))
                ESPALIER_CHECK(initialValue(decl, element));
        }
        return {};
    }

    Result<void> initialValue(GlobalDecl& decl, std::uint32_t element)
    {
        const std::size_t offset = decl.initial.size();
        if (offset + element > decl.variable.bytes)
            return m_cursor.complain("no more initial values than the variable holds");
        std::uint64_t bits = 0;
        if (m_cursor.now().kind == TokenKind::Word) {
            ESPALIER_CHECK(initialAddress(decl, static_cast<std::uint32_t>(offset)));
        } else {
            const bool minus = m_cursor.accept('-');
            PtxNumber number;
            if (m_cursor.now().kind != TokenKind::Number || !readPtxNumber(m_cursor.now().text, number))
                return m_cursor.complain("an initial value");
            m_cursor.next();
            bits = number.bits;
            if (number.isFloat && element == 4)
                bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(number.bits)));
            if (minus)
                bits = number.isFloat ? bits ^ (element == 4 ? 0x80000000u : std::uint64_t{1} << 63) : 0 - bits;
        }
        decl.initial.resize(offset + element);
        std::memcpy(decl.initial.data() + offset, &bits, std::min<std::size_t>(element, 8));
        return {};
    }

    /// name, name+4, generic(name), generic(name)+4
    Result<void> initialAddress(GlobalDecl& decl, std::uint32_t offset)
    {
        Initializer init{.offset = offset};
        ESPALIER_TRY(init.symbol, m_cursor.word("the name of a variable"));
        if (init.symbol == "generic" && m_cursor.accept('(')) {
            ESPALIER_TRY(init.symbol, m_cursor.word("the name of a variable"));
            ESPALIER_CHECK(m_cursor.expect(')'));
        }
        if (m_cursor.accept('+')) {
            ESPALIER_TRY(init.addend, m_cursor.integer());
        }
        decl.addresses.push_back(init);
        return {};
    }

    Result<void> function(bool entry)
    {
        Function made;
        made.entry = entry;
        made.line = m_cursor.now().line;
        if (m_cursor.now().is('('))
            ESPALIER_CHECK(parameterList(made, made.results));
        ESPALIER_TRY(made.name, m_cursor.word("the name of a function"));
        if (m_cursor.now().is('('))
            ESPALIER_CHECK(parameterList(made, made.parameters));
        ESPALIER_CHECK(attributes(made));
        if (!m_cursor.accept(';')) {
            ESPALIER_CHECK(m_cursor.expect('{'));
            made.defined = true;
            BodyParser body(m_cursor, made);
            for (std::uint32_t i = 0; i < made.variables.size(); ++i)
                body.declareParameter(i);
            ESPALIER_CHECK(body.parse());
        }
        return keep(std::move(made));
    }

    Result<void> keep(Function made)
    {
        const auto known = m_module.functionByName.find(made.name);
        if (known == m_module.functionByName.end()) {
            m_module.functionByName[made.name] = static_cast<std::uint32_t>(m_module.functions.size());
            m_module.functions.push_back(std::move(made));
            return {};
        }
        Function& before = m_module.functions[known->second];
        if (before.defined && made.defined)
            return fail(ErrorCode::InvalidInput, fmt::format("line {}: {} is defined twice", made.line, made.name));
        if (made.defined)
            before = std::move(made);
        return {};
    }

    Result<void> parameterList(Function& function, std::vector<std::uint32_t>& list)
    {
        ESPALIER_CHECK(m_cursor.expect('('));
        while (!m_cursor.accept(')')) {
            if (m_cursor.accept(','))
                continue;
            if (!m_cursor.accept(".param") && !m_cursor.accept(".reg"))
                return m_cursor.complain("a .param declaration");
            ESPALIER_TRY(VariableDecl variable, parseVariable(m_cursor, Space::Param));
            list.push_back(static_cast<std::uint32_t>(function.variables.size()));
            function.variables.push_back(variable);
        }
        return {};
    }

    Result<void> attributes(Function& function)
    {
        while (m_cursor.now().kind == TokenKind::Word) {
            const std::string_view word = m_cursor.next().text;
            std::uint64_t product = 1;
            while (m_cursor.now().kind == TokenKind::Number || m_cursor.now().is(',')) {
                if (m_cursor.accept(','))
                    continue;
                ESPALIER_TRY(const std::int64_t value, m_cursor.integer());
                product = std::min<std::uint64_t>(product, 65536) * static_cast<std::uint64_t>(value & 0xFFFFFF);
            }
            while (m_cursor.now().kind == TokenKind::String)
                m_cursor.next();
            if (word == ".maxntid" || word == ".reqntid")
                function.maxThreads = static_cast<std::uint32_t>(std::min<std::uint64_t>(product, 0xFFFFFFFF));
            if (word == ".reqnctapercluster" || word == ".explicitcluster")
                function.cluster = function.cluster || product != 1;
        }
        return {};
    }

    TokenCursor m_cursor;
    Module m_module;
};

} // namespace

Result<Module> parsePtx(std::string_view text)
{
    ESPALIER_TRY(const std::vector<Token> tokens, lexPtx(text));
    return ModuleParser(tokens).run();
}

} // namespace espalier::sim
