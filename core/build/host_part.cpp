// SPDX-License-Identifier: Apache-2.0
#include "core/build/host_part.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace espalier {
namespace {

bool isNameStart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isBlank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

enum class TokenKind {
    Name,
    Number,
    Text,
    Sign,
    Pragma
}; ///< Pragma: a name in a #pragma line, outside of the structure

struct Token {
    TokenKind kind;
    std::string_view text;
    std::size_t begin, end;
    bool device = false;  ///< stands in the body of a device function
    bool neutral = false; ///< of a declaration that makes no code by itself
};

struct SourceMacro {
    std::string_view name;
    std::vector<std::string_view> names; ///< in its replacement
    std::size_t begin = 0, end = 0;      ///< of its replacement
    bool integer = false;                ///< an object-like macro whose replacement is one number
};

struct Lexed {
    std::vector<Token> tokens;
    std::vector<SourceMacro> macros;
    std::vector<std::size_t> directives; ///< where includes and macros stand
    std::size_t lastInclude = 0;
};

/// What decides where a function lives, or lets its body reach into declarations: no macro may hide it.
constexpr std::array<std::string_view, 5> places = {"__host__", "__device__", "__global__", "__attribute__",
                                                    "__declspec"};
constexpr std::array<std::string_view, 6> reaching = {"auto",      "decltype", "constexpr",
                                                      "consteval", "operator", "requires"};

bool isOneOf(std::string_view word, std::span<const std::string_view> words)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Splits a text into tokens and macros. nullopt for what would need a preprocessor to understand.
class Lexer
{
public:
    explicit Lexer(std::string_view source) : m_source(source) {}

    std::optional<Lexed> run()
    {
        bool lineStart = true;
        while (m_at < m_source.size()) {
            const char c = m_source[m_at];
            if (c == '\n') {
                lineStart = true;
                ++m_at;
            } else if (isBlank(c)) {
                ++m_at;
            } else if (starts("//") || starts("/*")) {
                skipComment();
            } else if (c == '#' && lineStart) {
                if (!directive()) {
                    return std::nullopt;
                }
            } else {
                lineStart = false;
                if (!token(m_lexed.tokens)) {
                    return std::nullopt;
                }
            }
        }
        return std::move(m_lexed);
    }

private:
    bool starts(std::string_view what) const { return m_source.substr(m_at).starts_with(what); }

    void skipComment()
    {
        const bool line = starts("//");
        std::size_t end = m_source.find(line ? "\n" : "*/", m_at + 2);
        if (line) { // a backslash before the line's end goes on
            while (end != std::string_view::npos && m_source[end - 1] == '\\') {
                end = m_source.find('\n', end + 1);
            }
        }
        m_at = end == std::string_view::npos ? m_source.size() : end + (line ? 0 : 2);
    }

    bool token(std::vector<Token>& into)
    {
        const std::size_t begin = m_at;
        const char c = m_source[m_at];
        TokenKind kind = TokenKind::Sign;
        if (isNameStart(c)) {
            kind = TokenKind::Name;
            skipName();
            const std::string_view name = m_source.substr(begin, m_at - begin);
            if (m_at < m_source.size() && m_source[m_at] == '"' && name.ends_with('R')) {
                return false; // a raw string
            }
        } else if (isDigit(c) || (c == '.' && m_at + 1 < m_source.size() && isDigit(m_source[m_at + 1]))) {
            kind = TokenKind::Number;
            skipNumber();
        } else if (c == '"' || c == '\'') {
            kind = TokenKind::Text;
            if (!skipQuoted(c)) {
                return false;
            }
        } else if (c == '\\' || starts("<%") || starts("%>") || starts("??") || starts("%:")) {
            return false; // a spliced line, a digraph, a trigraph
        } else {
            ++m_at;
        }
        into.push_back({kind, m_source.substr(begin, m_at - begin), begin, m_at});
        return true;
    }

    void skipName()
    {
        while (m_at < m_source.size() && (isNameStart(m_source[m_at]) || isDigit(m_source[m_at]))) {
            ++m_at;
        }
    }

