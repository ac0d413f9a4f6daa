// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/proposer.h"

namespace espalier {

/// The proposers by name, in the order given. Errors: InvalidInput for a name that does not exist or stands twice,
/// NotSupported for one that this version does not have yet.
Result<std::vector<std::unique_ptr<Proposer>>> makeProposers(const std::vector<std::string>& names);

} // namespace espalier
