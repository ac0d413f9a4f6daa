// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/node.h"
#include "core/store/store.h"

#include <map>
#include <string>
#include <vector>

namespace espalier {

/// An overturned verdict is an act of the session: who, when and why, appended and never changed. The last one of a node
/// counts. Pure; acts of other kinds and damaged ones are passed over.
std::string actOf(NodeId node, const Overturn& overturn); ///< what is stored
std::map<NodeId, Overturn> overturnsIn(const std::vector<StoredAct>& acts);

} // namespace espalier