    void skipNumber()
    {
        while (m_at < m_source.size()) {
            const char c = m_source[m_at];
            const bool sign =
                (c == '+' || c == '-') && std::string_view("eEpP").find(m_source[m_at - 1]) != std::string_view::npos;
            const bool quote = c == '\'' && m_at + 1 < m_source.size() &&
                               isNameStart(m_source[m_at + 1]) + isDigit(m_source[m_at + 1]) > 0;
            if (!isNameStart(c) && !isDigit(c) && c != '.' && !sign && !quote) {
                break;
            }
            ++m_at;
        }
    }

    bool skipQuoted(char quote)
    {
        for (++m_at; m_at < m_source.size() && m_source[m_at] != '\n'; ++m_at) {
            if (m_source[m_at] == '\\') {
                ++m_at;
            } else if (m_source[m_at] == quote) {
                ++m_at;
                return true;
            }
        }
        return false;
    }

    /// The tokens of the rest of a directive's line. nullopt where it goes on in the next.
    std::optional<std::vector<Token>> restOfLine()
    {
        std::vector<Token> tokens;
        while (m_at < m_source.size() && m_source[m_at] != '\n') {
            if (isBlank(m_source[m_at])) {
                ++m_at;
            } else if (starts("/*")) {
                const std::size_t end = m_source.find("*/", m_at + 2);
                if (end == std::string_view::npos ||
                    m_source.substr(m_at, end - m_at).find('\n') != std::string_view::npos) {
                    return std::nullopt;
                }
                skipComment();
            } else if (starts("//")) {
                skipComment();
            } else if (!token(tokens)) {
                return std::nullopt;
            }
        }
        return tokens;
    }

    bool directive()
    {
        ++m_at; // #
        const std::size_t lineBegin = m_at;
        const std::size_t lineEnd = std::min(m_source.find('\n', m_at), m_source.size());
        if (m_source.substr(lineBegin, lineEnd - lineBegin).find("include") != std::string_view::npos) {
            const std::string_view line = m_source.substr(lineBegin, lineEnd - lineBegin);
            const std::size_t word = line.find_first_not_of(" \t");
            if (line.substr(word).starts_with("include") && line.find('\\') == std::string_view::npos) {
                m_at = lineEnd;
                m_lexed.directives.push_back(lineBegin);
                m_lexed.lastInclude = lineEnd;
                return true;
            }
        }
        const auto rest = restOfLine();
        if (!rest || rest->empty()) {
            return rest.has_value();
        }
        const std::string_view what = rest->front().text;
        if (what == "pragma") {
            for (std::size_t i = 1; i < rest->size(); ++i) {
                Token one = (*rest)[i];
                one.kind = TokenKind::Pragma;
                m_lexed.tokens.push_back(one);
            }
            return true;
        }
        m_lexed.directives.push_back(lineBegin);
        return what == "define" && define(*rest);
    }

    bool define(const std::vector<Token>& words)
    {
        if (words.size() < 2 || words[1].kind != TokenKind::Name) {
            return false;
        }
        SourceMacro macro;
        macro.name = words[1].text;
        const bool function = words.size() > 2 && words[2].text == "(" && words[2].begin == words[1].end;
        for (std::size_t i = 2; i < words.size(); ++i) {
            const std::string_view text = words[i].text;
            if (text == "{" || text == "}" || text == "#" || isOneOf(text, places) || isOneOf(text, reaching)) {
                return false;
            }
            if (words[i].kind == TokenKind::Name) {
                macro.names.push_back(text);
            }
        }
        macro.integer = !function && words.size() == 3 && words[2].kind == TokenKind::Number;
        if (macro.integer) {
            macro.begin = words[2].begin;
            macro.end = words[2].end;
        }
        const bool again = std::any_of(m_lexed.macros.begin(), m_lexed.macros.end(),
                                       [&](const SourceMacro& one) { return one.name == macro.name; });
        m_lexed.macros.push_back(macro);
        return !again && !isOneOf(macro.name, places) && !isOneOf(macro.name, reaching);
    }

