// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/store/store.h"

#include <vector>

namespace espalier {

/// The questions and answers behind a node, oldest first: the one that its payload names, and all that were asked about
/// it. Errors: NotFound, the store's.
Result<std::vector<Exchange>> exchangesBehind(Store& store, NodeId node);

} // namespace espalier
