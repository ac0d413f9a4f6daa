// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/task.h"
#include "core/worker/evaluator.h"

#include <string>
#include <string_view>

namespace espalier {

/// Name of an environment: device, driver, toolkit, flags. Figures of different epochs are never ranked together. Pure.
std::string epochOf(const JudgeHello& hello, std::string_view toolkit, const Task& task);

} // namespace espalier
