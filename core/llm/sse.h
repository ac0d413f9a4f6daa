// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace espalier::llm {

/// Server-sent events out of bytes that come in pieces of any size: comments dropped, lines that end in \n, \r\n or \r,
/// data of several lines joined, a byte-order mark skipped. Thread: one. Never fails; what is no event is ignored.
class SseSplitter
{
public:
    /// `event` is empty where the server named none.
    using Sink = std::function<void(std::string_view event, std::string_view data)>;

    void feed(std::string_view bytes, const Sink& sink);
    /// The stream has ended: an event whose empty line is missing is given out all the same.
    void finish(const Sink& sink);

private:
    void line(std::string_view text, const Sink& sink);
    void dispatch(const Sink& sink);

    std::string m_line, m_event, m_data;
    bool m_hasData = false, m_afterReturn = false, m_first = true;
};

} // namespace espalier::llm
