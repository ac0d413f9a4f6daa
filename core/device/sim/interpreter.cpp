// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/interpreter.h"

#include "core/device/sim/block_runner.h"
#include "core/device/sim/fault_text.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <new>

namespace espalier::sim {

namespace {

/// The ranges with room for the sectors they will be touched at.
std::vector<TouchedRange> touchedRanges(const AddressSpace& memory)
{
    std::vector<TouchedRange> ranges;
    for (const MemoryRange& range : memory.ranges()) {
        TouchedRange touched;
        touched.base = range.base;
        touched.bytes = range.bytes;
        touched.host = range.host;
        touched.writable = range.access == Access::ReadWrite;
        touched.firstSector = range.base / 32;
        ranges.push_back(std::move(touched));
    }
    return ranges;
}

constexpr std::size_t mostWaitingBytes = std::size_t{512} << 20;
constexpr std::uint64_t mostSharedBytes = 2u << 20;
constexpr std::size_t mostWaiting = 1056; ///< eight on each of 132 multiprocessors

/// Blocks run in order, each to its end. One that loops for long is put aside and the next is started, because it may
/// wait for it (grid-wide barriers); those put aside take turns.
LaunchResult runBlocks(const Kernel& kernel, const LaunchConfig& config, const AddressSpace& memory,
                       const SymbolTable& symbols, const LaunchLimits& limits, LaunchState& state)
{
    const std::uint64_t total = std::uint64_t{config.grid.x} * config.grid.y * config.grid.z;
    const std::size_t most =
        std::clamp<std::size_t>(mostWaitingBytes / BlockRunner::bytesOf(kernel, config), 1, mostWaiting);
    std::deque<std::unique_ptr<BlockRunner>> waiting;
    std::unique_ptr<BlockRunner> spare;
    for (std::uint64_t next = 0; next < total || !waiting.empty();) {
        std::unique_ptr<BlockRunner> runner;
        if (next < total && waiting.size() < most) {
            runner = spare ? std::move(spare) : std::make_unique<BlockRunner>(kernel, config, symbols, limits, state);
            const std::uint64_t plane = std::uint64_t{config.grid.x} * config.grid.y;
            runner->start({static_cast<std::uint32_t>(next % config.grid.x),
                           static_cast<std::uint32_t>(next / config.grid.x % config.grid.y),
                           static_cast<std::uint32_t>(next / plane)});
            ++next;
        } else {
            runner = std::move(waiting.front());
            waiting.pop_front();
        }
        switch (runner->advance()) {
        case BlockRunner::Status::Finished:
            spare = std::move(runner);
            break;
        case BlockRunner::Status::Looping:
            waiting.push_back(std::move(runner));
            break;
        case BlockRunner::Status::Fault:
            return {state.counters, describeFault(kernel, config, memory, limits, state, *runner)};
        }
    }
    return {state.counters, std::nullopt};
}

/// Why a shape cannot run; empty when it can. The runtime has refused it already, unless its process is hostile.
std::string refusal(const Kernel& kernel, const LaunchConfig& config)
{
    const Dim3& b = config.block;
    const bool fits = b.x >= 1 && b.y >= 1 && b.z >= 1 && b.x <= 1024 && b.y <= 1024 && b.z <= 1024;
    if (!fits || std::uint64_t{b.x} * b.y * b.z > 1024)
        return fmt::format("with blocks of {} x {} x {} threads", b.x, b.y, b.z);
    if (std::uint64_t{kernel.staticShared} + config.dynamicSharedBytes > mostSharedBytes)
        return fmt::format("with {} bytes of shared memory a block", kernel.staticShared + config.dynamicSharedBytes);
    return {};
}

} // namespace

LaunchResult launch(const PtxModule& module, const KernelFacts& facts, const LaunchConfig& config,
                    const AddressSpace& memory, const SymbolTable& symbols, const LaunchLimits& limits)
{
    const Kernel* kernel = module.kernel(facts.name);
    assert(kernel && facts.unsupported.empty());
    if (const std::string why = refusal(*kernel, config); !why.empty())
        return {{}, Fault{FaultKind::Trap, fmt::format("{} cannot be launched {}", facts.name, why), {}, 0}};
    std::vector<std::byte> params(std::max<std::size_t>(kernel->paramBytes, 1));
    std::copy_n(config.params.begin(), std::min(config.params.size(), std::size_t{kernel->paramBytes}), params.begin());

    LaunchState state;
    state.ranges = touchedRanges(memory);
    state.params = params.data();
    state.paramBytes = kernel->paramBytes;
    state.counters.launches = 1;
    try {
        return runBlocks(*kernel, config, memory, symbols, limits, state);
    } catch (const std::bad_alloc&) {
        const std::size_t bytes = BlockRunner::bytesOf(*kernel, config);
        return {state.counters,
                Fault{FaultKind::Trap,
                      fmt::format("{} needs more memory than the simulated device has: {} bytes a block", facts.name,
                                  bytes),
                      {},
                      0}};
    }
}

} // namespace espalier::sim
