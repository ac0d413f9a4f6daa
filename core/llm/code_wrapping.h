// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/answer_text.h"

namespace espalier::llm {

/// Source that an answer holds in something other than a fence: in the strings of JSON (a field, a list of lines, the
/// arguments of a tool call), between tags (<code>, [code], \begin{lstlisting}), in the long strings of a Python
/// program, in a shell's here-document, in lines quoted with ">". Only what looks like source. Pure; bounded.
std::vector<CodeBlock> wrappedBlocks(std::string_view text);

} // namespace espalier::llm
