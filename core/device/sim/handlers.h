// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/warp.h"

// The handlers are compiled twice from the same text, for plain x86-64 and for AVX2 with FMA; namespace and flags come
// from CMakeLists.txt. Only bind_handlers.cpp knows both.
#ifndef ESPALIER_SIM_ISA
#define ESPALIER_SIM_ISA isa_base
#endif

namespace espalier::sim {

namespace isa_base {
bool bindInteger(Instr& instr);
bool bindBits(Instr& instr);
bool bindFloat(Instr& instr);
bool bindHalf(Instr& instr);
bool bindCompare(Instr& instr);
bool bindConvert(Instr& instr);
bool bindMemory(Instr& instr);
bool bindAtomic(Instr& instr);
bool bindBarrier(Instr& instr);
bool bindPacked(Instr& instr);
bool bindWarp(Instr& instr);
} // namespace isa_base

namespace isa_avx2 {
bool bindInteger(Instr& instr);
bool bindBits(Instr& instr);
bool bindFloat(Instr& instr);
bool bindHalf(Instr& instr);
bool bindCompare(Instr& instr);
bool bindConvert(Instr& instr);
bool bindMemory(Instr& instr);
bool bindAtomic(Instr& instr);
bool bindBarrier(Instr& instr);
bool bindPacked(Instr& instr);
bool bindWarp(Instr& instr);
} // namespace isa_avx2

} // namespace espalier::sim
