// SPDX-License-Identifier: Apache-2.0
// Branches, calls, barriers, exchange between lanes.
#include "core/device/sim/decoder.h"
#include "core/device/sim/readable_name.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier::sim {

void Decoder::branch(const Statement& s, Modifiers& m, Instr& i)
{
    m.take("uni");
    i.control = true;
    if (!count(s, 1, 1))
        return;
    const std::int64_t to = m_activation->function->label(s.scope, s.operands[0].name);
    if (to < 0)
        return problem(fmt::format("no label {}", s.operands[0].name.substr(0, 60)));
    i.target = labelAt(*m_activation, to);
}

/// brx.idx index, table;
void Decoder::branchTable(const Statement& s, Modifiers& m, Instr& i)
{
    m.take("uni");
    i.control = true;
    if (!m.take("idx") || !count(s, 2, 2))
        return problem("operands of this kind");
    const auto& tables = m_activation->function->branchTargets;
    const auto found = tables.find(s.operands[1].name);
    if (found == tables.end() || found->second.empty())
        return problem(fmt::format("no list of targets {}", s.operands[1].name.substr(0, 60)));
    std::vector<std::uint32_t> targets;
    for (const std::string_view name : found->second) {
        const std::int64_t to = m_activation->function->label(s.scope, name);
        if (to < 0)
            return problem(fmt::format("no label {}", name.substr(0, 60)));
        targets.push_back(labelAt(*m_activation, to));
    }
    i.a = source(s.operands[0], Type::U32);
    i.imm = static_cast<std::int64_t>(m_kernel->tables.size());
    m_kernel->tables.push_back(std::move(targets));
}

void Decoder::leave(const Statement& s, Modifiers& m, Instr& i)
{
    m.take("uni");
    i.control = true;
    if (s.opcode == "exit" || m_activation->function->entry) {
        i.op = Op::Exit;
        return;
    }
    i.op = Op::Branch;
    i.target = m_activation->returnLabel;
}

void Decoder::trap(const Statement&, Modifiers&, Instr& i)
{
    i.control = true;
}

/// bar.sync, bar.arrive, bar.red, barrier.cta.*, bar.warp.sync.
void Decoder::barrier(const Statement& s, Modifiers& m, Instr& i)
{
    i.control = true;
    m.take("cta");
    m.take("aligned");
    if (m.take("cluster"))
        return clusterBarrierOf(s, m, i);
    if (m.take("warp")) {
        if (!m.take("sync") || !count(s, 1, 1))
            return problem("operands of this kind");
        i.op = Op::BarrierWarp;
        i.e = source(s.operands[0], Type::U32);
        return;
    }
    const std::vector<Operand>& operands = s.operands;
    std::size_t at = 0;
    std::size_t last = operands.size();
    if (m.take("arrive")) {
        i.op = Op::BarrierArrive;
    } else if (m.take("red")) {
        if (!count(s, 3, 4))
            return;
        i.sub = m.take("popc") ? 1 : m.take("and") ? 2 : m.take("or") ? 3 : 0;
        i.d = i.sub == 1 ? destination(operands[0], Type::U32) : predicateDestination(operands[0]);
        i.c = predicateSource(operands.back(), i.negatedC);
        at = 1;
        last -= 1;
        if (i.sub == 0)
            return problem("a reduction of this kind");
    } else if (!m.take("sync")) {
        return problem("a barrier of this kind");
    }
    if (last - at < 1 || last - at > 2)
        return problem("operands of this kind");
    if (operands[at].kind == Operand::Kind::Immediate && operands[at].bits > 15)
        return problem("a barrier above 15");
    i.a = source(operands[at], Type::U32);
    if (last - at == 2)
        i.b = source(operands[at + 1], Type::U32);
    else if (i.op == Op::BarrierArrive)
        problem("no thread count");
}

