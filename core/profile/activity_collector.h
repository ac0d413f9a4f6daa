// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/profile/collector.h"
#include "core/profile/cupti_api.h"

#include <memory>

namespace espalier::profile {

/// What every call puts on the device: kernels, copies and memsets with stream, start and end, by CUPTI's activity
/// records. Needs no right to read counters. Each call is a block of its own, so that its records are known to be its
/// own; the events round it are read as well. Static state: at most one in a process. `api` must outlive it.
std::unique_ptr<Collector> makeActivityCollector(const CuptiApi& api, int ordinal, bool cold);

} // namespace espalier::profile
