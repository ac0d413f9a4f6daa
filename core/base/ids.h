// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace espalier {

/// A number that cannot be confused with another kind of id. Never invalid: "none" is std::optional.
template <typename Tag>
struct Id {
    std::int64_t value;
    auto operator<=>(const Id&) const = default;
};

using NodeId = Id<struct NodeTag>;       ///< root, idea or candidate of one session, counted from 1
using RequestId = Id<struct RequestTag>; ///< one request to a judge or a job of the build pool

} // namespace espalier

template <typename Tag>
struct std::hash<espalier::Id<Tag>> {
    std::size_t operator()(const espalier::Id<Tag>& id) const noexcept { return std::hash<std::int64_t>()(id.value); }
};
