// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"

#include <string>
#include <vector>

namespace espalier::ctl {

/// A profile as lines for people: metrics, roofline, what the rules found, the heaviest source lines, and what could
/// not be collected. Without indentation; nothing without a profile.
std::vector<std::string> profileLines(const Evaluation& evaluation);

} // namespace espalier::ctl
