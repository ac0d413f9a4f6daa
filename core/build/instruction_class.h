// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace espalier {

/// Class of one machine instruction (core/build/machine_code.h names them); nullptr for everything that is not counted.
/// `low` and `high` are its two words; `sm`: the architecture, 90 for sm_90a. Pure.
///
/// The encodings were read off ptxas 13.0 for sm_80 to sm_121, by compiling one instruction at a time: the low 9 bits
/// of the first word name the operation, bits 9 to 11 where its operands come from. Some numbers change their meaning
/// between architectures.
const char* instructionClass(std::uint64_t low, std::uint64_t high, int sm);

} // namespace espalier
