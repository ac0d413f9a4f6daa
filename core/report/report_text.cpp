// SPDX-License-Identifier: Apache-2.0
#include "core/report/report_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

std::string forHtml(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

/// One line; no table bar, emphasis, link or tag in it.
std::string forMarkdown(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == '\n' || c == '\r') {
            out += ' ';
            continue;
        }
        if (c == '|' || c == '*' || c == '_' || c == '`' || c == '[' || c == ']' || c == '<' || c == '>' || c == '\\' ||
            c == '#') {
            out += '\\';
        }
        out += c;
    }
    return out;
}

/// A fence that the text does not hold.
std::string fenceFor(std::string_view text)
{
    std::size_t longest = 2, run = 0;
    for (const char c : text) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return std::string(longest + 1, '`');
}

constexpr const char* style =
    "body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 sans-serif;color:#222;background:#fff}"
    "table{border-collapse:collapse}th,td{border:1px solid #ccc;padding:.25rem "
    ".6rem;text-align:left;vertical-align:top}"
    "pre{background:#f5f5f5;padding:.8rem;overflow:auto;font:13px/1.4 monospace}svg{max-width:100%;height:auto}";

} // namespace

void ReportText::heading(int level, std::string_view text)
{
    m_markdown += fmt::format("{} {}\n\n", std::string(static_cast<std::size_t>(level), '#'), forMarkdown(text));
    m_html += fmt::format("<h{0}>{1}</h{0}>\n", level, forHtml(text));
}

void ReportText::paragraph(std::string_view text)
{
    m_markdown += forMarkdown(text) + "\n\n";
    m_html += fmt::format("<p>{}</p>\n", forHtml(text));
}

void ReportText::list(const std::vector<std::string>& items)
{
    m_html += "<ul>\n";
    for (const std::string& item : items) {
        m_markdown += "- " + forMarkdown(item) + "\n";
        m_html += fmt::format("<li>{}</li>\n", forHtml(item));
    }
    m_markdown += "\n";
    m_html += "</ul>\n";
}

void ReportText::table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows)
{
    m_html += "<table>\n<tr>";
    m_markdown += "|";
    std::string rule = "|";
    for (const std::string& cell : head) {
        m_markdown += " " + forMarkdown(cell) + " |";
        rule += " --- |";
        m_html += fmt::format("<th>{}</th>", forHtml(cell));
    }
    m_markdown += "\n" + rule + "\n";
    m_html += "</tr>\n";
    for (const auto& row : rows) {
        m_markdown += "|";
        m_html += "<tr>";
        for (const std::string& cell : row) {
            m_markdown += " " + forMarkdown(cell) + " |";
            m_html += fmt::format("<td>{}</td>", forHtml(cell));
        }
        m_markdown += "\n";
        m_html += "</tr>\n";
    }
    m_markdown += "\n";
    m_html += "</table>\n";
}

void ReportText::code(std::string_view language, std::string_view text)
{
    const std::string fence = fenceFor(text);
    m_markdown += fmt::format("{}{}\n{}{}{}\n\n", fence, language, text, text.ends_with('\n') ? "" : "\n", fence);
    m_html += fmt::format("<pre>{}</pre>\n", forHtml(text));
}

void ReportText::picture(std::string_view file, std::string_view svg, std::string_view words)
{
    m_markdown += fmt::format("![{}]({})\n\n", forMarkdown(words), file);
    m_html += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", svg, forHtml(words));
}

std::string ReportText::html(std::string_view title) const
{
    return fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{}</title>"
                       "<style>{}</style></head>\n<body>\n{}</body>\n</html>\n",
                       forHtml(title), style, m_html);
}

} // namespace espalier
