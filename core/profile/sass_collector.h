// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/profile/collector.h"
#include "core/profile/cupti_api.h"

#include <memory>

namespace espalier::profile {

/// Exact counts by instruction (executions, threads, sectors, conflicts, divergent branches): CUPTI patches the kernels
/// of one call, which then runs many times slower. Those of the wanted metrics that the chip has. `api` must outlive
/// it.
std::unique_ptr<Collector> makeSassCollector(const CuptiApi& api, int ordinal);

} // namespace espalier::profile
