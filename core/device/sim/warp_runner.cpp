// SPDX-License-Identifier: Apache-2.0
// How a warp runs. Its lanes form fragments, each at one instruction. The fragment with the lowest instruction runs
// until it reaches another one and merges with it; because of the order of the blocks (block_order.cpp) that is where
// the branches meet again. Barriers and exchanges between lanes only take a fragment out of the running, so no
// order of branches can lock a warp that could go on.
#include "core/device/sim/block_runner.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace espalier::sim {

namespace {

constexpr std::uint32_t noStop = ~0u;
constexpr std::uint32_t backwardShare = 2048; ///< backward branches before others get a turn
constexpr std::uint32_t fairShare = 256;
constexpr std::uint32_t cancelInterval = 4096; ///< straight runs between two looks at the cancel flag

void setLanes(Warp& warp, std::uint32_t lanes)
{
    warp.exec = lanes;
    for (std::uint32_t l = 0; l < warpLanes; ++l)
        warp.mask[l] = 0u - ((lanes >> l) & 1u);
}

std::uint32_t read32(const Warp& warp, std::uint32_t slot, std::uint32_t lane)
{
    std::uint32_t value = 0;
    std::memcpy(&value, warp.frame + slot + std::size_t{lane} * 4, 4);
    return value;
}

std::uint32_t readPredicate(const Warp& warp, std::uint32_t slot, bool negated)
{
    const std::uint32_t bits = read32(warp, slot, 0);
    return negated ? ~bits : bits;
}

std::uint32_t lanesCount(std::uint32_t lanes)
{
    return static_cast<std::uint32_t>(std::popcount(lanes));
}

std::uint32_t firstLane(std::uint32_t lanes)
{
    return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

} // namespace

struct BlockRunner::Cursor {
    std::uint32_t pc = 0;
    std::uint32_t start = 0; ///< of the straight run that is not yet counted
    std::uint32_t lanes = 0;
    std::uint32_t stop = noStop;
    std::size_t fragment = 0;
    bool forced = false;
};

/// Counts the straight run up to pc. False: the limit is reached or the launch is cancelled.
bool BlockRunner::flush(Cursor& at)
{
    const Kernel::CostSum& from = m_kernel.costs[at.start];
    const Kernel::CostSum& to = m_kernel.costs[at.pc];
    const std::uint64_t threads = lanesCount(at.lanes);
    Counters& counters = m_state.counters;
    const std::uint64_t issued = to.issued - from.issued;
    counters.warpInstructions += issued;
    counters.threadInstructions += issued * threads;
    counters.flopsF32 += (to.f32 - from.f32) * threads;
    counters.flopsF16 += (to.f16 - from.f16) * threads;
    counters.flopsF64 += (to.f64 - from.f64) * threads;
    counters.specialF32 += (to.special - from.special) * threads;
    at.start = at.pc;
    m_progress = true;
    const bool over = m_limits.maxThreadInstructions && counters.threadInstructions > m_limits.maxThreadInstructions;
    bool cancelled = false;
    if (m_untilCancelCheck-- == 0) {
        m_untilCancelCheck = cancelInterval;
        cancelled = m_limits.cancel && m_limits.cancel->load(std::memory_order_relaxed);
    }
    if (over || cancelled) {
        m_state.fault = {.set = true, .kind = FaultKind::InstructionLimit, .lane = firstLane(at.lanes)};
        m_state.fault.bytes = cancelled ? 1 : 0;
    }
    return !over && !cancelled;
}

bool BlockRunner::runWarp(Warp& warp)
{
    std::size_t index = 0;
    warp.backward = 0;
    while (pick(warp, index)) {
        const Step step = runFragment(warp, index);
        if (step == Step::Fault)
            return false;
        if (step == Step::Yield)
            return true;
    }
    return true;
}

/// The fragment to run next; false when all wait.
bool BlockRunner::pick(Warp& warp, std::size_t& index)
{
    if (warp.fragments.size() > 1)
        merge(warp);
    while (true) {
        bool found = false;
        for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
            if (warp.fragments[i].state != Fragment::State::Ready)
                continue;
            const bool better = found && (warp.fairPicks ? warp.fragments[i].pc > warp.fragments[index].pc
                                                         : warp.fragments[i].pc < warp.fragments[index].pc);
            if (!found || better)
                index = i;
            found = true;
        }
        if (found) {
            warp.fairPicks -= warp.fairPicks ? 1 : 0;
            return true;
        }
        if (!releaseStuck(warp))
            return false;
    }
}

