// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/dialect.h"
#include "core/llm/sse.h"

#include <string>
#include <string_view>

namespace espalier::llm {

/// The bytes of one HTTP answer, in pieces of any size, to what the model said: server-sent events, or one JSON value
/// where a server does not stream. Thread: one. Refers to the dialect. Never fails: usable() tells what came.
class AnswerReader
{
public:
    explicit AnswerReader(const Dialect& dialect) : m_dialect(&dialect) {}

    void feed(std::string_view bytes);
    /// The connection has ended.
    void finish();

    const Reading& reading() const { return m_reading; }
    /// Something of this dialect was understood; false after finish(): this is no model's answer.
    bool usable() const { return m_understood; }
    std::size_t bytes() const { return m_bytes; }
    /// The bytes as they came, for the record: whole up to 256 KiB, else the first 192 and the last 64 of them.
    std::string raw() const;

private:
    enum class Form { Unknown, Events, Whole };
    void keep(std::string_view bytes);
    void event(std::string_view data);

    const Dialect* m_dialect;
    Form m_form = Form::Unknown;
    Reading m_reading;
    SseSplitter m_events;
    std::string m_whole, m_head, m_tail;
    std::size_t m_bytes = 0;
    bool m_understood = false;
};

} // namespace espalier::llm
