// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/warp.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace espalier::sim {

/// Where a fault happened, beside what LaunchState::fault says.
struct FaultPlace {
    const Instr* instr = nullptr;
    std::uint32_t warp = 0;
    std::uint32_t waiting = 0; ///< threads, for a deadlock
};

/// Memory that starts on a page, filled with one byte value.
class PageBuffer
{
public:
    PageBuffer(std::size_t bytes, unsigned char fill);
    std::byte* data() const { return m_data.get(); }
    std::size_t size() const { return m_bytes; }

private:
    struct Free {
        void operator()(std::byte* data) const;
    };
    std::size_t m_bytes;
    std::unique_ptr<std::byte, Free> m_data;
};

/// Runs blocks of one launch, one after another, in the same frames.
/// Thread: one. Owns registers, shared and local memory; the launch's state belongs to the caller.
class BlockRunner
{
public:
    enum class Status : std::uint8_t {
        Finished,
        Looping, ///< has had its share: it may wait for a block that has not started
        Fault,   ///< the state's fault is set, place() says where
    };

    BlockRunner(const Kernel& kernel, const LaunchConfig& config, const SymbolTable& symbols,
                const LaunchLimits& limits, LaunchState& state);

    void start(Dim3 index);
    Status advance(); ///< runs the block that was started
    /// Bytes one runner takes.
    static std::size_t bytesOf(const Kernel& kernel, const LaunchConfig& config);
    const FaultPlace& place() const { return m_place; }
    const BlockState& block() const { return m_block; }
    const Warp& warp(std::uint32_t index) const { return m_warps[index]; }

private:
    enum class Step : std::uint8_t { Continue, Pick, Yield, Fault };
    struct Cursor; ///< the fragment that is running

    void fillConstants(Warp& warp, const SymbolTable& symbols);
    void fillSpecials(Warp& warp, bool perBlock);
    std::uint32_t specialValue(SpecialRegister which, const Warp& warp, std::uint32_t lane) const;

    bool runWarp(Warp& warp); ///< until it waits, ends or has had its share; false: fault
    bool pick(Warp& warp, std::size_t& index);
    bool releaseStuck(Warp& warp);
    void merge(Warp& warp);
    Step runFragment(Warp& warp, std::size_t index);
    Step steer(Warp& warp, Cursor& at, const Instr& instr);
    Step control(Warp& warp, Cursor& at, const Instr& instr, std::uint32_t active);
    Step gather(Warp& warp, Cursor& at, const Instr& instr, std::uint32_t active);
    Step branch(Warp& warp, Cursor& at, std::uint32_t target, std::uint32_t active);
    Step branchTable(Warp& warp, Cursor& at, const Instr& instr, std::uint32_t active);
    Step exit(Warp& warp, Cursor& at, std::uint32_t active);
    Step barrier(Warp& warp, Cursor& at, const Instr& instr, std::uint32_t active);
    void leaveBehind(Warp& warp, Cursor& at, Fragment fragment, std::uint32_t rest);
    bool flush(Cursor& at);
    void releaseIfComplete(std::uint32_t number);
    void release(std::uint32_t number);
    bool fail(const Warp& warp, const Instr& instr);
    bool deadlock();

    const Kernel& m_kernel;
    const LaunchConfig& m_config;
    const LaunchLimits& m_limits;
    LaunchState& m_state;
    std::uint32_t m_threads;
    PageBuffer m_frames, m_local, m_shared;
    std::vector<Warp> m_warps;
    BlockState m_block;
    FaultPlace m_place;
    std::uint32_t m_untilCancelCheck = 0;
    bool m_progress = false;
    bool m_looping = false; ///< a warp has had its share of backward branches
};

} // namespace espalier::sim
