// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/task.h"

#include <string>

namespace espalier {

/// What the task computes, on what, timed how: Markdown, with a heading.
std::string taskWords(const Task& task);
/// What a candidate must be, stated exactly: Markdown, with a heading.
std::string contractWords(const Task& task);

} // namespace espalier
