// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/task.h"

#include <string>
#include <string_view>

namespace espalier {

/// The text of entry.h, put before every source of a task with `-include`: prototypes of the entry, its workspace query
/// and the oracle, so that a definition with another signature is an error on the definition's own line. Pure.
std::string entryHeader(const Task& task);

/// The part of it that a candidate is written against: the variant's constants, prototypes of entry and workspace
/// query.
std::string entryDeclarations(const Task& task);

/// One C++ declaration without the semicolon, for messages, prompts and exports:
/// `extern "C" cudaError_t softmax_f32(const float* x, …, cudaStream_t stream)`.
std::string entryPrototype(const Task& task);
std::string workspacePrototype(const Task& task);
/// Of one output; `<entry>_oracle`, or `<entry>_oracle_<output>` when the task has several.
std::string oraclePrototype(const Task& task, std::string_view output);
std::string oracleName(const Task& task, std::string_view output);

} // namespace espalier
