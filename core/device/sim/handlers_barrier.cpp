// SPDX-License-Identifier: Apache-2.0
// mbarrier and the bulk copies that report to it. The 64 bits of a barrier are opaque to a kernel; here they hold, from
// the lowest bit: arrivals pending in this phase (20), arrivals of a phase (20), bytes still to come (23, signed), the
// parity of the phase (1).
#include "core/device/sim/memory_access.h"

#include <algorithm>

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

class Phase
{
public:
    explicit Phase(U64 word)
        : m_pending(word & countMask), m_expected(word >> 20 & countMask),
          m_bytes(static_cast<std::int64_t>(word << 1) >> 41), m_parity(word >> 63)
    {
    }
    static U64 fresh(U64 count) { return (count & countMask) << 20 | (count & countMask); }

    void expect(U32 bytes) { m_bytes += bytes; }
    void came(U32 bytes) { m_bytes -= bytes; }
    void arrive(U32 count) { m_pending -= std::min<U64>(count, m_pending); }
    void drop(U32 count) { m_expected -= std::min<U64>(count, m_expected); }
    void endIfComplete()
    {
        if (m_pending != 0 || m_bytes != 0)
            return;
        m_pending = m_expected;
        m_parity ^= 1;
    }
    U64 pending() const { return m_pending; }
    U64 parity() const { return m_parity; }
    U64 word() const
    {
        return m_pending | m_expected << 20 | (static_cast<U64>(m_bytes) & ((U64{1} << 23) - 1)) << 40 | m_parity << 63;
    }

private:
    static constexpr U64 countMask = (U64{1} << 20) - 1;
    U64 m_pending;
    U64 m_expected;
    std::int64_t m_bytes;
    U64 m_parity;
};

Phase phaseAt(const std::byte* place)
{
    U64 word = 0;
    std::memcpy(&word, place, sizeof word);
    return Phase(word);
}

void keep(std::byte* place, const Phase& phase)
{
    const U64 word = phase.word();
    std::memcpy(place, &word, sizeof word);
}

std::byte* placeOf(const Resolved& where, U32 lane)
{
    return where.contiguous ? where.base + lane * sizeof(U64) : where.uniform ? where.base : where.lane[lane];
}

/// Lets the bulk copies arrive that report to the barrier at `place`.
void bring(BlockState& block, std::byte* place)
{
    std::erase_if(block.bulk, [&](const PendingBulk& copy) {
        if (block.shared + copy.barrier != place)
            return false;
        std::memcpy(block.shared + copy.destination, copy.source, copy.bytes);
        Phase phase = phaseAt(place);
        phase.came(copy.bytes);
        phase.endIfComplete();
        keep(place, phase);
        return true;
    });
}

void arrived(std::byte* place, U32 count, bool drop)
{
    Phase phase = phaseAt(place);
    phase.arrive(count);
    if (drop)
        phase.drop(count);
    phase.endIfComplete();
    keep(place, phase);
}

void change(std::byte* place, MbarrierOp op, U32 count)
{
    Phase phase = phaseAt(place);
    switch (op) {
    case MbarrierOp::Init:
        phase = Phase(Phase::fresh(count));
        break;
    case MbarrierOp::ExpectTx:
        phase.expect(count);
        break;
    case MbarrierOp::CompleteTx:
        phase.came(count);
        phase.endIfComplete();
        break;
    default:
        return;
    }
    keep(place, phase);
}

bool mbarrierHandler(Warp& warp, const Instr& instr)
{
    const auto op = static_cast<MbarrierOp>(instr.sub);
    if (op == MbarrierOp::PendingCount) {
        const U64* state = at<U64>(warp, instr.b);
        ESPALIER_LANES put<true>(at<U32>(warp, instr.d), l, static_cast<U32>(Phase(state[l]).pending()),
                                 warp.mask.data());
        return true;
    }
    alignas(64) U64 addresses[warpLanes];
    addressesOf(warp, instr.a, instr.wideAddress, instr.imm, addresses);
    Resolved where;
    if (!resolve(warp, instr.space, addresses, sizeof(U64), Purpose::Update, where))
        return false;
    const bool test = op == MbarrierOp::Test || op == MbarrierOp::TestParity;
    U32 ended = 0;
    for (U32 left = warp.exec; left; left &= left - 1) {
        const auto l = static_cast<U32>(std::countr_zero(left));
        std::byte* const place = placeOf(where, l);
        if (test) {
            bring(*warp.block, place);
            const U64 asked =
                op == MbarrierOp::Test ? Phase(at<U64>(warp, instr.b)[l]).parity() : at<U32>(warp, instr.c)[l] & 1;
            ended |= static_cast<U32>(phaseAt(place).parity() != asked) << l;
            continue;
        }
        const U32 count = instr.c ? at<U32>(warp, instr.c)[l] : 1;
        const U64 before = phaseAt(place).word();
        if (op == MbarrierOp::Arrive || op == MbarrierOp::ArriveDrop)
            arrived(place, count, op == MbarrierOp::ArriveDrop);
        else
            change(place, op, count);
        if (instr.d)
            at<U64>(warp, instr.d)[l] = before;
    }
    if (test)
        writePredicate(warp, instr.d, ended);
    return true;
}

