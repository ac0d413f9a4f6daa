// SPDX-License-Identifier: Apache-2.0
#include "core/llm/tolerant_json.h"

#include <cctype>
#include <charconv>

namespace espalier::llm {

namespace {

constexpr int deepestNesting = 64;
constexpr std::size_t mostElements = 100'000;

/// How reading one value ended: Cut means that the text ended inside it.
enum class Read { Ok, Cut, Bad };

class TolerantReader
{
public:
    explicit TolerantReader(std::string_view text) : m_text(text) {}

    Read value(Json& into, int depth)
    {
        if (++m_elements > mostElements || depth > deepestNesting) {
            return Read::Bad;
        }
        skip();
        if (atEnd()) {
            return Read::Cut;
        }
        switch (m_text[m_at]) {
        case '{':
            return object(into, depth);
        case '[':
            return list(into, depth);
        case '"':
        case '\'':
            return string(into);
        default:
            return word(into);
        }
    }
    std::size_t position() const { return m_at; }

private:
    bool atEnd() const { return m_at >= m_text.size(); }

    /// White space and comments.
    void skip()
    {
        while (!atEnd()) {
            const std::string_view rest = m_text.substr(m_at);
            if (std::isspace(static_cast<unsigned char>(rest[0]))) {
                ++m_at;
            } else if (rest.starts_with("//")) {
                const auto end = rest.find('\n');
                m_at = end == std::string_view::npos ? m_text.size() : m_at + end;
            } else if (rest.starts_with("/*")) {
                const auto end = rest.find("*/", 2);
                m_at = end == std::string_view::npos ? m_text.size() : m_at + end + 2;
            } else {
                return;
            }
        }
    }

    void skipWithCommas()
    {
        for (skip(); !atEnd() && m_text[m_at] == ','; skip()) {
            ++m_at;
        }
    }

    Read object(Json& into, int depth)
    {
        into = Json::object();
        ++m_at;
        for (;;) {
            skipWithCommas();
            if (atEnd()) {
                return Read::Cut;
            }
            if (m_text[m_at] == '}') {
                ++m_at;
                return Read::Ok;
            }
            Json name;
            if (const Read read = m_text[m_at] == '"' || m_text[m_at] == '\'' ? string(name) : bareName(name);
                read != Read::Ok) {
                return read;
            }
            skip();
            if (atEnd()) {
                return Read::Cut;
            }
            if (m_text[m_at] != ':') {
                return Read::Bad;
            }
            ++m_at;
            Json member;
            const Read read = value(member, depth + 1);
            if (read == Read::Ok || (read == Read::Cut && member.is_structured())) {
                into[name.get<std::string>()] = std::move(member);
            }
            if (read != Read::Ok) {
                return read;
            }
        }
    }

    Read list(Json& into, int depth)
    {
        into = Json::array();
        ++m_at;
        for (;;) {
            skipWithCommas();
            if (atEnd()) {
                return Read::Cut;
            }
            if (m_text[m_at] == ']') {
                ++m_at;
                return Read::Ok;
            }
            Json element;
            const Read read = value(element, depth + 1);
            if (read != Read::Ok) {
                return read; // an element that was cut is no whole entry
            }
            into.push_back(std::move(element));
        }
    }

    Read bareName(Json& into)
    {
        const std::size_t begin = m_at;
        while (!atEnd() && (std::isalnum(static_cast<unsigned char>(m_text[m_at])) || m_text[m_at] == '_')) {
            ++m_at;
        }
        into = std::string(m_text.substr(begin, m_at - begin));
        return m_at > begin ? Read::Ok : Read::Bad;
    }

    Read string(Json& into)
    {
        const char quote = m_text[m_at++];
        std::string text;
        while (!atEnd()) {
            const char byte = m_text[m_at++];
            if (byte == quote) {
                into = std::move(text);
                return Read::Ok;
            }
            if (byte != '\\') {
                text += byte;
            } else if (!atEnd()) {
                escape(text);
            }
        }
        return Read::Cut;
    }

    void escape(std::string& text)
    {
        const char byte = m_text[m_at++];
        switch (byte) {
        case 'n':
            text += '\n';
            return;
        case 't':
            text += '\t';
            return;
        case 'r':
            text += '\r';
            return;
        case 'b':
        case 'f':
            return;
        case 'u':
            codePoint(text);
            return;
        case '"':
        case '\'':
        case '/':
        case '\\':
            text += byte;
            return;
        default: // "\d" and the like: models write LaTeX and Windows paths
            text += '\\';
            text += byte;
        }
    }

    std::optional<unsigned> fourDigits()
    {
        unsigned code = 0;
        if (m_at + 4 > m_text.size()) {
            return std::nullopt;
        }
        const char* begin = m_text.data() + m_at;
        const auto [end, error] = std::from_chars(begin, begin + 4, code, 16);
        if (error != std::errc() || end != begin + 4) {
            return std::nullopt;
        }
        m_at += 4;
        return code;
    }

    void codePoint(std::string& text)
    {
        auto code = fourDigits();
        if (!code) {
            text += "\\u";
            return;
        }
        if (*code >= 0xd800 && *code < 0xdc00 && m_text.substr(m_at).starts_with("\\u")) {
            m_at += 2;
            const auto low = fourDigits();
            code =
                low && *low >= 0xdc00 && *low < 0xe000 ? 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00) : 0xfffdu;
        } else if (*code >= 0xd800 && *code < 0xe000) {
            code = 0xfffdu;
        }
        appendUtf8(text, *code);
    }

    static void appendUtf8(std::string& text, unsigned code)
    {
        const auto put = [&](unsigned byte) { text += static_cast<char>(byte); };
        if (code < 0x80) {
            put(code);
        } else if (code < 0x800) {
            put(0xc0 | code >> 6);
            put(0x80 | (code & 0x3f));
        } else if (code < 0x10000) {
            put(0xe0 | code >> 12);
            put(0x80 | (code >> 6 & 0x3f));
            put(0x80 | (code & 0x3f));
        } else {
            put(0xf0 | code >> 18);
            put(0x80 | (code >> 12 & 0x3f));
            put(0x80 | (code >> 6 & 0x3f));
            put(0x80 | (code & 0x3f));
        }
    }

    /// Numbers and the constants of JSON and Python; any other word is no value.
    Read word(Json& into)
    {
        const std::size_t begin = m_at;
        while (!atEnd() && m_text[m_at] != ',' && m_text[m_at] != '}' && m_text[m_at] != ']' &&
               !std::isspace(static_cast<unsigned char>(m_text[m_at]))) {
            ++m_at;
        }
        const std::string_view token = m_text.substr(begin, m_at - begin);
        double number = 0;
        const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
        if (token == "true" || token == "True") {
            into = true;
        } else if (token == "false" || token == "False") {
            into = false;
        } else if (token == "null" || token == "None") {
            into = nullptr;
        } else if (!token.empty() && error == std::errc() && end == token.data() + token.size()) {
            into = number;
        } else {
            return atEnd() ? Read::Cut : Read::Bad;
        }
        return atEnd() ? Read::Cut : Read::Ok;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    std::size_t m_elements = 0;
};

} // namespace

std::optional<Json> parseTolerantly(std::string_view text, std::size_t* used)
{
    if (text.empty() || (text[0] != '{' && text[0] != '[')) {
        return std::nullopt;
    }
    TolerantReader reader(text);
    Json value;
    const Read read = reader.value(value, 0);
    if (used) {
        *used = reader.position();
    }
    return read == Read::Bad ? std::nullopt : std::optional(std::move(value));
}

} // namespace espalier::llm
