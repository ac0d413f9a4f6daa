// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/compile_step.h"
#include "core/model/task.h"

#include <string>
#include <vector>

namespace espalier {

/// What honest sources carry along and nobody calls (a main, a benchmark around the kernel, <iostream>) and how the
/// compiler is told to leave it out of a candidate's library, so that it counts for nothing. What stays is judged as
/// ever: every C name is still exported, and with it all that it leads to. Pure; thread: any.

/// Files beside the source: the linker's list of what is left visible, and an <iostream> that declares the streams
/// without constructing them when the library is loaded (as that of GCC 13 does; GCC 12's does it in every source).
std::vector<InputFile> leftoverFiles(const Task& task);

/// nvcc's arguments that use these files.
std::vector<std::string> leftoverArguments();

} // namespace espalier
