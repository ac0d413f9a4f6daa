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

/// The first of the limits on registers, spill_bytes, local_bytes, shared_bytes (static), instructions of a class and
/// library_bytes that a built candidate breaks, with the kernel, the value and the limit in its sentence (check
/// "limits"); nullopt when all hold. Limits on what a call does are the judge's. Thread: any.
std::optional<Evidence> brokenLimit(const std::vector<Limit>& limits, const BuildRecord& build,
                                    std::size_t libraryBytes);

/// The first predicate of the contract that a built candidate breaks, before anything runs: its limits, and the operand
/// types of the matrix units against the allowed internal precisions (check "precision"). Thread: any.
std::optional<Evidence> brokenContract(const Task& task, const BuildRecord& build, std::size_t libraryBytes);

} // namespace espalier
