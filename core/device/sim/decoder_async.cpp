// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies, the barriers in shared memory that wait for them, and clusters, which have one block here.
#include "core/device/sim/decoder.h"

#include <algorithm>

namespace espalier::sim {

/// cp.async[.ca|.cg].shared.global [a], [b], size[, source size or predicate]; commit_group; wait_group n; wait_all.
void Decoder::copyAsync(const Statement& s, Modifiers& m, Instr& i)
{
    if (!m.take("async") || s.has("tensor") || s.has("reduce"))
        return problem("a copy of this kind");
    if (m.take("bulk"))
        return copyBulk(s, m, i);
    if (m.take("mbarrier"))
        return copyArrive(s, m, i);
    if (m.take("commit_group")) {
        i.op = Op::CpAsyncCommit;
        return;
    }
    if (m.take("wait_all")) {
        i.op = Op::CpAsyncWait;
        i.imm = -1;
        return;
    }
    if (m.take("wait_group")) {
        i.op = Op::CpAsyncWait;
        if (!count(s, 1, 1) || s.operands[0].kind != Operand::Kind::Immediate || s.operands[0].bits > 1'000'000)
            return problem("a group number");
        i.imm = static_cast<std::int64_t>(s.operands[0].bits);
        return;
    }
    const bool hinted = s.has("L2::cache_hint");
    takeHints(m);
    m.take("global"); // the second space
    Space to = Space::Shared, from = Space::Global;
    if (m.space != Space::Shared || !count(s, 3, 5) || s.operands[2].kind != Operand::Kind::Immediate)
        return problem("operands of this kind");
    const std::uint64_t bytes = s.operands[2].bits;
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return problem("a size of this kind");
    i.sub = static_cast<std::uint8_t>(bytes);
    i.space = to;
    address(s.operands[0], to, i);
    address(s.operands[1], from, i, true);
    const std::size_t extras = s.operands.size() - 3 - (hinted ? 1 : 0);
    if (extras == 1) {
        const Operand& extra = s.operands[3];
        const bool predicate =
            extra.kind == Operand::Kind::Register && m_activation->function->registers[extra.index] == Type::Pred;
        bool negated = false;
        if (predicate)
            i.e = predicateSource(extra, negated);
        else
            i.c = source(extra, Type::U32);
        if (negated)
            problem("a negated predicate");
    } else if (extras != 0) {
        problem("operands of this kind");
    }
}

/// cp.async.mbarrier.arrive[.noinc].b64 [barrier]: the barrier hears of the thread's copies.
void Decoder::copyArrive(const Statement& s, Modifiers& m, Instr& i)
{
    i.hi = !m.take("noinc");
    if (!m.take("arrive") || !count(s, 1, 1))
        return problem("operands of this kind");
    i.op = Op::CpAsyncArrive;
    i.space = m.space;
    address(s.operands[0], i.space, i);
}

/// cp.async.bulk.shared.global.mbarrier::complete_tx::bytes [a], [b], size, [barrier];
/// cp.async.bulk.global.shared.bulk_group [b], [a], size; commit_group; wait_group; prefetch.
void Decoder::copyBulk(const Statement& s, Modifiers& m, Instr& i)
{
    const bool prefetch = m.take("prefetch");
    const bool wait = m.take("wait_group"), commit = m.take("commit_group");
    if (prefetch || wait || commit) { // copies out of shared memory move when they are issued
        i.op = Op::Nop;
        return nothing(s, m, i);
    }
    const bool hinted = s.has("L2::cache_hint");
    takeHints(m);
    const bool in = m.space == Space::Shared && m.take("global") && m.take("mbarrier::complete_tx::bytes");
    const bool out = m.space == Space::Global && m.take("shared::cta") && m.take("bulk_group");
    const std::size_t operands = (in ? 4 : 3) + (hinted ? 1 : 0);
    if ((!in && !out) || !count(s, operands, operands))
        return problem("a copy of this kind");
    i.op = Op::BulkCopy;
    i.hi = out;
    Space shared = Space::Shared, global = Space::Global;
    address(s.operands[in ? 0 : 1], shared, i);
    address(s.operands[in ? 1 : 0], global, i, true);
    i.c = source(s.operands[2], Type::U32);
    if (in)
        i.e = barrierSlot(s.operands[3], i.widthA);
}

/// The register behind the address of a barrier, which stands beside other addresses.
std::uint32_t Decoder::barrierSlot(const Operand& operand, std::uint8_t& width)
{
    Instr at;
    Space space = Space::Shared;
    address(operand, space, at);
    width = at.wideAddress ? 8 : 4;
    if (at.a == 0)
        return constantSlot(static_cast<std::uint64_t>(at.imm), width);
    if (at.imm != 0)
        problem("the address of a barrier with an offset");
    return at.a;
}

/// mbarrier.*.b64 in shared memory.
void Decoder::mbarrier(const Statement& s, Modifiers& m, Instr& i)
{
    takeHints(m);
    i.type = Type::B64;
    i.space = m.space;
    if (m.types.size() != 1 || m.types[0] != Type::B64)
        return problem("types of this kind");
    if (m.take("test_wait") || m.take("try_wait"))
        return mbarrierTest(s, m, i);
    if (m.take("arrive") || s.has("arrive_drop"))
        return mbarrierArrive(s, m, i);
    if (m.take("pending_count")) {
        i.sub = static_cast<std::uint8_t>(MbarrierOp::PendingCount);
        if (!count(s, 2, 2))
            return;
        i.d = destination(s.operands[0], Type::U32);
        i.b = source(s.operands[1], Type::B64);
        return;
    }
    const bool inval = m.take("inval");
    const MbarrierOp op = m.take("init")          ? MbarrierOp::Init
                          : m.take("expect_tx")   ? MbarrierOp::ExpectTx
                          : m.take("complete_tx") ? MbarrierOp::CompleteTx
                                                  : MbarrierOp::Invalidate;
    if ((op == MbarrierOp::Invalidate) != inval || !count(s, inval ? 1 : 2, inval ? 1 : 2))
        return problem("an operation of this kind");
    i.sub = static_cast<std::uint8_t>(op);
    address(s.operands[0], i.space, i);
    if (!inval)
        i.c = source(s.operands[1], Type::U32);
}

/// mbarrier.arrive[_drop][.expect_tx|.noComplete].b64 state, [a][, count];
void Decoder::mbarrierArrive(const Statement& s, Modifiers& m, Instr& i)
{
    const bool drop = m.take("arrive_drop");
    const bool expect = m.take("expect_tx");
    m.take("noComplete");
    i.sub = static_cast<std::uint8_t>(drop ? MbarrierOp::ArriveDrop : MbarrierOp::Arrive);
    if (!count(s, expect ? 3 : 2, 3))
        return;
    address(s.operands[1], i.space, i);
    if (expect) { // two steps, of which only the second can end a phase
        Instr first = i;
        first.sub = static_cast<std::uint8_t>(MbarrierOp::ExpectTx);
        first.c = source(s.operands[2], Type::U32);
        if (!m.rest.empty() || !bindHandlers(first))
            return problem("an operation of this kind");
        emit(first);
        i.internal = true;
    } else if (s.operands.size() == 3) {
        i.c = source(s.operands[2], Type::U32);
    }
    if (s.operands[0].kind != Operand::Kind::Sink)
        i.d = destination(s.operands[0], Type::B64);
}

/// mbarrier.test_wait and try_wait[.parity].b64 p, [a], state or parity[, time]. A thread that must wait lets the
/// others run.
void Decoder::mbarrierTest(const Statement& s, Modifiers& m, Instr& i)
{
    const bool parity = m.take("parity");
    i.sub = static_cast<std::uint8_t>(parity ? MbarrierOp::TestParity : MbarrierOp::Test);
    if (!count(s, 3, 4))
        return;
    i.d = predicateDestination(s.operands[0]);
    address(s.operands[1], i.space, i);
    if (parity)
        i.c = source(s.operands[2], Type::U32);
    else
        i.b = source(s.operands[2], Type::B64);
    if (!m_problem.empty() || !m.rest.empty() || i.d == 0 || i.guard != 0 || !bindHandlers(i))
        return;
    emit(i);
    Instr others{.op = Op::Yield};
    others.control = others.internal = true;
    others.guard = i.d;
    others.guardNegated = true;
    others.sub = 1;
    others.ptxLine = i.ptxLine;
    others.location = i.location;
    emit(others);
    m_emitted = true;
}

/// mapa and getctarank: the only block of a cluster is its block 0.
void Decoder::mapToCluster(const Statement& s, Modifiers& m, Instr& i)
{
    if (m.types.size() != 1 || s.operands.empty())
        return problem("types of this kind");
    i.type = m.types[0];
    i.op = Op::Mov;
    if (s.opcode == "mapa") {
        if (!count(s, 3, 3))
            return;
        i.d = destination(s.operands[0], i.type);
        i.a = source(s.operands[1], i.type);
        return;
    }
    if (!count(s, 2, 2))
        return;
    i.type = Type::U32;
    i.d = destination(s.operands[0], Type::U32);
    i.a = constantSlot(0, 4);
}

/// barrier.cluster.arrive and wait: with one block, all of its threads meet at the wait.
void Decoder::clusterBarrierOf(const Statement& s, Modifiers& m, Instr& i)
{
    i.control = true;
    takeHints(m);
    const bool arrive = m.take("arrive");
    if ((!arrive && !m.take("wait")) || !count(s, 0, 0))
        return problem("a barrier of this kind");
    if (arrive)
        i.op = Op::Nop;
    i.hi = true;
}

} // namespace espalier::sim
