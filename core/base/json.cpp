// SPDX-License-Identifier: Apache-2.0
#include "core/base/json.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {

namespace {

std::string shortText(const Json& value)
{
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 60) {
        text.resize(57);
        text += "...";
    }
    return text;
}

/// nlohmann reports a byte offset; people read lines.
std::string placeOf(std::string_view text, std::size_t byte)
{
    const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t lineStart = before.rfind('\n');
    const std::size_t column = lineStart == std::string_view::npos ? before.size() + 1 : before.size() - lineStart;
    return fmt::format("line {}, column {}", line, column);
}

} // namespace

Result<Json> parseJson(std::string_view text, std::string_view name)
{
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        std::string_view what = error.what();
        if (const auto colon = what.find("column"); colon != std::string_view::npos) {
            const auto rest = what.find(": ", colon);
            what = rest == std::string_view::npos ? what : what.substr(rest + 2);
        }
        return fail(ErrorCode::InvalidInput, fmt::format("{}: {}: {}", name, placeOf(text, error.byte), what));
    } catch (const Json::exception& error) {
        return fail(ErrorCode::InvalidInput, fmt::format("{}: {}", name, error.what()));
    }
}

std::unexpected<Error> JsonReader::complain(std::string_view expected) const
{
    const std::string where = m_path.empty() ? m_name : fmt::format("{}: {}", m_name, m_path);
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: expected {}; found {}", where, expected, shortText(*m_value)));
}

Result<JsonReader> JsonReader::at(const char* field) const
{
    if (!m_value->is_object()) {
        return complain("an object");
    }
    const std::string path = m_path.empty() ? field : fmt::format("{}.{}", m_path, field);
    const auto found = m_value->find(field);
    if (found == m_value->end()) {
        return fail(ErrorCode::InvalidInput, fmt::format("{}: {}: this field is missing", m_name, path));
    }
    return JsonReader(*found, m_name, path);
}

Result<std::vector<JsonReader>> JsonReader::items() const
{
    if (!m_value->is_array()) {
        return complain("a list");
    }
    std::vector<JsonReader> readers;
    for (std::size_t i = 0; i < m_value->size(); ++i) {
        readers.emplace_back((*m_value)[i], m_name, fmt::format("{}[{}]", m_path, i));
    }
    return readers;
}

Result<std::vector<std::pair<std::string, JsonReader>>> JsonReader::members() const
{
    if (!m_value->is_object()) {
        return complain("an object");
    }
    std::vector<std::pair<std::string, JsonReader>> readers;
    for (const auto& [key, value] : m_value->items()) {
        readers.emplace_back(key, JsonReader(value, m_name, m_path.empty() ? key : fmt::format("{}.{}", m_path, key)));
    }
    return readers;
}

Result<std::string> JsonReader::string() const
{
    if (!m_value->is_string()) {
        return complain("a text");
    }
    return m_value->get<std::string>();
}

Result<std::int64_t> JsonReader::integer() const
{
    if (!m_value->is_number_integer()) {
        return complain("a whole number");
    }
    if (m_value->is_number_unsigned() && m_value->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
        return complain("a whole number below 2^63");
    }
    return m_value->get<std::int64_t>();
}

Result<double> JsonReader::number() const
{
    if (!m_value->is_number()) {
        return complain("a number");
    }
    return m_value->get<double>();
}

Result<bool> JsonReader::boolean() const
{
    if (!m_value->is_boolean()) {
        return complain("true or false");
    }
    return m_value->get<bool>();
}

Result<std::string> JsonReader::oneOf(const std::vector<std::string>& choices) const
{
    const std::string expected = fmt::format("one of {}", fmt::join(choices, ", "));
    if (!m_value->is_string()) {
        return complain(expected);
    }
    std::string text = m_value->get<std::string>();
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
        return complain(expected);
    }
    return text;
}

Result<void> JsonReader::onlyFields(const std::vector<std::string>& known) const
{
    if (!m_value->is_object()) {
        return complain("an object");
    }
    for (const auto& [key, value] : m_value->items()) {
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            const std::string path = m_path.empty() ? key : fmt::format("{}.{}", m_path, key);
            return fail(ErrorCode::InvalidInput,
                        fmt::format("{}: {}: unknown field; expected one of {}", m_name, path, fmt::join(known, ", ")));
        }
    }
    return {};
}

} // namespace espalier
