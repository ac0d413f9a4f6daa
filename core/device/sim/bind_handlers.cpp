// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/handlers.h"

namespace espalier::sim {

namespace {

#if defined(__x86_64__)
bool hasAvx2()
{
    static const bool has =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    return has;
}
#endif

} // namespace

bool bindHandlers(Instr& instr)
{
    if (instr.control)
        return true;
#if defined(__x86_64__)
    if (hasAvx2()) {
        using namespace isa_avx2;
        return bindInteger(instr) || bindBits(instr) || bindFloat(instr) || bindHalf(instr) || bindCompare(instr) ||
               bindConvert(instr) || bindMemory(instr) || bindAtomic(instr) || bindWarp(instr) || bindPacked(instr) ||
               bindBarrier(instr);
    }
#endif
    using namespace isa_base;
    return bindInteger(instr) || bindBits(instr) || bindFloat(instr) || bindHalf(instr) || bindCompare(instr) ||
           bindConvert(instr) || bindMemory(instr) || bindAtomic(instr) || bindWarp(instr) || bindPacked(instr) ||
           bindBarrier(instr);
}

} // namespace espalier::sim
