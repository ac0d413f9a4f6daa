// SPDX-License-Identifier: Apache-2.0
#include "core/build/instruction_class.h"

namespace espalier {
namespace {

constexpr unsigned allRegisters = 1; ///< the form whose operands are all in registers
constexpr int hopper = 90, blackwell = 100;

unsigned formOf(std::uint64_t low)
{
    return static_cast<unsigned>(low >> 9 & 7);
}

/// Adding, multiplying or both. With RZ for an operand the same encodings move, negate and convert.
const char* packedHalf(std::uint64_t low, std::uint64_t high)
{
    constexpr std::uint64_t zeroRegister = 0xff;
    const bool first = (low >> 24 & 0xff) != zeroRegister;
    const bool second = formOf(low) != allRegisters || (low >> 32 & 0xff) != zeroRegister;
    if (!first || !second) {
        return nullptr;
    }
    return (high >> 21 & 1) != 0 ? "bf16" : "half";
}

const char* ofMatrixUnits(std::uint64_t low, std::uint64_t high)
{
    // HMMA: bits 18 and 19 of the high word; HGMMA: bits 12 and 13
    constexpr const char* byType[] = {"tensor_f16", "tensor_bf16", "tensor_tf32", "tensor_f16"};
    switch (low & 0x1ff) {
    case 0x03c:
        return byType[high >> 18 & 3];
    case 0x1f0:
        return byType[high >> 12 & 3];
    case 0x03f:
        return "tensor_f64";
    case 0x07a: // QMMA
    case 0x1f3: // QGMMA
        return "tensor_fp8";
    case 0x037: // IMMA
    case 0x1f1: // IGMMA
        return "tensor_int";
    case 0x03d: // BMMA
    case 0x1f2: // BGMMA
        return "tensor_b1";
    case 0x1ea: // UTCMMA: the kind stands in bits 8 to 10 of the high word
        switch (high >> 8 & 7) {
        case 0:
            return "tensor_tcgen05";
        case 1:
            return "tensor_int";
        default:
            return "tensor_fp8";
        }
    default:
        return nullptr;
    }
}

const char* ofMemory(std::uint64_t low, std::uint64_t high, int sm)
{
    switch (low & 0x1ff) {
    case 0x18c: // ATOMS; in this form and with this bit it arrives at a barrier (before Hopper)
        return formOf(low) == 7 && (high >> 10 & 1) != 0 ? nullptr : "atomic";
    case 0x18a: // ATOM
    case 0x18b: // ATOM.CAS
    case 0x18d: // ATOMS.CAS
    case 0x18e: // RED
    case 0x1a8: // ATOMG
    case 0x1a9: // ATOMG.CAS
        return "atomic";
    case 0x1a3: // ATOMG of floating-point numbers
    case 0x1a6: // REDG of them
    case 0x1be: // REDAS
        return sm >= hopper ? "atomic" : nullptr;
    case 0x1ae: // LDGSTS
        return "async_copy";
    case 0x1b4: // UTMALDG
    case 0x1b5: // UTMASTG
    case 0x1ba: // UBLKCP
    case 0x1bd: // STAS
        return sm >= hopper ? "async_copy" : nullptr;
    case 0x1b6: // UTMAREDG
    case 0x1bb: // UBLKRED
        return sm >= hopper ? "async_reduction" : nullptr;
    default:
        return nullptr;
    }
}

} // namespace

const char* instructionClass(std::uint64_t low, std::uint64_t high, int sm)
{
    switch (low & 0x1ff) {
    case 0x030: // HADD2
    case 0x031: // HFMA2
    case 0x032: // HMUL2
        return packedHalf(low, high);
    case 0x035: // HFMA2 as well, until it became a 64-bit addition
        return sm < blackwell ? packedHalf(low, high) : nullptr;
    case 0x028: // DMUL
    case 0x029: // DADD
    case 0x02b: // DFMA
        return "fp64";
    default:
        break;
    }
    const char* product = ofMatrixUnits(low, high);
    return product ? product : ofMemory(low, high, sm);
}

} // namespace espalier
