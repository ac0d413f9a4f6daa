// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/worker/evaluator.h"

#include <string>

namespace espalier {

/// What a model should know of the device: what the judge said of it, and the roofs of resources/devices where they
/// have an entry. Markdown lines. Files that cannot be read leave their lines out.
std::string deviceSheet(const JudgeHello& hello);

} // namespace espalier
