// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"
#include "core/model/task.h"

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// The sentence, with remedy and prototype, for a compiler's error that means less about C++ than about what a kernel
/// is here: an entry with another signature, a header of a framework that is not there, a word of a later C++ than it
/// was compiled as. `source` is the text that was compiled. Empty for any other error. Pure; thread: any.
std::string slipAdvice(const std::vector<CompileMessage>& messages, std::string_view source, const Task& task);

} // namespace espalier
