// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/interpreter.h"

#include "core/device/sim/block_runner.h"
#include "core/device/sim/fault_text.h"

#include <algorithm>
#include <cassert>
#include <cstring>

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

} // namespace

LaunchResult launch(const PtxModule& module, const KernelFacts& facts, const LaunchConfig& config,
                    const AddressSpace& memory, const SymbolTable& symbols, const LaunchLimits& limits)
{
    const Kernel* kernel = module.kernel(facts.name);
    const std::uint64_t threads = std::uint64_t{config.block.x} * config.block.y * config.block.z;
    assert(kernel && facts.unsupported.empty());
    assert(threads >= 1 && threads <= 1024); // the runtime has refused others as cudaErrorInvalidConfiguration
    std::vector<std::byte> params(std::max<std::size_t>(kernel->paramBytes, 1));
    std::memcpy(params.data(), config.params.data(), std::min(config.params.size(), std::size_t{kernel->paramBytes}));

    LaunchState state;
    state.ranges = touchedRanges(memory);
    state.params = params.data();
    state.paramBytes = kernel->paramBytes;
    state.counters.launches = 1;
    BlockRunner runner(*kernel, config, symbols, limits, state);
    for (std::uint32_t z = 0; z < config.grid.z; ++z)
        for (std::uint32_t y = 0; y < config.grid.y; ++y)
            for (std::uint32_t x = 0; x < config.grid.x; ++x)
                if (!runner.run({x, y, z}))
                    return {state.counters, describeFault(*kernel, config, memory, limits, state, runner)};
    return {state.counters, std::nullopt};
}

} // namespace espalier::sim