    std::string_view m_source;
    std::size_t m_at = 0;
    Lexed m_lexed;
};

struct Body {
    std::size_t begin, end; ///< bytes between the braces
};

/// Finds the bodies of device functions and marks every token with where it stands. False where braces do not close.
class Structure
{
public:
    explicit Structure(std::vector<Token>& tokens) : m_tokens(tokens) {}

    bool read()
    {
        int containers = 0;
        m_declaration = 0;
        int parens = 0;
        for (std::size_t i = 0; i < m_tokens.size(); ++i) {
            const Token& token = m_tokens[i];
            if (token.kind != TokenKind::Sign) {
                continue;
            }
            if (token.text == "(") {
                ++parens;
            } else if (token.text == ")") {
                --parens;
            } else if (token.text == ";" && parens == 0) {
                endDeclaration(i);
            } else if (token.text == "{" && parens == 0 && opensContainer(i)) {
                ++containers;
                m_declaration = i + 1;
            } else if (token.text == "{") {
                const bool function = parens == 0 && isFunction(i);
                const auto close = matching(i);
                if (!close) {
                    return false;
                }
                if (function && isOnDeviceAlone(i)) {
                    bodies.push_back({token.end, m_tokens[*close].begin});
                    for (std::size_t inner = i + 1; inner < *close; ++inner) {
                        m_tokens[inner].device = true;
                    }
                }
                i = *close;
                if (function) {
                    m_declaration = i + 1;
                }
            } else if (token.text == "}") {
                if (--containers < 0) {
                    return false;
                }
                m_declaration = i + 1;
            }
        }
        return containers == 0 && parens == 0;
    }

    std::vector<Body> bodies;
    std::vector<std::pair<std::string_view, std::vector<std::string_view>>> constants; ///< name, names in its value

private:
    template <typename Test>
    bool anyBefore(std::size_t end, const Test& test) const
    {
        for (std::size_t i = m_declaration; i < end; ++i) {
            if (m_tokens[i].kind != TokenKind::Pragma && test(m_tokens[i])) {
                return true;
            }
        }
        return false;
    }
    bool has(std::size_t end, std::string_view text) const
    {
        return anyBefore(end, [&](const Token& token) { return token.text == text; });
    }

    bool opensContainer(std::size_t brace) const
    {
        const bool linkage =
            has(brace, "extern") && anyBefore(brace, [](const Token& token) { return token.kind == TokenKind::Text; });
        return has(brace, "namespace") || (linkage && !has(brace, "("));
    }

    bool isFunction(std::size_t brace) const
    {
        const std::array<std::string_view, 5> others = {"class", "struct", "union", "enum", "="};
        return has(brace, "(") &&
               std::none_of(others.begin(), others.end(), [&](std::string_view word) { return has(brace, word); });
    }

    bool isOnDeviceAlone(std::size_t brace) const
    {
        return (has(brace, "__global__") || has(brace, "__device__")) && !has(brace, "__host__") &&
               std::none_of(reaching.begin(), reaching.end(), [&](std::string_view word) { return has(brace, word); });
    }

    std::optional<std::size_t> matching(std::size_t open) const
    {
        int depth = 0;
        for (std::size_t i = open; i < m_tokens.size(); ++i) {
            if (m_tokens[i].kind == TokenKind::Sign && m_tokens[i].text == "{") {
                ++depth;
            } else if (m_tokens[i].kind == TokenKind::Sign && m_tokens[i].text == "}" && --depth == 0) {
                return i;
            }
        }
        return std::nullopt;
    }

