// SPDX-License-Identifier: Apache-2.0
#include "core/llm/sse.h"

namespace espalier::llm {

void SseSplitter::feed(std::string_view bytes, const Sink& sink)
{
    while (!bytes.empty()) {
        if (m_afterReturn && bytes[0] == '\n') { // the second half of \r\n
            bytes.remove_prefix(1);
            m_afterReturn = false;
            continue;
        }
        m_afterReturn = false;
        const std::size_t end = bytes.find_first_of("\r\n");
        if (end == std::string_view::npos) {
            m_line += bytes;
            return;
        }
        m_afterReturn = bytes[end] == '\r';
        if (m_line.empty()) {
            line(bytes.substr(0, end), sink);
        } else {
            m_line += bytes.substr(0, end);
            line(m_line, sink);
            m_line.clear();
        }
        bytes.remove_prefix(end + 1);
    }
}

void SseSplitter::finish(const Sink& sink)
{
    if (!m_line.empty()) {
        const std::string last = std::move(m_line);
        m_line.clear();
        line(last, sink);
    }
    dispatch(sink);
}

void SseSplitter::line(std::string_view text, const Sink& sink)
{
    if (m_first && text.starts_with("\xef\xbb\xbf")) {
        text.remove_prefix(3);
    }
    m_first = false;
    if (text.empty()) {
        dispatch(sink);
        return;
    }
    const std::size_t colon = text.find(':');
    const std::string_view field = text.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (value.starts_with(' ')) {
        value.remove_prefix(1);
    }
    if (field == "data") {
        if (m_hasData) {
            m_data += '\n';
        }
        m_data += value;
        m_hasData = true;
    } else if (field == "event") {
        m_event = value;
    }
}

void SseSplitter::dispatch(const Sink& sink)
{
    if (m_hasData) {
        sink(m_event, m_data);
    }
    m_event.clear();
    m_data.clear();
    m_hasData = false;
}

} // namespace espalier::llm
