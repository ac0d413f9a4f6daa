// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/block_runner.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace espalier::sim {

namespace {

constexpr std::uint32_t laneBits(std::uint32_t count)
{
    return count >= warpLanes ? ~0u : (1u << count) - 1;
}

std::uint32_t threadsOf(const LaunchConfig& config)
{
    return config.block.x * config.block.y * config.block.z;
}

} // namespace

PageBuffer::PageBuffer(std::size_t bytes, unsigned char fill) : m_bytes(bytes)
{
    const std::size_t pages = (std::max<std::size_t>(bytes, 1) + 4095) / 4096 * 4096;
    m_data.reset(static_cast<std::byte*>(std::aligned_alloc(4096, pages)));
    if (!m_data)
        throw std::bad_alloc();
    std::memset(m_data.get(), fill, pages);
}

void PageBuffer::Free::operator()(std::byte* data) const
{
    std::free(data);
}

BlockRunner::BlockRunner(const Kernel& kernel, const LaunchConfig& config, const SymbolTable& symbols,
                         const LaunchLimits& limits, LaunchState& state)
    : m_kernel(kernel), m_config(config), m_limits(limits), m_state(state), m_threads(threadsOf(config)),
      m_frames(std::size_t{(m_threads + warpLanes - 1) / warpLanes} * kernel.frameBytes, 0),
      m_local(std::size_t{(m_threads + warpLanes - 1) / warpLanes} * warpLanes * kernel.localBytes, 0xFF),
      m_shared(std::size_t{kernel.staticShared} + config.dynamicSharedBytes, 0xFF)
{
    m_warps.resize((m_threads + warpLanes - 1) / warpLanes);
    m_block.shared = m_shared.data();
    m_block.sharedBytes = static_cast<std::uint32_t>(m_shared.size());
    for (std::uint32_t w = 0; w < m_warps.size(); ++w) {
        Warp& warp = m_warps[w];
        warp.index = w;
        warp.frame = m_frames.data() + std::size_t{w} * kernel.frameBytes;
        warp.local = m_local.data() + std::size_t{w} * warpLanes * kernel.localBytes;
        warp.localBytes = kernel.localBytes;
        warp.lists = kernel.lists.data();
        warp.launch = &state;
        warp.block = &m_block;
        fillConstants(warp, symbols);
        fillSpecials(warp, false);
    }
}

void BlockRunner::fillConstants(Warp& warp, const SymbolTable& symbols)
{
    for (const Constant& constant : m_kernel.constants) {
        std::uint64_t bits = constant.bits;
        if (constant.kind == Constant::Kind::ModuleVariable) {
            const auto address = symbols.find(constant.symbol);
            bits += address == symbols.end() ? 0 : address->second;
        }
        std::byte* at = warp.frame + constant.slot;
        if (constant.width == 0)
            std::memcpy(at, &bits, 4);
        for (std::uint32_t lane = 0; lane < warpLanes; ++lane)
            std::memcpy(at + std::size_t{lane} * constant.width, &bits, constant.width);
    }
}

void BlockRunner::fillSpecials(Warp& warp, bool perBlock)
{
    for (const SpecialSlot& special : m_kernel.specials) {
        const bool changes = special.which >= SpecialRegister::CtaidX && special.which <= SpecialRegister::CtaidZ;
        if (changes != perBlock)
            continue;
        for (std::uint32_t lane = 0; lane < warpLanes; ++lane) {
            const std::uint64_t value = specialValue(special.which, warp, lane);
            std::memcpy(warp.frame + special.slot + std::size_t{lane} * special.width, &value, special.width);
        }
    }
}

