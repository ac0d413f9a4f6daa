// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// A document that is written once and printed as Markdown and as HTML. Texts are plain: what is special in either
/// language is escaped here. A value.
class ReportText
{
public:
    void heading(int level, std::string_view text);
    void paragraph(std::string_view text);
    void list(const std::vector<std::string>& items);
    void table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);
    void code(std::string_view language, std::string_view text);
    /// An SVG picture: inline in HTML, a file beside the Markdown.
    void picture(std::string_view file, std::string_view svg, std::string_view words);

    const std::string& markdown() const { return m_markdown; }
    std::string html(std::string_view title) const; ///< self-contained, valid HTML 5

private:
    std::string m_markdown, m_html;
};

} // namespace espalier
