// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/simgpu/sim_report.h"
#include "core/simgpu/wire.h"

namespace espalier::sim {

/// A BlockReport as simgpu sends it to the judge. Both are trusted and of one build, still every size is checked.
void putReport(ByteWriter& to, const BlockReport& report);
bool getReport(ByteReader& from, BlockReport& report);

} // namespace espalier::sim