/// Fragments that wait for each other at different instructions (bar.warp.sync in two branches): all named lanes have
/// come, so all go on. True when some did.
bool BlockRunner::releaseStuck(Warp& warp)
{
    bool released = false;
    for (const Fragment& first : warp.fragments) {
        if (first.state != Fragment::State::AtWarpSync)
            continue;
        const std::uint32_t members = first.waitsFor;
        std::uint32_t present = 0;
        for (const Fragment& other : warp.fragments)
            if (other.state == Fragment::State::AtWarpSync && other.waitsFor == members)
                present |= other.lanes;
        if ((members & warp.live & ~present) != 0)
            continue;
        for (Fragment& other : warp.fragments)
            if (other.state == Fragment::State::AtWarpSync && other.waitsFor == members) {
                other.state = Fragment::State::Ready;
                other.forced = true;
            }
        released = true;
    }
    return released;
}

/// Joins fragments at the same instruction. One that waits for lanes looks again when lanes join it.
void BlockRunner::merge(Warp& warp)
{
    auto& fragments = warp.fragments;
    for (std::size_t i = 0; i < fragments.size(); ++i) {
        for (std::size_t j = i + 1; j < fragments.size();) {
            const bool still =
                fragments[i].state == Fragment::State::AtBarrier || fragments[j].state == Fragment::State::AtBarrier;
            if (still || fragments[i].pc != fragments[j].pc) {
                ++j;
                continue;
            }
            const bool bothWait = fragments[i].state == Fragment::State::AtWarpSync &&
                                  fragments[j].state == Fragment::State::AtWarpSync &&
                                  fragments[i].waitsFor != fragments[j].waitsFor;
            if (bothWait) {
                ++j;
                continue;
            }
            fragments[i].lanes |= fragments[j].lanes;
            fragments[i].state = Fragment::State::Ready;
            fragments[i].forced = fragments[i].forced && fragments[j].forced;
            fragments[j] = fragments.back();
            fragments.pop_back();
        }
    }
}

BlockRunner::Step BlockRunner::runFragment(Warp& warp, std::size_t index)
{
    Cursor at;
    at.fragment = index;
    at.pc = at.start = warp.fragments[index].pc;
    at.lanes = warp.fragments[index].lanes;
    at.forced = warp.fragments[index].forced;
    warp.fragments[index].forced = false;
    for (const Fragment& other : warp.fragments)
        if (other.pc > at.pc && other.state != Fragment::State::AtBarrier)
            at.stop = std::min(at.stop, other.pc);
    setLanes(warp, at.lanes);
    const Instr* code = m_kernel.code.data();
    while (true) {
        const Instr& instr = code[at.pc];
        if (instr.steered) {
            const Step step = steer(warp, at, instr);
            if (step == Step::Fault)
                fail(warp, instr);
            if (step != Step::Continue)
                return step;
        } else {
            const Handler handler = at.lanes == ~0u ? instr.full : instr.masked;
            if (!handler(warp, instr)) {
                fail(warp, instr);
                return Step::Fault;
            }
            ++at.pc;
        }
        if (at.pc == at.stop) {
            const bool ok = flush(at);
            warp.fragments[at.fragment].pc = at.pc;
            if (!ok)
                fail(warp, code[at.pc]);
            return ok ? Step::Pick : Step::Fault;
        }
    }
}

/// An instruction with a guard, a control instruction, or one that gathers lanes.
BlockRunner::Step BlockRunner::steer(Warp& warp, Cursor& at, const Instr& instr)
{
    std::uint32_t active = at.lanes;
    if (instr.guard) {
        active &= readPredicate(warp, instr.guard, instr.guardNegated);
        if (active != at.lanes && !instr.internal) {
            // The straight run will be counted for all lanes: take away what is off here.
            const std::uint64_t off = lanesCount(at.lanes & ~active);
            Counters& counters = m_state.counters;
            counters.threadInstructions -= off;
            const std::uint64_t cost = off * instr.costFactor;
            counters.flopsF16 -= instr.cost == Cost::F16 ? cost : 0;
            counters.flopsF32 -= instr.cost == Cost::F32 ? cost : 0;
            counters.flopsF64 -= instr.cost == Cost::F64 ? cost : 0;
            counters.specialF32 -= instr.cost == Cost::Special ? cost : 0;
        }
        if (active == 0) {
            ++at.pc;
            return Step::Continue;
        }
    }
    if (instr.gathers)
        return gather(warp, at, instr, active);
    if (instr.control)
        return control(warp, at, instr, active);
    if (active != at.lanes)
        setLanes(warp, active);
    const bool ok = (active == ~0u ? instr.full : instr.masked)(warp, instr);
    if (active != at.lanes)
        setLanes(warp, at.lanes);
    ++at.pc;
    return ok ? Step::Continue : Step::Fault;
}

