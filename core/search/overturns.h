// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/model/node.h"
#include "core/store/store.h"

#include <map>
#include <optional>
#include <vector>

namespace espalier {

/// An overturned verdict is an act of the session: who, when and why, appended and never changed. The last one of a
/// node counts, unless it was taken back: then the one before it. Pure; acts of other kinds and damaged ones are passed
/// over.
Json actOf(NodeId node, const Overturn& overturn); ///< what is stored
Json toJson(const std::optional<Overturn>& overturn);
std::optional<Overturn> overturnFrom(const Json& json); ///< nullopt: none
std::map<NodeId, Overturn> overturnsIn(const std::vector<StoredAct>& acts);

} // namespace espalier
