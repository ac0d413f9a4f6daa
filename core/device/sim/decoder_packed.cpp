// SPDX-License-Identifier: Apache-2.0
// Statements on registers that hold several values: SIMD video instructions, conversions of pairs.
#include "core/device/sim/decoder.h"

#include <algorithm>

namespace espalier::sim {

/// vadd4.dtype.atype.btype[.sat|.add] d, a, b, c; vset4.atype.btype.cmp[.add] d, a, b, c.
void Decoder::video(const Statement& s, Modifiers& m, Instr& i)
{
    static const std::unordered_map<std::string_view, VideoOp> ops{
        {"vadd", VideoOp::Add}, {"vsub", VideoOp::Sub}, {"vavrg", VideoOp::Average},
        {"vmin", VideoOp::Min}, {"vmax", VideoOp::Max}, {"vabsdiff", VideoOp::AbsoluteDifference},
        {"vset", VideoOp::Set},
    };
    const VideoOp op = ops.at(s.opcode.substr(0, s.opcode.size() - 1));
    const std::size_t types = op == VideoOp::Set ? 2 : 3;
    const auto word = [](Type type) { return type == Type::U32 || type == Type::S32; };
    if (m.types.size() != types || !std::ranges::all_of(m.types, word) || !count(s, 4, 4))
        return problem("types of this kind");
    i.sub = static_cast<std::uint8_t>(op);
    i.listCount = 0;
    i.imm = s.opcode.back() == '4' ? 8 : 16; // bits of a part
    i.sat = m.sat;
    i.hi = m.take("add");
    // type is a's, type2 b's; the result's is the first one given.
    i.negatedC = op != VideoOp::Set && m.types[0] == Type::S32;
    i.type = m.types[types - 2];
    i.type2 = m.types[types - 1];
    if (op == VideoOp::Set) {
        static constexpr std::string_view compares[] = {"eq", "ne", "lt", "le", "gt", "ge"};
        i.imm2 = -1;
        for (int k = 0; k < 6; ++k)
            if (m.take(compares[k]))
                i.imm2 = k;
        if (i.imm2 < 0)
            return problem("a comparison of this kind");
    }
    i.d = destination(s.operands[0], Type::U32);
    i.a = source(s.operands[1], Type::U32);
    i.b = source(s.operands[2], Type::U32);
    i.c = source(s.operands[3], Type::U32);
}

/// cvt between pairs: two floats into f16x2, bf16x2, e4m3x2 or e5m2x2 (the first goes into the upper half), f16x2 into
/// or out of the eight-bit ones.
void Decoder::convertPair(const Statement& s, Modifiers&, Instr& i)
{
    const bool small = i.type == Type::E4M3x2 || i.type == Type::E5M2x2;
    if (i.sat || (small && (!i.finite || i.rounding != Rounding::Nearest)))
        return problem("this conversion");
    if (i.type2 == Type::F32) {
        if (!isPair(i.type) || !count(s, 3, 3))
            return problem("this conversion");
        i.d = destination(s.operands[0], i.type);
        i.a = source(s.operands[1], Type::F32);
        i.b = source(s.operands[2], Type::F32);
        return;
    }
    const bool widens = i.type == Type::F16x2 && (i.type2 == Type::E4M3x2 || i.type2 == Type::E5M2x2);
    if (!(small && i.type2 == Type::F16x2) && !(widens && !i.finite))
        return problem("this conversion");
    if (!count(s, 2, 2))
        return;
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type2);
}

} // namespace espalier::sim