/// shfl.sync.mode.b32 d[|p], a, b, c, members;
void Decoder::shuffle(const Statement& s, Modifiers& m, Instr& i)
{
    const bool sync = m.take("sync");
    if (!count(s, sync ? 5 : 4, sync ? 5 : 4) || m.types.size() != 1 || bytesOf(m.types[0]) != 4)
        return problem("operands of this kind");
    i.type = m.types[0];
    Lanes mode = Lanes::Idx;
    if (m.take("up"))
        mode = Lanes::Up;
    else if (m.take("down"))
        mode = Lanes::Down;
    else if (m.take("bfly"))
        mode = Lanes::Bfly;
    else if (!m.take("idx"))
        return problem("a mode of this kind");
    i.sub = static_cast<std::uint8_t>(mode);
    if (s.operands[0].kind != Operand::Kind::Sink)
        i.d = destination(s.operands[0], i.type);
    if (!s.operands[0].items.empty())
        i.d2 = predicateDestination(s.operands[0].items[0]);
    i.a = source(s.operands[1], i.type);
    i.b = source(s.operands[2], Type::U32);
    i.c = source(s.operands[3], Type::U32);
    if (sync)
        i.e = source(s.operands[4], Type::U32);
}

/// vote.sync.mode.pred p, {!}a, members; vote.sync.ballot.b32 d, {!}a, members;
void Decoder::vote(const Statement& s, Modifiers& m, Instr& i)
{
    const bool sync = m.take("sync");
    if (!count(s, sync ? 3 : 2, sync ? 3 : 2))
        return;
    VoteMode mode = VoteMode::All;
    if (m.take("ballot"))
        mode = VoteMode::Ballot;
    else if (m.take("any"))
        mode = VoteMode::Any;
    else if (m.take("uni"))
        mode = VoteMode::Uni;
    else if (!m.take("all"))
        return problem("a mode of this kind");
    i.sub = static_cast<std::uint8_t>(mode);
    i.d = mode == VoteMode::Ballot ? destination(s.operands[0], Type::B32) : predicateDestination(s.operands[0]);
    i.a = predicateSource(s.operands[1], i.negatedA);
    if (sync)
        i.e = source(s.operands[2], Type::U32);
}

/// match.any.sync.type d, a, members; match.all.sync.type d[|p], a, members;
void Decoder::match(const Statement& s, Modifiers& m, Instr& i)
{
    const bool all = m.take("all");
    if ((!all && !m.take("any")) || !m.take("sync") || m.types.size() != 1 || bytesOf(m.types[0]) < 4 ||
        !count(s, 3, 3))
        return problem("operands of this kind");
    i.type = m.types[0];
    i.sub = static_cast<std::uint8_t>(all ? MatchMode::All : MatchMode::Any);
    if (s.operands[0].kind != Operand::Kind::Sink)
        i.d = destination(s.operands[0], Type::B32);
    if (!s.operands[0].items.empty())
        i.d2 = predicateDestination(s.operands[0].items[0]);
    i.a = source(s.operands[1], i.type);
    i.e = source(s.operands[2], Type::U32);
}

void Decoder::reduceWarp(const Statement& s, Modifiers& m, Instr& i)
{
    static const std::unordered_map<std::string_view, AtomicOp> ops{
        {"add", AtomicOp::Add}, {"min", AtomicOp::Min}, {"max", AtomicOp::Max},
        {"and", AtomicOp::And}, {"or", AtomicOp::Or},   {"xor", AtomicOp::Xor},
    };
    if (!m.take("sync") || m.rest.size() != 1 || !ops.contains(m.rest[0]) || m.types.size() != 1 ||
        bytesOf(m.types[0]) != 4 || isFloat(m.types[0]) || !count(s, 3, 3))
        return problem("operands of this kind");
    i.sub = static_cast<std::uint8_t>(ops.at(m.rest[0]));
    m.rest.clear();
    i.type = m.types[0];
    i.d = destination(s.operands[0], i.type);
    i.a = source(s.operands[1], i.type);
    i.e = source(s.operands[2], Type::U32);
}

void Decoder::activeMask(const Statement& s, Modifiers&, Instr& i)
{
    if (count(s, 1, 1))
        i.d = destination(s.operands[0], Type::B32);
}

