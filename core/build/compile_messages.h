// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"

#include <string_view>
#include <vector>

namespace espalier {

/// What nvcc and the tools it runs said, understood: EDG's `candidate.cu(7): error: …`, gcc's `candidate.cu:1:10:
/// error: …`, ptxas's, the assembler's and the linker's. Pure; any bytes are accepted.
struct CompilerOutput {
    std::vector<CompileMessage> messages; ///< in the order printed, repeats left out, at most 200
    std::vector<KernelResources> kernels; ///< of `ptxas -v`, names demangled
    bool crashed = false;                 ///< one of the compiler's own programs died
};

/// `source` is the candidate's text: columns are told only where the compiler shows one of its lines unchanged. `ptx`
/// is what ptxas read, where it failed: its messages are placed in the source's lines, under `sourceName`.
CompilerOutput parseCompilerOutput(std::string_view output, std::string_view source, std::string_view ptx = {},
                                   std::string_view sourceName = "candidate.cu");

/// "candidate.cu, line 7: expected a ";" (and 3 more errors)": the first error, for the outcome's sentence. Empty if
/// none.
std::string firstError(const std::vector<CompileMessage>& messages);

std::string demangled(const std::string& symbol); ///< the symbol itself when it is not mangled

} // namespace espalier
