// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

using Json = nlohmann::json;

/// Parses without throwing. Errors: InvalidInput "NAME: line 3, column 7: …".
Result<Json> parseJson(std::string_view text, std::string_view name);

/// Checked access to one JSON value with its place, so that every complaint names file, field and what was expected:
/// "task.json: cases[2].role: expected one of verify, time, simulate; found "tiem"".
/// Thread: any. Refers to a Json that must outlive it.
class JsonReader
{
public:
    JsonReader(const Json& value, std::string name, std::string path = {})
        : m_value(&value), m_name(std::move(name)), m_path(std::move(path))
    {
    }

    bool has(const char* field) const { return m_value->is_object() && m_value->contains(field); }
    /// The field as a reader. InvalidInput "NAME: PATH: this field is missing" when it is not there.
    Result<JsonReader> at(const char* field) const;
    Result<std::vector<JsonReader>> items() const;                           ///< of an array
    Result<std::vector<std::pair<std::string, JsonReader>>> members() const; ///< of an object
    Result<std::string> string() const;
    Result<std::int64_t> integer() const;
    Result<double> number() const;
    Result<bool> boolean() const;
    Result<std::string> oneOf(const std::vector<std::string>& choices) const;
    /// InvalidInput when the object has a field that is not in `known`: a typo must not be ignored.
    Result<void> onlyFields(const std::vector<std::string>& known) const;

    std::unexpected<Error> complain(std::string_view expected) const; ///< "NAME: PATH: expected …; found …"
    const Json& value() const { return *m_value; }
    const std::string& path() const { return m_path; }
    const std::string& name() const { return m_name; }

private:
    const Json* m_value;
    std::string m_name;
    std::string m_path;
};

} // namespace espalier
