// SPDX-License-Identifier: Apache-2.0
// Statements that touch memory.
#include "core/device/sim/decoder.h"

#include <algorithm>

namespace espalier::sim {

void takeHints(Modifiers& m)
{
    static constexpr std::string_view hints[] = {
        "weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cta", "cluster", "gpu",   "sys",
        "ca",   "cg",       "cs",      "lu",      "cv",      "wb",      "wt",   "nc",  "unified", "noftz",
    };
    std::erase_if(m.rest, [](std::string_view word) {
        return std::ranges::find(hints, word) != std::end(hints) || word.starts_with("L1::") ||
               word.starts_with("L2::");
    });
}

void Decoder::load(const Statement& s, Modifiers& m, Instr& i)
{
    takeHints(m);
    if (m.types.size() != 1 || !count(s, 2, 3))
        return problem("types of this kind");
    i.type = m.types[0];
    i.space = m.space;
    address(s.operands[1], i.space, i);
    if (m.vector == 1) {
        i.d = destinationOfAnyWidth(s.operands[0], i.type, i.widthD);
        return;
    }
    const Operand& list = s.operands[0];
    if (list.kind != Operand::Kind::Vector || list.items.size() != m.vector)
        return problem("a vector of this kind");
    i.list = static_cast<std::uint32_t>(m_kernel->lists.size());
    i.listCount = static_cast<std::uint16_t>(m.vector);
    i.listIsOutput = true;
    for (const Operand& item : list.items) {
        if (item.kind == Operand::Kind::Sink) {
            m_kernel->lists.push_back(0);
            continue;
        }
        std::uint8_t width = 0;
        m_kernel->lists.push_back(destinationOfAnyWidth(item, i.type, width));
        if (i.widthD != 0 && width != i.widthD)
            problem("registers of different widths");
        i.widthD = width;
    }
}

void Decoder::store(const Statement& s, Modifiers& m, Instr& i)
{
    if (m.take("async") || m.take("bulk"))
        return problem("asynchronous stores");
    takeHints(m);
    if (m.types.size() != 1 || !count(s, 2, 3))
        return problem("types of this kind");
    i.type = m.types[0];
    i.space = m.space;
    address(s.operands[0], i.space, i);
    if (i.space == Space::Const || i.space == Space::Param)
        return problem("a store to read-only memory");
    if (m.vector == 1) {
        i.b = sourceOfAnyWidth(s.operands[1], i.type, i.widthA);
        return;
    }
    const Operand& list = s.operands[1];
    if (list.kind != Operand::Kind::Vector || list.items.size() != m.vector)
        return problem("a vector of this kind");
    i.list = static_cast<std::uint32_t>(m_kernel->lists.size());
    i.listCount = static_cast<std::uint16_t>(m.vector);
    // Immediates come in the natural width; so they all must.
    for (const Operand& item : list.items) {
        std::uint8_t width = 0;
        m_kernel->lists.push_back(sourceOfAnyWidth(item, i.type, width));
        if (i.widthA != 0 && width != i.widthA)
            problem("registers of different widths");
        i.widthA = width;
    }
}

/// atom d, [a], b[, c] and red [a], b.
void Decoder::atomic(const Statement& s, Modifiers& m, Instr& i)
{
    static const std::unordered_map<std::string_view, AtomicOp> ops{
        {"add", AtomicOp::Add}, {"exch", AtomicOp::Exch}, {"cas", AtomicOp::Cas}, {"min", AtomicOp::Min},
        {"max", AtomicOp::Max}, {"inc", AtomicOp::Inc},   {"dec", AtomicOp::Dec}, {"and", AtomicOp::And},
        {"or", AtomicOp::Or},   {"xor", AtomicOp::Xor},
    };
    takeHints(m);
    const std::size_t first = s.opcode == "atom" ? 1 : 0;
    if (m.types.size() != 1 || m.rest.size() != 1 || !ops.contains(m.rest[0]))
        return problem("an operation of this kind");
    const AtomicOp op = ops.at(m.rest[0]);
    m.rest.clear();
    i.type = m.types[0];
    i.sub = static_cast<std::uint8_t>(op);
    i.space = m.space;
    const std::size_t operands = first + (op == AtomicOp::Cas ? 3 : 2);
    if (!count(s, operands, operands + 1)) // and a cache policy
        return;
    address(s.operands[first], i.space, i);
    if (i.space == Space::Const || i.space == Space::Param || i.space == Space::Local)
        return problem("this memory");
    const Operand& value = s.operands[first + 1];
    if (first && m.vector != 1)
        return atomicVector(s, value, m.vector, i);
    if (first && s.operands[0].kind != Operand::Kind::Sink)
        i.d = destination(s.operands[0], i.type);
    if (m.vector == 1) {
        i.b = source(value, i.type);
        if (op == AtomicOp::Cas)
            i.c = source(s.operands[first + 2], i.type);
        return;
    }
    if (value.kind != Operand::Kind::Vector || value.items.size() != m.vector || op == AtomicOp::Cas)
        return problem("a vector of this kind");
    i.list = static_cast<std::uint32_t>(m_kernel->lists.size());
    i.listCount = static_cast<std::uint16_t>(m.vector);
    for (const Operand& item : value.items)
        m_kernel->lists.push_back(source(item, i.type));
}

/// atom with vectors: PTX promises atomicity for each element only, so each is an atom of its own.
void Decoder::atomicVector(const Statement& s, const Operand& value, std::size_t elements, const Instr& whole)
{
    const Operand& result = s.operands[0];
    if (value.items.size() != elements || result.items.size() != elements ||
        static_cast<AtomicOp>(whole.sub) == AtomicOp::Cas)
        return problem("a vector of this kind");
    for (std::size_t k = 0; k < elements && m_problem.empty(); ++k) {
        Instr one = whole;
        one.imm += static_cast<std::int64_t>(k * bytesOf(whole.type));
        one.b = source(value.items[k], whole.type);
        if (result.items[k].kind != Operand::Kind::Sink)
            one.d = destination(result.items[k], whole.type);
        if (!bindHandlers(one))
            return problem("an operation of this kind");
        emit(one);
    }
    m_emitted = true;
}

void Decoder::convertAddress(const Statement& s, Modifiers& m, Instr& i)
{
    i.hi = m.take("to");
    if (m.types.size() != 1 || !m.spaceGiven || !count(s, 2, 2))
        return problem("types of this kind");
    i.type = m.types[0];
    i.space = m.space;
    if (i.space == Space::Param && !m_activation->function->entry)
        i.space = Space::Local; // a callee's parameters are its caller's variables
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type);
}

void Decoder::isInSpace(const Statement& s, Modifiers& m, Instr& i)
{
    if (!m.spaceGiven || !count(s, 2, 2))
        return problem("a space of this kind");
    i.space = m.space;
    i.d = predicateDestination(s.operands[0]);
    i.a = source(s.operands[1], Type::U64);
}

/// A cache policy has no effect here: any value will do.
void Decoder::createPolicy(const Statement& s, Modifiers& m, Instr& i)
{
    m.rest.clear();
    if (s.operands.empty())
        return problem("operands of this kind");
    i.type = Type::B64;
    i.d = destination(s.operands[0], Type::B64);
    i.a = constantSlot(0, 8);
}

/// Fences and hints: warps run one after another here, so memory is always in order.
void Decoder::nothing(const Statement&, Modifiers& m, Instr& i)
{
    m.rest.clear();
    i.control = true;
}

} // namespace espalier::sim
