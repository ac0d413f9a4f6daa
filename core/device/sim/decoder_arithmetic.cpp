// SPDX-License-Identifier: Apache-2.0
// Statements that compute.
#include "core/device/sim/decoder.h"

#include <algorithm>

namespace espalier::sim {

void takeFlags(const Modifiers& m, Instr& i)
{
    i.type = m.types.empty() ? Type::None : m.types[0];
    i.type2 = m.types.size() > 1 ? m.types[1] : Type::None;
    i.rounding = m.rounding;
    i.ftz = m.ftz;
    i.sat = m.sat;
    i.relu = m.relu;
    i.nan = m.nan;
    i.xorsign = m.xorsign;
}

namespace {

bool isSpecialFunction(Op op)
{
    return op == Op::Rcp || op == Op::Sqrt || op == Op::Rsqrt || op == Op::Ex2 || op == Op::Lg2 || op == Op::Sin ||
           op == Op::Cos || op == Op::Tanh;
}

void setCost(Instr& i)
{
    std::uint8_t factor = 0;
    if (i.op == Op::Add || i.op == Op::Sub || i.op == Op::Mul || i.op == Op::Div)
        factor = 1;
    else if (i.op == Op::Fma)
        factor = 2;
    if (i.op == Op::DivApprox || (isSpecialFunction(i.op) && i.type != Type::F64)) {
        i.cost = Cost::Special;
        i.costFactor = i.type == Type::F16x2 || i.type == Type::BF16x2 ? 2 : 1;
        return;
    }
    if (factor == 0)
        return;
    switch (i.type) {
    case Type::F32:
        i.cost = Cost::F32;
        break;
    case Type::F64:
        i.cost = Cost::F64;
        break;
    case Type::F16:
    case Type::BF16:
        i.cost = Cost::F16;
        break;
    case Type::F16x2:
    case Type::BF16x2:
        i.cost = Cost::F16;
        factor = static_cast<std::uint8_t>(factor * 2);
        break;
    default:
        return;
    }
    i.costFactor = factor;
}

bool compareNamed(std::string_view name, Compare& compare)
{
    static const std::unordered_map<std::string_view, Compare> names{
        {"eq", Compare::Eq},   {"ne", Compare::Ne},   {"lt", Compare::Lt},   {"le", Compare::Le},
        {"gt", Compare::Gt},   {"ge", Compare::Ge},   {"lo", Compare::Lt},   {"ls", Compare::Le},
        {"hi", Compare::Gt},   {"hs", Compare::Ge},   {"equ", Compare::Equ}, {"neu", Compare::Neu},
        {"ltu", Compare::Ltu}, {"leu", Compare::Leu}, {"gtu", Compare::Gtu}, {"geu", Compare::Geu},
        {"num", Compare::Num}, {"nan", Compare::Nan},
    };
    const auto found = names.find(name);
    if (found == names.end())
        return false;
    compare = found->second;
    return true;
}

} // namespace

/// One type for all operands: d, a[, b[, c]].
void Decoder::arithmetic(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    if (m.types.size() != 1)
        return problem("types of this kind");
    if (m.take("cc")) {
        i.op = i.op == Op::Add ? Op::AddCarry : Op::SubCarry;
        i.d2 = carrySlot();
    }
    m.take("noftz");
    m.take("abs"); // .xorsign.abs
    if (i.op == Op::Div && m.approx)
        i.op = Op::DivApprox;
    const bool one = i.op == Op::Abs || i.op == Op::Neg || isSpecialFunction(i.op);
    const bool three = i.op == Op::Fma || i.op == Op::Sad;
    const std::size_t operands = one ? 2 : three ? 4 : 3;
    if (!count(s, operands, operands))
        return;
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type);
    if (!one)
        i.b = source(s.operands[2], i.type);
    if (three)
        i.c = source(s.operands[3], i.type);
    setCost(i);
}

