// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/profile/collector.h"
#include "core/profile/cupti_api.h"

#include <memory>

namespace espalier::profile {

/// Where warps stand and why: program counters sampled by the hardware while the call is made again and again, folded
/// by instruction and mapped to source lines through the cubin's line table. The kernel is not slowed. Everything must
/// be switched on before the candidate's library is loaded: otherwise not one sample is attributed, with success codes.
/// Static state: at most one in a process. `api` must outlive it.
std::unique_ptr<Collector> makeSamplingCollector(const CuptiApi& api, int ordinal);

} // namespace espalier::profile