    /// `constexpr int n = 4 * STAGES;` makes no code, and passes on what it reads; static_assert neither.
    void endDeclaration(std::size_t semicolon)
    {
        const std::size_t first = std::exchange(m_declaration, semicolon + 1);
        std::size_t equals = first;
        while (equals < semicolon && m_tokens[equals].text != "=") {
            ++equals;
        }
        bool braces = false, constant = false;
        for (std::size_t i = first; i < semicolon; ++i) {
            braces = braces || m_tokens[i].text == "{";
            constant = constant || (i < equals && m_tokens[i].text == "constexpr");
        }
        const bool assertion = first < semicolon && m_tokens[first].text == "static_assert";
        const bool named =
            constant && equals < semicolon && equals > first && m_tokens[equals - 1].kind == TokenKind::Name;
        const bool several =
            std::any_of(m_tokens.begin() + static_cast<std::ptrdiff_t>(first),
                        m_tokens.begin() + static_cast<std::ptrdiff_t>(semicolon), [](const Token& token) {
                            return token.text == "," || token.text == "inline" || token.text == "extern";
                        });
        if (braces || (!assertion && (!named || several))) {
            return;
        }
        for (std::size_t i = first; i < semicolon; ++i) {
            m_tokens[i].neutral = true;
        }
        if (!assertion) {
            auto& [name, names] = constants.emplace_back(m_tokens[equals - 1].text, std::vector<std::string_view>());
            for (std::size_t i = first; i < semicolon; ++i) {
                if (m_tokens[i].kind == TokenKind::Name && i != equals - 1) {
                    names.push_back(m_tokens[i].text);
                }
            }
        }
    }

    std::vector<Token>& m_tokens;
    std::size_t m_declaration = 0; ///< its first token
};

} // namespace

std::optional<std::string> hostPartOf(std::string_view source)
{
    auto lexed = Lexer(source).run();
    if (!lexed) {
        return std::nullopt;
    }
    Structure structure(lexed->tokens);
    if (!structure.read() || structure.bodies.empty()) {
        return std::nullopt;
    }
    for (const Body& body : structure.bodies) {
        if (std::any_of(lexed->directives.begin(), lexed->directives.end(),
                        [&](std::size_t at) { return at >= body.begin && at < body.end; })) {
            return std::nullopt; // what is defined in there may be read after it
        }
    }
    std::multimap<std::string_view, std::string_view> readBy; // a name, and who passes it on
    for (const SourceMacro& macro : lexed->macros) {
        for (const std::string_view name : macro.names) {
            readBy.emplace(name, macro.name);
        }
    }
    for (const auto& [constant, names] : structure.constants) {
        for (const std::string_view name : names) {
            readBy.emplace(name, constant);
        }
    }
    std::set<std::string_view> ofHost;
    for (const Token& token : lexed->tokens) {
        if ((token.kind == TokenKind::Name || token.kind == TokenKind::Pragma) && !token.device && !token.neutral) {
            ofHost.insert(token.text);
        }
    }
    if (ofHost.contains("__LINE__") || ofHost.contains("assert")) { // a longer body moves the lines after it
        return std::nullopt;
    }
    std::vector<std::pair<std::size_t, std::size_t>> blanked;
    for (const Body& body : structure.bodies) {
        blanked.emplace_back(body.begin, body.end);
    }
    for (const SourceMacro& macro : lexed->macros) {
        if (!macro.integer || macro.begin < lexed->lastInclude) { // a header may read it
            continue;
        }
        std::set<std::string_view> reached = {macro.name};
        std::vector<std::string_view> open = {macro.name};
        while (!open.empty()) {
            const auto [first, last] = readBy.equal_range(open.back());
            open.pop_back();
            for (auto one = first; one != last; ++one) {
                if (reached.insert(one->second).second) {
                    open.push_back(one->second);
                }
            }
        }
        if (std::none_of(reached.begin(), reached.end(),
                         [&](std::string_view name) { return ofHost.contains(name); })) {
            blanked.emplace_back(macro.begin, macro.end);
        }
    }
    std::sort(blanked.begin(), blanked.end());
    std::string part;
    std::size_t at = 0;
    for (const auto& [begin, end] : blanked) {
        part.append(source.substr(at, begin - at));
        at = end;
    }
    part.append(source.substr(at));
    return part;
}

} // namespace espalier
