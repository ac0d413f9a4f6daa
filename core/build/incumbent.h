// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/library.h"
#include "core/model/task.h"

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// The kernel that serves the operation today, as the engineer has it: a source to be compiled, or a finished shared
/// library and a function in it with the entry's signature. A value.
struct Incumbent {
    std::string name;               ///< as it was given: "old.cu", "libops.so:launch_softmax"
    std::string source;             ///< a .cu: its text; empty for a library
    std::optional<Library> library; ///< a .so: its bytes
    std::string symbol;             ///< the function that is called
    std::string hash;               ///< of what is compared with: text or bytes, and the symbol
};

/// Reads `words`: FILE.cu, or FILE.so:SYMBOL. A library must be an x86-64 shared object that defines the symbol as a
/// function, and at most 64 MiB. Errors: NotFound, InvalidInput, Io; one sentence that names the file.
Result<Incumbent> loadIncumbent(std::string_view words, const Task& task);

/// The same of contents that were read before, as incumbentBytes() gives them.
Result<Incumbent> incumbentFrom(std::string_view words, std::string bytes, const Task& task);
/// What `words` was read from: the text of a .cu, the bytes of a .so.
const std::string& incumbentBytes(const Incumbent& incumbent);

/// The one that the task names; nullopt where it names none (the root is the incumbent then).
std::optional<Incumbent> incumbentOf(const Task& task);

} // namespace espalier