void Decoder::multiply(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    if (m.types.size() != 1 || !count(s, 3, 3))
        return problem("types of this kind");
    Type result = i.type;
    if (m.take("hi")) {
        i.hi = true;
        i.op = i.op == Op::Mul ? Op::MulHi : i.op;
    } else if (m.take("wide")) {
        i.op = Op::MulWide;
        result = bytesOf(i.type) == 2 ? Type::B32 : bytesOf(i.type) == 4 ? Type::B64 : Type::None;
    } else {
        m.take("lo");
    }
    i.d = destination(s.operands[0], result);
    i.a = source(s.operands[1], i.type);
    i.b = source(s.operands[2], i.type);
    if (i.op == Op::Mul)
        setCost(i);
}

void Decoder::multiplyAdd(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    if (m.types.size() != 1 || !count(s, 4, 4))
        return problem("types of this kind");
    Type result = i.type;
    if (isFloat(i.type)) {
        i.op = Op::Fma;
    } else if (m.take("hi")) {
        i.hi = true;
        i.op = i.op == Op::Mad ? Op::MadHi : i.op;
    } else if (m.take("wide")) {
        i.op = Op::MadWide;
        result = bytesOf(i.type) == 2 ? Type::B32 : bytesOf(i.type) == 4 ? Type::B64 : Type::None;
    } else {
        m.take("lo");
    }
    if (m.take("cc")) {
        if (i.op != Op::Mad && i.op != Op::MadHi)
            return problem("a carry here");
        i.op = i.op == Op::Mad ? Op::MadCarryLo : Op::MadCarryHi;
        i.d2 = carrySlot();
    }
    i.d = destination(s.operands[0], result);
    i.a = source(s.operands[1], i.type);
    i.b = source(s.operands[2], i.type);
    i.c = source(s.operands[3], result);
    setCost(i);
}

/// addc, subc, madc: read the carry, with .cc also write it.
void Decoder::carry(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    const bool mad = i.op == Op::MadCarryLo;
    if (m.types.size() != 1 || !count(s, mad ? 4 : 3, mad ? 4 : 3))
        return problem("types of this kind");
    if (mad && m.take("hi"))
        i.op = Op::MadCarryHi;
    else
        m.take("lo");
    i.e = carrySlot();
    if (m.take("cc"))
        i.d2 = i.e;
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type);
    i.b = source(s.operands[2], i.type);
    if (mad)
        i.c = source(s.operands[3], i.type);
}

void Decoder::logic(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    const bool one = i.op == Op::Not || i.op == Op::Cnot;
    if (m.types.size() != 1 || !count(s, one ? 2 : 3, one ? 2 : 3))
        return problem("types of this kind");
    if (i.type == Type::Pred) {
        i.d = predicateDestination(s.operands[0]);
        i.a = predicateSource(s.operands[1], i.negatedA);
        if (!one)
            i.b = predicateSource(s.operands[2], i.negatedB);
        return;
    }
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type);
    if (!one)
        i.b = source(s.operands[2], i.type);
}

void Decoder::shift(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    if (m.types.size() != 1 || !count(s, 3, 3))
        return problem("types of this kind");
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type);
    i.b = source(s.operands[2], Type::U32);
}

void Decoder::funnelShift(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    if (i.type != Type::B32 || !count(s, 4, 4))
        return problem("types of this kind");
    if (m.take("r"))
        i.op = Op::ShfRight;
    else if (!m.take("l"))
        return problem("a direction of this kind");
    i.hi = m.take("clamp");
    if (!i.hi)
        m.take("wrap");
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type);
    i.b = source(s.operands[2], i.type);
    i.c = source(s.operands[3], Type::U32);
}

void Decoder::bitField(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    const std::size_t operands = i.op == Op::Bfi ? 5 : i.op == Op::Bmsk ? 3 : 4;
    if (m.types.size() != 1 || bytesOf(i.type) < 4 || !count(s, operands, operands))
        return problem("types of this kind");
    if (i.op == Op::Bmsk)
        m.take("clamp");
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type);
    i.b = source(s.operands[2], i.op == Op::Bfi ? i.type : Type::U32);
    if (operands > 3)
        i.c = source(s.operands[3], Type::U32);
    if (operands > 4)
        i.e = source(s.operands[4], Type::U32);
}