BlockRunner::Step BlockRunner::control(Warp& warp, Cursor& at, const Instr& instr, std::uint32_t active)
{
    switch (instr.op) {
    case Op::Jump:
    case Op::Branch:
        return branch(warp, at, instr.target, active);
    case Op::BranchTable:
        return branchTable(warp, at, instr, active);
    case Op::Exit:
        return exit(warp, at, active);
    case Op::Barrier:
    case Op::BarrierArrive:
        return barrier(warp, at, instr, active);
    case Op::Trap:
        m_state.fault = {.set = true, .kind = FaultKind::Trap, .lane = firstLane(active)};
        return Step::Fault;
    case Op::Yield:
        ++at.pc;
        if (!flush(at))
            return Step::Fault;
        warp.fragments[at.fragment].pc = at.pc;
        warp.fairPicks = warp.fragments.size() > 1 ? 1 : 0;
        m_looping = instr.sub == 0; // 1: waits for others of its own block
        return Step::Yield;
    default:
        ++at.pc;
        return Step::Continue;
    }
}

/// The current fragment goes on with `rest` at at.pc (or ends when there is none); `fragment` is put beside it.
void BlockRunner::leaveBehind(Warp& warp, Cursor& at, Fragment fragment, std::uint32_t rest)
{
    Fragment& current = warp.fragments[at.fragment];
    current.pc = at.pc;
    current.lanes = rest;
    current.state = Fragment::State::Ready;
    if (rest == 0)
        current = fragment;
    else
        warp.fragments.push_back(fragment);
}

BlockRunner::Step BlockRunner::branch(Warp& warp, Cursor& at, std::uint32_t target, std::uint32_t active)
{
    const std::uint32_t here = at.pc;
    ++at.pc;
    if (!flush(at)) {
        at.pc = here;
        return Step::Fault;
    }
    if (active != at.lanes) {
        ++m_state.counters.divergentBranches;
        leaveBehind(warp, at, {.pc = target, .lanes = active}, at.lanes & ~active);
        return Step::Pick;
    }
    at.pc = at.start = target;
    if (target <= here && ++warp.backward > backwardShare) {
        warp.fragments[at.fragment].pc = target;
        warp.fairPicks = warp.fragments.size() > 1 ? fairShare : 0;
        m_looping = true;
        return Step::Yield;
    }
    if (warp.fragments.size() == 1)
        return Step::Continue;
    warp.fragments[at.fragment].pc = target;
    if (target > here && target < at.stop)
        return Step::Continue;
    return Step::Pick;
}

/// An index beyond the table goes to its last entry (PTX leaves it undefined).
BlockRunner::Step BlockRunner::branchTable(Warp& warp, Cursor& at, const Instr& instr, std::uint32_t active)
{
    const auto& table = m_kernel.tables[static_cast<std::size_t>(instr.imm)];
    ++at.pc;
    if (!flush(at))
        return Step::Fault;
    const std::uint32_t rest = at.lanes & ~active;
    bool first = true;
    std::uint32_t groups = rest ? 1 : 0;
    for (std::uint32_t left = active; left;) {
        const auto indexOf = [&](std::uint32_t lane) {
            return std::min<std::size_t>(read32(warp, instr.a, lane), table.size() - 1);
        };
        const std::uint32_t target = table[indexOf(firstLane(left))];
        std::uint32_t same = 0;
        for (std::uint32_t l = 0; l < warpLanes; ++l)
            same |= static_cast<std::uint32_t>((left >> l & 1) && table[indexOf(l)] == target) << l;
        leaveBehind(warp, at, {.pc = target, .lanes = same}, first ? rest : warp.fragments[at.fragment].lanes);
        if (!first || rest)
            at.pc = warp.fragments[at.fragment].pc;
        else
            at.pc = target;
        first = false;
        left &= ~same;
        ++groups;
    }
    m_state.counters.divergentBranches += groups > 1 ? 1 : 0;
    return Step::Pick;
}

BlockRunner::Step BlockRunner::exit(Warp& warp, Cursor& at, std::uint32_t active)
{
    ++at.pc;
    if (!flush(at)) {
        --at.pc;
        return Step::Fault;
    }
    warp.live &= ~active;
    m_block.liveThreads -= lanesCount(active);
    const std::uint32_t rest = at.lanes & ~active;
    auto& fragments = warp.fragments;
    if (rest) {
        fragments[at.fragment].pc = at.pc;
        fragments[at.fragment].lanes = rest;
    } else {
        fragments[at.fragment] = fragments.back();
        fragments.pop_back();
    }
    for (Fragment& other : fragments) // may have waited for these lanes only
        if (other.state == Fragment::State::AtWarpSync)
            other.state = Fragment::State::Ready;
    for (std::uint32_t number = 0; number < m_block.barriers.size(); ++number)
        releaseIfComplete(number);
    return Step::Pick;
}

