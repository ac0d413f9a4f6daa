// SPDX-License-Identifier: Apache-2.0
#include "core/propose/source_text.h"

#include "core/base/hash.h"

#include <cctype>

namespace espalier {
namespace {

/// Walks once over the text. Every step consumes at least one byte.
class Normaliser
{
public:
    explicit Normaliser(std::string_view text) : m_text(text) { m_out.reserve(text.size()); }

    std::string run()
    {
        while (m_at < m_text.size()) {
            step();
        }
        endLine();
        return std::move(m_out);
    }

private:
    bool follows(std::string_view what) const { return m_text.substr(m_at, what.size()) == what; }

    void step()
    {
        const char c = m_text[m_at];
        if (follows("//")) {
            skipLineComment();
        } else if (follows("/*")) {
            const std::size_t end = m_text.find("*/", m_at + 2);
            m_at = end == std::string_view::npos ? m_text.size() : end + 2;
            m_blank = true;
        } else if (c == 'R' && follows("R\"") && !insideWord()) {
            copyRaw();
        } else if (c == '"' || (c == '\'' && !insideWord())) {
            copyLiteral(c);
        } else if (c == '\n' || c == '\r') {
            endLine();
            ++m_at;
        } else if (c == ' ' || c == '\t' || c == '\f' || c == '\v') {
            m_blank = true;
            ++m_at;
        } else {
            put(c);
            ++m_at;
        }
    }

    /// A quote after a letter or digit is a digit separator (1'000), not a literal.
    bool insideWord() const
    {
        return !m_blank && !m_out.empty() &&
               (std::isalnum(static_cast<unsigned char>(m_out.back())) || m_out.back() == '_');
    }

    void skipLineComment()
    {
        // A backslash before the line end continues the comment.
        while (m_at < m_text.size() && m_text[m_at] != '\n') {
            m_at += m_text[m_at] == '\\' && m_at + 1 < m_text.size() ? 2 : 1;
        }
        m_blank = true;
    }

    void copyLiteral(char quote)
    {
        put(m_text[m_at++]);
        while (m_at < m_text.size() && m_text[m_at] != '\n') {
            const char c = m_text[m_at++];
            m_out += c;
            if (c == '\\' && m_at < m_text.size() && m_text[m_at] != '\n') {
                m_out += m_text[m_at++];
            } else if (c == quote) {
                return;
            }
        }
    }

    void copyRaw()
    {
        const std::size_t open = m_text.find('(', m_at + 2);
        std::size_t end = std::string_view::npos;
        if (open != std::string_view::npos && open - m_at - 2 <= 16) {
            const std::string close = ")" + std::string(m_text.substr(m_at + 2, open - m_at - 2)) + "\"";
            end = m_text.find(close, open);
            end = end == std::string_view::npos ? end : end + close.size();
        }
        if (end == std::string_view::npos) { // not a raw string after all
            put(m_text[m_at++]);
            return;
        }
        put(m_text[m_at]);
        m_out += m_text.substr(m_at + 1, end - m_at - 1);
        m_at = end;
    }

    void put(char c)
    {
        if (m_blank && !m_out.empty() && m_out.back() != '\n') {
            m_out += ' ';
        }
        m_blank = false;
        m_out += c;
    }

    void endLine()
    {
        m_blank = false;
        if (!m_out.empty() && m_out.back() != '\n') {
            m_out += '\n';
        }
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    bool m_blank = false;
    std::string m_out;
};

} // namespace

std::string normalisedSource(std::string_view source)
{
    return Normaliser(source).run();
}

std::string sourceIdentity(std::string_view source)
{
    return sha256(normalisedSource(source));
}

} // namespace espalier
