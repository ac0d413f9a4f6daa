// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/verdict.h"
#include "core/judge/work_area.h"

#include <cstddef>
#include <string>

namespace espalier::judge {

/// The verdict on a call of `set`, with what makes that call again (CallRecipe) behind its evidence. What is no fault
/// of the candidate's stays as it is. Thread: the judge's.
Verdict withRecipe(Verdict verdict, const WorkArea& area, std::size_t set, const std::string& where);

} // namespace espalier::judge