/// Runs a warp-synchronous instruction for each group of lanes with the same member mask whose members are all here;
/// the others wait.
BlockRunner::Step BlockRunner::gather(Warp& warp, Cursor& at, const Instr& instr, std::uint32_t active)
{
    std::uint32_t waiting = 0;
    std::array<Fragment, warpLanes> groups;
    std::size_t count = 0;
    for (std::uint32_t left = active; left;) {
        const std::uint32_t members = read32(warp, instr.e, firstLane(left));
        std::uint32_t group = 0;
        for (std::uint32_t l = 0; l < warpLanes; ++l)
            group |= static_cast<std::uint32_t>(read32(warp, instr.e, l) == members) << l;
        group &= left;
        left &= ~group;
        if ((members & warp.live & ~group) != 0 && !at.forced) {
            groups[count++] = {at.pc, group, members, Fragment::State::AtWarpSync, 0, false};
            waiting |= group;
            continue;
        }
        if (instr.control)
            continue; // bar.warp.sync
        if (group != warp.exec)
            setLanes(warp, group);
        if (!(group == ~0u ? instr.full : instr.masked)(warp, instr))
            return Step::Fault;
    }
    if (warp.exec != at.lanes)
        setLanes(warp, at.lanes);
    at.forced = false;
    if (waiting == 0) {
        ++at.pc;
        return Step::Continue;
    }
    // The run up to here is counted for all; those that wait count this instruction when they come back to it.
    if (!flush(at))
        return Step::Fault;
    const std::uint32_t gone = at.lanes & ~waiting;
    if (gone) {
        Cursor part = at;
        part.lanes = gone;
        ++part.pc;
        if (!flush(part))
            return Step::Fault;
    }
    ++at.pc;
    leaveBehind(warp, at, groups[0], gone);
    for (std::size_t i = 1; i < count; ++i)
        warp.fragments.push_back(groups[i]);
    return Step::Pick;
}

BlockRunner::Step BlockRunner::barrier(Warp& warp, Cursor& at, const Instr& instr, std::uint32_t active)
{
    const std::uint32_t lane = firstLane(active);
    const std::uint32_t number = instr.hi ? clusterBarrier : read32(warp, instr.a, lane) & 15;
    const std::uint32_t threads = instr.b ? read32(warp, instr.b, lane) : 0;
    BarrierState& state = m_block.barriers[number];
    ++m_state.counters.barriers;
    ++at.pc;
    if (!flush(at)) {
        --at.pc;
        return Step::Fault;
    }
    // With a thread count whole warps are counted, also a last one that is not full.
    state.arrived += threads && active == warp.live ? warpLanes : lanesCount(active);
    state.expected = threads;
    state.active = true;
    if (instr.sub) {
        state.votes += lanesCount(active & readPredicate(warp, instr.c, instr.negatedC));
        state.voters += lanesCount(active);
    }
    const std::uint32_t rest = at.lanes & ~active;
    if (instr.op == Op::BarrierArrive) {
        warp.fragments[at.fragment].pc = at.pc;
        releaseIfComplete(number);
        return Step::Pick;
    }
    Fragment waiting{.pc = at.pc - 1, .lanes = active, .state = Fragment::State::AtBarrier};
    waiting.barrier = static_cast<std::uint8_t>(number);
    leaveBehind(warp, at, waiting, rest);
    releaseIfComplete(number);
    return Step::Pick;
}

void BlockRunner::releaseIfComplete(std::uint32_t number)
{
    const BarrierState& state = m_block.barriers[number];
    if (state.active && state.arrived >= (state.expected ? state.expected : std::max(m_block.liveThreads, 1u)))
        release(number);
}

/// Lets everybody at a barrier go on and hands out the result of a bar.red.
void BlockRunner::release(std::uint32_t number)
{
    const BarrierState state = m_block.barriers[number];
    m_block.barriers[number] = {};
    m_progress = true;
    for (Warp& warp : m_warps) {
        for (Fragment& fragment : warp.fragments) {
            if (fragment.state != Fragment::State::AtBarrier || fragment.barrier != number)
                continue;
            const Instr& instr = m_kernel.code[fragment.pc];
            const bool yes = instr.sub == 2 ? state.votes == state.voters : state.votes != 0;
            if (instr.sub == 1) {
                for (std::uint32_t left = fragment.lanes; left; left &= left - 1)
                    std::memcpy(warp.frame + instr.d + std::size_t{firstLane(left)} * 4, &state.votes, 4);
            } else if (instr.sub && instr.d) {
                std::uint32_t bits = read32(warp, instr.d, 0);
                bits = yes ? bits | fragment.lanes : bits & ~fragment.lanes;
                std::memcpy(warp.frame + instr.d, &bits, 4);
            }
            fragment.state = Fragment::State::Ready;
            ++fragment.pc;
        }
    }
}

} // namespace espalier::sim
