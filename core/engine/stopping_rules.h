// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/session.h"
#include "core/model/task.h"
#include "core/search/node_book.h"

#include <optional>
#include <string>

namespace espalier {

/// The objective's floor: its cases' goal floors, weighed as their times are. 0: the floor of a timed case is not
/// known. In microseconds. Pure.
double goalFloorUs(const TimingRecord& timing, const Task& task);

/// Why a session has enough, as its rules (Budget: target, roof, plateau) say: one sentence, or nullopt. Pure: a
/// function of what is stored, so a reopened session thinks likewise. `incumbent`: there is one beside the root.
/// `floorUs`: of the best's objective, 0 where it is not known (the rule then has nothing to stand on).
std::optional<std::string> goalReached(const Budget& rules, const NodeBook& book, bool incumbent, double floorUs);

} // namespace espalier
