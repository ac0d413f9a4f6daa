// SPDX-License-Identifier: Apache-2.0
#include "core/llm/answer_reader.h"

#include "core/base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier::llm {

namespace {

constexpr std::size_t keptHead = std::size_t{192} << 10, keptTail = std::size_t{64} << 10;

} // namespace

void AnswerReader::feed(std::string_view bytes)
{
    keep(bytes);
    if (m_form == Form::Unknown) { // white space before an answer belongs to neither form
        bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
        if (bytes.empty()) {
            return;
        }
        m_form = bytes[0] == '{' || bytes[0] == '[' ? Form::Whole : Form::Events;
    }
    if (m_form == Form::Whole) {
        m_whole += bytes;
    } else {
        m_events.feed(bytes, [this](std::string_view, std::string_view data) { event(data); });
    }
}

void AnswerReader::finish()
{
    if (m_form == Form::Events) {
        m_events.finish([this](std::string_view, std::string_view data) { event(data); });
    } else if (m_form == Form::Whole) {
        const Json answer = Json::parse(m_whole, nullptr, false);
        m_understood = answer.is_structured();
        if (m_understood) {
            m_dialect->readWhole(answer, m_reading);
        }
    }
}

void AnswerReader::event(std::string_view data)
{
    if (m_dialect->isEnd(trimmed(data))) {
        m_reading.ended = true;
        m_understood = true;
        return;
    }
    const Json json = Json::parse(data, nullptr, false);
    if (json.is_object() || json.is_array()) {
        m_understood = true;
        m_dialect->readEvent(json, m_reading);
    }
}

void AnswerReader::keep(std::string_view bytes)
{
    m_bytes += bytes.size();
    const std::size_t head = std::min(bytes.size(), keptHead - std::min(keptHead, m_head.size()));
    m_head += bytes.substr(0, head);
    m_tail += bytes.substr(head);
    if (m_tail.size() > 2 * keptTail) {
        m_tail.erase(0, m_tail.size() - keptTail);
    }
}

std::string AnswerReader::raw() const
{
    const std::size_t shown = std::min(m_tail.size(), keptTail);
    const std::size_t left = m_bytes - m_head.size() - shown;
    return m_head + (left > 0 ? fmt::format("\n[{} bytes left out]\n", left) : "") +
           m_tail.substr(m_tail.size() - shown);
}

} // namespace espalier::llm