void Decoder::bitCount(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    if (m.types.size() != 1 || bytesOf(i.type) < 4 || isFloat(i.type) || !count(s, 2, 2))
        return problem("types of this kind");
    if (i.op == Op::Bfind)
        i.hi = m.take("shiftamt");
    i.d = destination(s.operands[0], i.op == Op::Brev ? i.type : Type::U32);
    i.a = source(s.operands[1], i.type);
}

void Decoder::permute(const Statement& s, Modifiers& m, Instr& i)
{
    static constexpr std::string_view modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    takeFlags(m, i);
    if (i.type != Type::B32 || !count(s, 4, 4))
        return problem("types of this kind");
    for (std::uint8_t mode = 0; mode < 6; ++mode)
        if (m.take(modes[mode]))
            i.sub = static_cast<std::uint8_t>(mode + 1);
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type);
    i.b = source(s.operands[2], i.type);
    i.c = source(s.operands[3], i.type);
}

void Decoder::logic3(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    if (i.type != Type::B32 || !count(s, 5, 5) || s.operands[4].kind != Operand::Kind::Immediate)
        return problem("operands of this kind");
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type);
    i.b = source(s.operands[2], i.type);
    i.c = source(s.operands[3], i.type);
    i.imm = static_cast<std::int64_t>(s.operands[4].bits & 255);
}

void Decoder::dotProduct(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    const auto word = [](Type type) { return type == Type::U32 || type == Type::S32; };
    if (!word(i.type) || !word(i.type2) || !count(s, 4, 4))
        return problem("types of this kind");
    i.hi = m.take("hi");
    m.take("lo");
    i.d = destination(s.operands[0], Type::B32);
    i.a = source(s.operands[1], Type::B32);
    i.b = source(s.operands[2], Type::B32);
    i.c = source(s.operands[3], Type::B32);
}

/// setp.cmp[.bool][.ftz].type p[|q], a, b[, c]; set.cmp[.bool].dtype.type d, a, b[, c].
void Decoder::compare(const Statement& s, Modifiers& m, Instr& i)
{
    Compare how = Compare::Eq;
    const bool isSet = i.op == Op::Set;
    if (m.rest.empty() || m.types.size() != (isSet ? 2u : 1u) || !compareNamed(m.rest[0], how))
        return problem("a comparison of this kind");
    m.rest.erase(m.rest.begin());
    takeFlags(m, i);
    if (isSet)
        std::swap(i.type, i.type2); // type is what is compared
    i.sub = static_cast<std::uint8_t>(how);
    if (m.take("and"))
        i.combine = Combine::And;
    else if (m.take("or"))
        i.combine = Combine::Or;
    else if (m.take("xor"))
        i.combine = Combine::Xor;
    const std::size_t operands = i.combine == Combine::None ? 3 : 4;
    if (!count(s, operands, operands))
        return;
    if (isSet) {
        i.d = destination(s.operands[0], i.type2);
    } else {
        i.d = predicateDestination(s.operands[0]);
        if (!s.operands[0].items.empty())
            i.d2 = predicateDestination(s.operands[0].items[0]);
    }
    i.a = source(s.operands[1], i.type);
    i.b = source(s.operands[2], i.type);
    if (operands == 4)
        i.c = predicateSource(s.operands[3], i.negatedC);
}

void Decoder::select(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    if (m.types.size() != (i.op == Op::Selp ? 1u : 2u) || !count(s, 4, 4))
        return problem("types of this kind");
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type);
    i.b = source(s.operands[2], i.type);
    i.c = i.op == Op::Selp ? predicateSource(s.operands[3], i.negatedC) : source(s.operands[3], i.type2);
}