/// elect.sync d|p, members;
void Decoder::elect(const Statement& s, Modifiers& m, Instr& i)
{
    if (!m.take("sync") || !count(s, 2, 2) || s.operands[0].items.size() != 1)
        return problem("operands of this kind");
    if (s.operands[0].kind != Operand::Kind::Sink)
        i.d = destination(s.operands[0], Type::B32);
    i.d2 = predicateDestination(s.operands[0].items[0]);
    i.e = source(s.operands[1], Type::U32);
}

/// Calls are inlined: the callee's parameters become names for the caller's .param variables.
void Decoder::call(const Statement& s, unsigned depth)
{
    if (s.operands.size() != 3 || s.operands[1].kind != Operand::Kind::Symbol || s.operands[1].isLocalVariable)
        return unsupported(s, "a call through a pointer or of a virtual function");
    const std::string_view name = s.operands[1].name;
    Instr skip{.op = Op::Branch};
    skip.control = true;
    skip.ptxLine = s.line;
    skip.location = static_cast<std::uint32_t>(m_kernel->locations.size() - 1);
    const std::uint32_t after = freshLabel();
    if (s.guard >= 0) {
        skip.guard = registerSlot(static_cast<std::uint32_t>(s.guard));
        skip.guardNegated = !s.guardNegated;
        skip.target = after;
        emit(skip);
    } else {
        skip.op = Op::Nop; // the call itself
        emit(skip);
    }
    const auto found = m_module.functionByName.find(name);
    const Function* callee = found == m_module.functionByName.end() ? nullptr : &m_module.functions[found->second];
    if (name == "vprintf") {
        // Nobody reads what a kernel prints; the count it returns stays undefined.
    } else if (name == "__assertfail") {
        skip.guard = 0;
        assertCall(s, skip);
    } else if (!callee || !callee->defined) {
        return unsupported(
            s, fmt::format("the function {} is not in the module", readableName(std::string(name)).substr(0, 80)));
    } else if (std::ranges::find(m_callStack, callee) != m_callStack.end()) {
        return unsupported(s, fmt::format("{} calls itself", readableName(std::string(name)).substr(0, 80)));
    } else {
        Activation activation{.function = callee, .functionNumber = found->second, .returnLabel = freshLabel()};
        const auto pass = [&](const std::vector<std::uint32_t>& formals, const Operand& actuals) {
            if (formals.size() != actuals.items.size())
                return problem("another number of arguments");
            for (std::size_t i = 0; i < formals.size(); ++i) {
                const Operand& actual = actuals.items[i];
                if (actual.kind != Operand::Kind::Symbol || !actual.isLocalVariable)
                    return problem("arguments that are no .param variables");
                if (m_activation->function->variables[actual.index].bytes < callee->variables[formals[i]].bytes)
                    return problem("an argument of another size");
                activation.formals[formals[i]] = localOffset(actual.index);
            }
        };
        pass(callee->results, s.operands[0]);
        pass(callee->parameters, s.operands[2]);
        if (!m_problem.empty())
            return unsupported(s, m_problem);
        m_callStack.push_back(callee);
        expand(activation, depth + 1);
        m_callStack.pop_back();
        bind(activation.returnLabel);
    }
    bind(after);
}

/// __assertfail(message, file, line, function, size): the interpreter reads the first three for its sentence.
void Decoder::assertCall(const Statement& s, Instr i)
{
    i.op = Op::Trap;
    const std::vector<Operand>& arguments = s.operands[2].items;
    if (arguments.size() == 5) {
        i.sub = 1;
        i.list = static_cast<std::uint32_t>(m_kernel->lists.size());
        for (std::size_t k = 0; k < 3; ++k) {
            const Operand& argument = arguments[k];
            if (argument.kind != Operand::Kind::Symbol || !argument.isLocalVariable)
                i.sub = 0;
            m_kernel->lists.push_back(i.sub ? localOffset(argument.index) : 0);
        }
    }
    emit(i);
}

} // namespace espalier::sim