std::uint32_t BlockRunner::specialValue(SpecialRegister which, const Warp& warp, std::uint32_t lane) const
{
    const std::uint32_t thread = warp.index * warpLanes + lane;
    const Dim3& block = m_config.block;
    switch (which) {
    case SpecialRegister::TidX:
        return thread % block.x;
    case SpecialRegister::TidY:
        return thread / block.x % block.y;
    case SpecialRegister::TidZ:
        return thread / block.x / block.y;
    case SpecialRegister::NtidX:
        return block.x;
    case SpecialRegister::NtidY:
        return block.y;
    case SpecialRegister::NtidZ:
        return block.z;
    case SpecialRegister::CtaidX:
        return m_block.index.x;
    case SpecialRegister::CtaidY:
        return m_block.index.y;
    case SpecialRegister::CtaidZ:
        return m_block.index.z;
    case SpecialRegister::NctaidX:
        return m_config.grid.x;
    case SpecialRegister::NctaidY:
        return m_config.grid.y;
    case SpecialRegister::NctaidZ:
        return m_config.grid.z;
    case SpecialRegister::LaneId:
        return lane;
    case SpecialRegister::WarpId:
        return warp.index;
    case SpecialRegister::NwarpId:
        return static_cast<std::uint32_t>(m_warps.size());
    case SpecialRegister::LanemaskEq:
        return 1u << lane;
    case SpecialRegister::LanemaskLe:
        return laneBits(lane + 1);
    case SpecialRegister::LanemaskLt:
        return laneBits(lane);
    case SpecialRegister::LanemaskGe:
        return ~laneBits(lane);
    case SpecialRegister::LanemaskGt:
        return ~laneBits(lane + 1);
    case SpecialRegister::DynamicShared:
        return m_config.dynamicSharedBytes;
    case SpecialRegister::TotalShared:
        return m_block.sharedBytes;
    case SpecialRegister::NsmId:
    case SpecialRegister::One:
        return 1;
    case SpecialRegister::SmId:
    case SpecialRegister::GridId:
    case SpecialRegister::Zero:
        return 0;
    }
    return 0;
}

void BlockRunner::start(Dim3 index)
{
    m_block.index = index;
    m_block.barriers = {};
    m_block.bulk.clear();
    m_block.liveThreads = m_threads;
    // What a block finds in shared memory is undefined: NaNs show a read before a write.
    std::memset(m_shared.data(), 0xFF, m_shared.size());
    for (Warp& warp : m_warps) {
        warp.live = laneBits(std::min(m_threads - warp.index * warpLanes, warpLanes));
        warp.fragments.clear();
        warp.fragments.push_back({.pc = 0, .lanes = warp.live});
        warp.copies.clear();
        warp.copyGroups = {};
        warp.fairPicks = 0;
        fillSpecials(warp, true);
    }
}

BlockRunner::Status BlockRunner::advance()
{
    m_looping = false;
    while (m_block.liveThreads > 0) {
        if (m_looping)
            return Status::Looping;
        m_progress = false;
        for (Warp& warp : m_warps)
            if (!warp.fragments.empty() && !runWarp(warp))
                return Status::Fault;
        if (!m_progress && m_block.liveThreads > 0) {
            deadlock();
            return Status::Fault;
        }
    }
    ++m_state.counters.blocks;
    m_state.counters.threads += m_threads;
    return Status::Finished;
}

std::size_t BlockRunner::bytesOf(const Kernel& kernel, const LaunchConfig& config)
{
    const std::size_t warps = (threadsOf(config) + warpLanes - 1) / warpLanes;
    return warps * (kernel.frameBytes + std::size_t{warpLanes} * kernel.localBytes) + kernel.staticShared +
           config.dynamicSharedBytes;
}

bool BlockRunner::fail(const Warp& warp, const Instr& instr)
{
    m_place.instr = &instr;
    m_place.warp = warp.index;
    return false;
}

bool BlockRunner::deadlock()
{
    for (Warp& warp : m_warps)
        for (const Fragment& fragment : warp.fragments) {
            if (!m_place.instr) {
                fail(warp, m_kernel.code[fragment.pc]);
                m_state.fault.lane = static_cast<std::uint32_t>(std::countr_zero(fragment.lanes));
            }
            m_place.waiting += static_cast<std::uint32_t>(std::popcount(fragment.lanes));
        }
    m_state.fault.set = true;
    m_state.fault.kind = FaultKind::BarrierDeadlock;
    return false;
}

} // namespace espalier::sim
