// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/profile/collector.h"
#include "core/profile/counter_table.h"
#include "core/profile/cupti_api.h"

#include <memory>
#include <vector>

namespace espalier::profile {

/// Hardware counters of one whole call, all its kernels, copies and memsets together: a user range round the call,
/// which is made once a pass. User replay saves no memory (a call is a function of its inputs), and a range counts
/// graphs, too. One Enable, one SetConfig, one Disable: another SetConfig on an enabled object has ended in signal 11.
/// Needs the context current. `api` must outlive it.
std::unique_ptr<Collector> makeRangeCollector(const CuptiApi& api, int ordinal, std::vector<CounterSet> sets,
                                              bool cold);

/// What cuptiProfilerDeviceSupported says against this device, as one of CUPTI's result codes; 0: nothing.
int deviceObstacle(const CuptiApi& api, int ordinal);

} // namespace espalier::profile
