// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace espalier {

/// One row of a table that ties an enum's values to the words that files and scripts use for them.
template <typename Enum>
struct EnumName {
    Enum value;
    std::string_view name;
};

template <typename Enum, std::size_t count>
constexpr std::string_view nameIn(const std::array<EnumName<Enum>, count>& table, Enum value)
{
    for (const auto& row : table) {
        if (row.value == value) {
            return row.name;
        }
    }
    return "?"; // a value outside its enum: a bug of ours, visible but harmless
}

template <typename Enum, std::size_t count>
constexpr std::optional<Enum> namedIn(const std::array<EnumName<Enum>, count>& table, std::string_view name)
{
    for (const auto& row : table) {
        if (row.name == name) {
            return row.value;
        }
    }
    return std::nullopt;
}

} // namespace espalier
