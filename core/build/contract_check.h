// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/machine_code.h"
#include "core/model/evaluation.h"
#include "core/model/task.h"

#include <optional>
#include <string_view>
#include <vector>

namespace espalier {

/// Puts what the machine code says beside what the compiler printed: registers, frames and shared memory come from the
/// code (a source can print lines that look like the compiler's), spills from the compiler, at most the frame's size.
void mergeMachineCode(const std::vector<MachineFunction>& functions, BuildRecord& build);

/// The first predicate of the contract that a built candidate breaks, with the kernel, the value and the limit in its
/// sentence; nullopt when all hold. Checked before anything runs: limits on registers, spill_bytes, local_bytes,
/// shared_bytes (static), tensor_instructions and library_bytes (check "limits"), and the operand types of the matrix
/// units against the allowed internal precisions (check "precision"). Thread: any.
std::optional<Evidence> brokenContract(const Task& task, const BuildRecord& build, std::size_t libraryBytes);

} // namespace espalier
