// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/node.h"

namespace espalier::ctl {

/// What became of a kernel that was saved: one line on standard output, with `json` one object.
void printVerdict(const NodeSummary& node, bool json);

} // namespace espalier::ctl