/// cp.async.mbarrier.arrive: the copies of each lane arrive now, and the lane with them. Without .noinc (hi) the
/// barrier does not count on the lane, so nothing changes.
bool copyArriveHandler(Warp& warp, const Instr& instr)
{
    alignas(64) U64 addresses[warpLanes];
    addressesOf(warp, instr.a, instr.wideAddress, instr.imm, addresses);
    Resolved where;
    if (!resolve(warp, instr.space, addresses, sizeof(U64), Purpose::Update, where))
        return false;
    std::erase_if(warp.copies, [&](const PendingCopy& copy) {
        if (!((warp.exec >> copy.lane) & 1))
            return false;
        finishCopy(*warp.block, copy);
        return true;
    });
    for (U32 left = instr.hi ? 0 : warp.exec; left; left &= left - 1)
        arrived(placeOf(where, static_cast<U32>(std::countr_zero(left))), 1, false);
    return true;
}

constexpr U32 piece = 16; ///< bytes: sizes and addresses of bulk copies are multiples of it

/// Checks and counts one side of a bulk copy, a warp's width at a time. Leaves the host address of its first byte.
bool resolveBulk(Warp& warp, Space space, U64 address, U32 bytes, Purpose purpose, std::byte*& first)
{
    const U32 exec = warp.exec;
    bool ok = true;
    for (U32 done = 0; ok && done < bytes; done += piece * warpLanes) {
        const U32 pieces = std::min((bytes - done + piece - 1) / piece, warpLanes);
        alignas(64) U64 addresses[warpLanes];
        for (U32 l = 0; l < warpLanes; ++l)
            addresses[l] = address + done + U64{l} * piece;
        warp.exec = pieces == warpLanes ? ~0u : (1u << pieces) - 1;
        Resolved where;
        ok = resolve(warp, space, addresses, piece, purpose, where);
        if (ok && done == 0)
            first = where.contiguous || where.uniform ? where.base : where.lane[0];
    }
    warp.exec = exec;
    return ok;
}

bool bulkHandler(Warp& warp, const Instr& instr)
{
    const bool out = instr.hi;
    alignas(64) U64 shared[warpLanes], global[warpLanes];
    addressesOf(warp, instr.a, instr.wideAddress, instr.imm, shared);
    addressesOf(warp, instr.b, true, instr.imm2, global);
    for (U32 left = warp.exec; left; left &= left - 1) {
        const auto l = static_cast<U32>(std::countr_zero(left));
        const U32 bytes = at<U32>(warp, instr.c)[l];
        std::byte *from = nullptr, *to = nullptr;
        if (!resolveBulk(warp, Space::Global, global[l], bytes, out ? Purpose::Write : Purpose::Read,
                         out ? to : from) ||
            !resolveBulk(warp, Space::Shared, shared[l], bytes, out ? Purpose::Read : Purpose::Write,
                         out ? from : to)) {
            warp.launch->fault.lane = l;
            return false;
        }
        if (bytes % piece != 0) {
            warp.launch->fault = {true, FaultKind::Misaligned, global[l] + bytes,     piece,
                                  l,    Space::Global,         out ? "wrote" : "read"};
            return false;
        }
        if (bytes == 0)
            continue;
        if (out) {
            std::memcpy(to, from, bytes);
            continue;
        }
        const U64 barrier = instr.widthA == 8 ? at<U64>(warp, instr.e)[l] : at<U32>(warp, instr.e)[l];
        warp.block->bulk.push_back({from, static_cast<U32>(shared[l]), bytes, static_cast<U32>(barrier)});
    }
    return true;
}

} // namespace

bool bindBarrier(Instr& instr)
{
    switch (instr.op) {
    case Op::Mbarrier:
        return set(instr, mbarrierHandler, mbarrierHandler);
    case Op::CpAsyncArrive:
        return set(instr, copyArriveHandler, copyArriveHandler);
    case Op::BulkCopy:
        return set(instr, bulkHandler, bulkHandler);
    default:
        return false;
    }
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
