// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"

#include <cstdint>
#include <string>
#include <string_view>

/// Reading what servers send, where any field may be missing, null or of another type. Thread: any; pure; never fails.
namespace espalier::llm::pick {

/// The member, or null.
inline const Json& member(const Json& value, const char* name)
{
    static const Json nothing;
    if (!value.is_object()) {
        return nothing;
    }
    const auto found = value.find(name);
    return found == value.end() ? nothing : *found;
}

inline const Json& first(const Json& list)
{
    static const Json nothing;
    return list.is_array() && !list.empty() ? list.front() : nothing;
}

inline std::string_view text(const Json& value)
{
    return value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : std::string_view();
}

inline std::string_view text(const Json& value, const char* name)
{
    return text(member(value, name));
}

/// Sets `into` when the member is a number that can be a count.
inline void count(const Json& value, const char* name, std::int64_t& into)
{
    const Json& number = member(value, name);
    if (number.is_number_integer() || number.is_number_unsigned()) {
        const auto read = number.get<std::int64_t>();
        into = read >= 0 ? read : into;
    } else if (number.is_number_float() && number.get<double>() >= 0 && number.get<double>() < 9e15) {
        into = static_cast<std::int64_t>(number.get<double>());
    }
}

} // namespace espalier::llm::pick
