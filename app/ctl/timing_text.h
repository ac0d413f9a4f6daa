// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"

#include <string>
#include <vector>

namespace espalier::ctl {

/// A timing as lines for people: a line a case, then how it was measured. Without indentation.
std::vector<std::string> timingLines(const TimingRecord& timing);

} // namespace espalier::ctl