void Decoder::testProperty(const Statement& s, Modifiers& m, Instr& i)
{
    static constexpr std::string_view kinds[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
    takeFlags(m, i);
    if (m.types.size() != 1 || !count(s, 2, 2))
        return problem("types of this kind");
    bool known = false;
    for (std::uint8_t kind = 0; kind < 6; ++kind)
        if (m.take(kinds[kind])) {
            i.sub = kind;
            known = true;
        }
    if (!known)
        return problem("a property of this kind");
    i.d = predicateDestination(s.operands[0]);
    i.a = source(s.operands[1], i.type);
}

void Decoder::convert(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    const bool pack = m.take("pack");
    i.finite = m.take("satfinite");
    if (m.types.size() < 2)
        return problem("this conversion");
    if (pack) {
        i.op = Op::CvtPack;
        const bool withLow = bytesOf(i.type) == 1;
        if (i.type2 != Type::S32 || bytesOf(i.type) > 2 || isFloat(i.type) ||
            !count(s, withLow ? 4 : 3, withLow ? 4 : 3))
            return problem("this conversion");
        i.d = destination(s.operands[0], Type::B32);
        i.a = source(s.operands[1], Type::S32);
        i.b = source(s.operands[2], Type::S32);
        if (withLow)
            i.c = source(s.operands[3], Type::B32);
        return;
    }
    if (m.types.size() != 2)
        return problem("this conversion");
    if (isPair(i.type) || isPair(i.type2))
        return convertPair(s, m, i);
    const bool canBeFinite = i.type2 == Type::F32 && bytesOf(i.type) != 8;
    if (i.type2 == Type::TF32 || (i.finite && !canBeFinite) || !count(s, 2, 2))
        return problem("this conversion");
    i.d = destinationOfAnyWidth(s.operands[0], i.type, i.widthD);
    i.a = sourceOfAnyWidth(s.operands[1], i.type2, i.widthA);
    if ((isFloat(i.type) && i.widthD != bytesOf(i.type)) || (isFloat(i.type2) && i.widthA != bytesOf(i.type2)))
        problem("a float in a wider register");
}

void Decoder::move(const Statement& s, Modifiers& m, Instr& i)
{
    takeFlags(m, i);
    if (m.types.size() != 1 || !count(s, 2, 2))
        return problem("types of this kind");
    const Operand& from = s.operands[1];
    if (from.kind == Operand::Kind::Vector || s.operands[0].kind == Operand::Kind::Vector)
        return moveVector(s, m, i);
    if (i.type == Type::Pred) {
        i.d = predicateDestination(s.operands[0]);
        i.a = predicateSource(from, i.negatedA);
        return;
    }
    i.d = destination(s.operands[0], i.type);
    const bool clock = from.kind == Operand::Kind::Special &&
                       (from.name.starts_with("%clock") || from.name.starts_with("%globaltimer"));
    if (clock) {
        if (bytesOf(i.type) < 4)
            return problem("a clock of this width");
        i.op = Op::Clock;
        i.widthD = static_cast<std::uint8_t>(bytesOf(i.type));
        i.hi = from.name.ends_with("_hi");
        return;
    }
    i.a = source(from, i.type);
}

/// mov.b32 d, {lo, hi} and mov.b32 {lo, hi}, a.
void Decoder::moveVector(const Statement& s, Modifiers&, Instr& i)
{
    const bool pack = s.operands[1].kind == Operand::Kind::Vector;
    const Operand& parts = s.operands[pack ? 1 : 0];
    const std::size_t elements = parts.items.size();
    if ((elements != 2 && elements != 4) || bytesOf(i.type) < elements ||
        s.operands[pack ? 0 : 1].kind == Operand::Kind::Vector)
        return problem("vectors of this kind");
    const Type part = bytesOf(i.type) / elements == 1   ? Type::B8
                      : bytesOf(i.type) / elements == 2 ? Type::B16
                      : bytesOf(i.type) / elements == 4 ? Type::B32
                                                        : Type::B64;
    i.op = pack ? Op::Pack : Op::Unpack;
    i.list = static_cast<std::uint32_t>(m_kernel->lists.size());
    i.listCount = static_cast<std::uint16_t>(elements);
    i.listIsOutput = !pack;
    for (const Operand& item : parts.items) {
        const bool sink = !pack && item.kind == Operand::Kind::Sink;
        m_kernel->lists.push_back(sink ? 0 : pack ? source(item, part) : destination(item, part));
    }
    if (pack)
        i.d = destination(s.operands[0], i.type);
    else
        i.a = source(s.operands[1], i.type);
}

} // namespace espalier::sim
