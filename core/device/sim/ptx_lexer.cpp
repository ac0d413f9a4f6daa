// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/ptx_lexer.h"

#include <bit>
#include <charconv>
#include <fmt/format.h>
#include <string>

namespace espalier::sim {

namespace {

bool isWordStart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

class Lexer
{
public:
    explicit Lexer(std::string_view text) : m_text(text) {}

    Result<std::vector<Token>> run()
    {
        while (skipBlank()) {
            const char c = m_text[m_at];
            if (isWordStart(c))
                take(TokenKind::Word, wordEnd());
            else if (isDigit(c))
                take(TokenKind::Number, numberEnd());
            else if (c == '"') {
                if (!takeString())
                    return fail(ErrorCode::InvalidInput, fmt::format("line {}: a string has no end", m_line));
            } else
                take(TokenKind::Punct, m_at + 1);
        }
        if (m_openComment)
            return fail(ErrorCode::InvalidInput, fmt::format("line {}: a comment has no end", m_line));
        m_tokens.push_back({TokenKind::End, {}, m_line});
        return std::move(m_tokens);
    }

private:
    char peek(std::size_t ahead) const { return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0'; }

    /// False at the end of the text.
    bool skipBlank()
    {
        while (m_at < m_text.size()) {
            const char c = m_text[m_at];
            if (c == '\n')
                ++m_line;
            if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
                ++m_at;
            else if (c == '/' && peek(1) == '/')
                m_at = std::min(m_text.find('\n', m_at), m_text.size());
            else if (c == '/' && peek(1) == '*')
                skipComment();
            else if (c == '\0')
                ++m_at; // the text in a fatbin may carry a terminating zero
            else
                return true;
        }
        return false;
    }

    void skipComment()
    {
        const std::size_t end = m_text.find("*/", m_at + 2);
        m_openComment = end == std::string_view::npos;
        const std::size_t stop = m_openComment ? m_text.size() : end + 2;
        for (; m_at < stop; ++m_at)
            m_line += m_text[m_at] == '\n';
    }

    /// A directive ends where the next begins: hand-written assembly in the toolkit's headers says ".reg.b32".
    std::size_t wordEnd() const
    {
        const bool directive = m_text[m_at] == '.';
        std::size_t at = m_at + 1;
        while (at < m_text.size()) {
            if (directive && m_text[at] == '.')
                break;
            if (isWordStart(m_text[at]) || isDigit(m_text[at]))
                ++at;
            else if (m_text[at] == ':' && at + 1 < m_text.size() && m_text[at + 1] == ':')
                at += 2; // ld.global.L2::128B
            else
                break;
        }
        return at;
    }

    std::size_t numberEnd() const
    {
        std::size_t at = m_at + 1;
        while (at < m_text.size()) {
            const char c = m_text[at];
            const bool exponentSign = (c == '-' || c == '+') && (m_text[at - 1] == 'e' || m_text[at - 1] == 'E') &&
                                      m_text.substr(m_at, at - m_at).find('.') != std::string_view::npos;
            if (isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || exponentSign)
                ++at;
            else
                break;
        }
        return at;
    }

    void take(TokenKind kind, std::size_t end)
    {
        m_tokens.push_back({kind, m_text.substr(m_at, end - m_at), m_line});
        m_at = end;
    }

    bool takeString()
    {
        std::size_t end = m_at + 1;
        while (end < m_text.size() && m_text[end] != '"' && m_text[end] != '\n')
            end += m_text[end] == '\\' ? 2 : 1;
        if (end >= m_text.size() || m_text[end] != '"')
            return false;
        m_tokens.push_back({TokenKind::String, m_text.substr(m_at + 1, end - m_at - 1), m_line});
        m_at = end + 1;
        return true;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_line = 1;
    bool m_openComment = false;
    std::vector<Token> m_tokens;
};

bool readInteger(std::string_view digits, int base, std::uint64_t& value)
{
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    return error == std::errc{} && end == digits.data() + digits.size() && !digits.empty();
}

} // namespace

Result<std::vector<Token>> lexPtx(std::string_view text)
{
    return Lexer(text).run();
}

bool readPtxNumber(std::string_view text, PtxNumber& number)
{
    number = {};
    if (text.size() == 10 && text[0] == '0' && (text[1] == 'f' || text[1] == 'F')) {
        std::uint64_t bits = 0;
        if (!readInteger(text.substr(2), 16, bits))
            return false;
        number.isFloat = true;
        number.bits =
            std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
        return true;
    }
    if (text.size() == 18 && text[0] == '0' && (text[1] == 'd' || text[1] == 'D')) {
        number.isFloat = true;
        return readInteger(text.substr(2), 16, number.bits);
    }
    if (text.find('.') != std::string_view::npos) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        number.isFloat = true;
        number.bits = std::bit_cast<std::uint64_t>(value);
        return error == std::errc{} && end == text.data() + text.size();
    }
    if (text.ends_with('U') || text.ends_with('u'))
        text.remove_suffix(1);
    if (text.starts_with("0x") || text.starts_with("0X"))
        return readInteger(text.substr(2), 16, number.bits);
    if (text.starts_with("0b") || text.starts_with("0B"))
        return readInteger(text.substr(2), 2, number.bits);
    if (text.size() > 1 && text[0] == '0')
        return readInteger(text.substr(1), 8, number.bits);
    return readInteger(text, 10, number.bits);
}

} // namespace espalier::sim
