// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/task.h"
#include "core/worker/evaluator.h"

#include <string>
#include <string_view>

namespace espalier {

/// Name of an environment: all that a candidate's own time depends on (kind of device and its memory, driver, runtime,
/// architecture, toolkit, flags, regime). Which device of the kind it is stands in each timing record, and versions of
/// vendors' libraries in their rival's. Figures of different epochs are never ranked together. Pure.
std::string epochOf(const JudgeHello& hello, std::string_view toolkit, const Task& task);
/// The same, where `known` is the session's: an environment that an older version named with its device's uuid keeps
/// that name on that device.
std::string epochOf(const JudgeHello& hello, std::string_view toolkit, const Task& task, const std::string& known);

} // namespace espalier
