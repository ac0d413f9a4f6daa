// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/node_book.h"
#include "core/store/store.h"

namespace espalier {

/// The heavy part of a node, read from the session. `summary` is the caller's view of it. Errors: NotFound, the
/// store's.
Result<NodeDetail> readDetail(Store& store, const NodeSummary& summary);

} // namespace espalier
