// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"
#include "core/model/task.h"

#include <functional>
#include <string_view>

namespace espalier {

/// Adds the cases of a record up to the objective: its time, the ratios over root, parent and incumbent, and the
/// sentence where a case is slower than the guard allows. What stood there before is replaced. Pure.
void addUpObjective(const Objective& objective, const std::function<double(std::string_view caseId)>& weightOf,
                    TimingRecord& record);

} // namespace espalier
