// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/fault_text.h"

#include "core/device/sim/readable_name.h"

#include <cstring>
#include <fmt/format.h>

namespace espalier::sim {

namespace {

constexpr std::uint64_t farAway = std::uint64_t{1} << 30;

std::string indexText(std::uint32_t x, std::uint32_t y, std::uint32_t z, const Dim3& size)
{
    if (size.y == 1 && size.z == 1)
        return fmt::format("{}", x);
    return size.z == 1 ? fmt::format("({}, {})", x, y) : fmt::format("({}, {}, {})", x, y, z);
}

/// A text in device memory; at most 200 bytes.
std::string stringAt(const AddressSpace& memory, std::uint64_t address)
{
    std::string text;
    while (text.size() < 200) {
        const MemoryRange* range = memory.find(address + text.size(), 1);
        if (!range)
            break;
        const char c = static_cast<char>(range->host[address + text.size() - range->base]);
        if (c == '\0')
            break;
        text += c >= ' ' && c < 127 ? c : '?';
    }
    return text;
}

class Describer
{
public:
    Describer(const Kernel& kernel, const LaunchConfig& config, const AddressSpace& memory, const LaunchLimits& limits,
              const LaunchState& state, const BlockRunner& runner)
        : m_kernel(kernel), m_config(config), m_memory(memory), m_limits(limits), m_raw(state.fault), m_runner(runner)
    {
    }

    Fault run()
    {
        Fault fault{.kind = m_raw.kind};
        const Instr* instr = m_runner.place().instr;
        const Location where = instr ? m_kernel.locations[instr->location] : Location{};
        if (where.line > 0 && where.file < m_kernel.files.size()) {
            fault.file = m_kernel.files[where.file];
            fault.line = where.line;
        }
        fault.sentence = fmt::format("{} {}", readableName(m_kernel.name), what());
        fault.sentence += m_raw.kind == FaultKind::BarrierDeadlock
                              ? fmt::format(" (block {})", blockText())
                              : fmt::format(" (block {}, thread {})", blockText(), threadText());
        if (!fault.file.empty())
            fault.sentence += fmt::format(", {}:{}", fault.file.substr(fault.file.rfind('/') + 1), fault.line);
        return fault;
    }

private:
    std::string blockText() const
    {
        const Dim3& index = m_runner.block().index;
        return indexText(index.x, index.y, index.z, m_config.grid);
    }

    std::string threadText() const
    {
        const std::uint32_t thread = m_runner.place().warp * warpLanes + m_raw.lane;
        const Dim3& size = m_config.block;
        return indexText(thread % size.x, thread / size.x % size.y, thread / size.x / size.y, size);
    }

    std::string bytes() const
    {
        return fmt::format("{} {} byte{}", m_raw.verb, m_raw.bytes, m_raw.bytes == 1 ? "" : "s");
    }

    std::string what() const
    {
        switch (m_raw.kind) {
        case FaultKind::OutOfBounds:
            return m_raw.space == Space::Param ? outsideParameters() : outOfBounds();
        case FaultKind::ReadOnlyWrite:
            return readOnly();
        case FaultKind::Misaligned:
            return misaligned();
        case FaultKind::SharedOutOfBounds:
            return fmt::format("{} at offset {} of shared memory, of which the block has {} bytes", bytes(),
                               signedOffset(), m_runner.block().sharedBytes);
        case FaultKind::LocalOutOfBounds:
            return fmt::format("{} at offset {} of local memory, of which each thread has {} bytes", bytes(),
                               signedOffset(), m_kernel.localBytes);
        case FaultKind::Trap:
            return trap();
        case FaultKind::BarrierDeadlock:
            return fmt::format("never ends: {} of the {} threads wait at a barrier or an exchange between lanes that "
                               "the threads it waits for do not reach",
                               m_runner.place().waiting, m_config.block.x * m_config.block.y * m_config.block.z);
        case FaultKind::InstructionLimit:
            return m_raw.bytes ? "was cancelled"
                               : fmt::format("executed more than {} thread instructions: an endless loop, or more work "
                                             "than a case for the simulated device may ask for",
                                             m_limits.maxThreadInstructions);
        }
        return "failed";
    }

    std::int64_t signedOffset() const
    {
        return m_raw.address < windowBytes ? static_cast<std::int32_t>(m_raw.address)
                                           : static_cast<std::int64_t>(m_raw.address);
    }

    std::string outOfBounds() const
    {
        const MemoryRange* near = m_memory.nearest(m_raw.address);
        if (m_raw.address < 4096)
            return fmt::format("{} at address {:#x}, a null pointer", bytes(), m_raw.address);
        if (!near)
            return fmt::format("{} at address {:#x}, which lies in no buffer", bytes(), m_raw.address);
        const std::uint64_t end = near->base + near->bytes;
        if (m_raw.address < near->base) {
            const std::uint64_t before = near->base - m_raw.address;
            if (before <= farAway)
                return fmt::format("{}, {} bytes before the start of {}", bytes(), before, near->name);
        } else if (m_raw.address < end) {
            return fmt::format("{} of which {} lie past the end of {}", bytes(), m_raw.address + m_raw.bytes - end,
                               near->name);
        } else if (m_raw.address - end <= farAway) {
            if (m_raw.address == end)
                return fmt::format("{} right past the end of {}", bytes(), near->name);
            return fmt::format("{}, {} bytes past the end of {}", bytes(), m_raw.address - end, near->name);
        }
        return fmt::format("{} at address {:#x}, which lies in no buffer", bytes(), m_raw.address);
    }

    std::string outsideParameters() const
    {
        return fmt::format("{} at offset {} of its parameters, which have {} bytes", bytes(), m_raw.address,
                           m_kernel.paramBytes);
    }

    std::string readOnly() const
    {
        if (m_raw.space == Space::Param)
            return fmt::format("{} into its own parameters at byte {}", bytes(), m_raw.address);
        const MemoryRange* range = m_memory.find(m_raw.address, 1);
        if (!range)
            return fmt::format("{} into read-only memory", bytes());
        return fmt::format("{} into {} at byte {}, which is read-only", bytes(), range->name,
                           m_raw.address - range->base);
    }

    std::string misaligned() const
    {
        const std::string where = m_raw.space == Space::Shared  ? fmt::format("byte {} of shared memory", m_raw.address)
                                  : m_raw.space == Space::Local ? fmt::format("byte {} of local memory", m_raw.address)
                                                                : globalPlace();
        return fmt::format("{} at {}, an address that is no multiple of {}", bytes(), where, m_raw.bytes);
    }

    std::string globalPlace() const
    {
        const MemoryRange* range = m_memory.find(m_raw.address, 1);
        return range ? fmt::format("byte {} of {}", m_raw.address - range->base, range->name)
                     : fmt::format("address {:#x}", m_raw.address);
    }

    /// A plain trap, or an assert whose arguments the caller has left in local memory.
    std::string trap() const
    {
        const Instr& instr = *m_runner.place().instr;
        if (instr.sub == 0)
            return "executed a trap instruction";
        const Warp& warp = m_runner.warp(m_runner.place().warp);
        const auto argument = [&](std::uint32_t k) {
            std::uint64_t value = 0;
            std::memcpy(&value, warp.local + std::size_t{warp.localBytes} * m_raw.lane + m_kernel.lists[instr.list + k],
                        k == 2 ? 4 : 8);
            return value;
        };
        const auto textOf = [&](std::uint64_t address) { return stringAt(m_memory, address); };
        const std::string file = textOf(argument(1));
        return fmt::format("failed the assertion \"{}\" at {}:{}", textOf(argument(0)),
                           file.substr(file.rfind('/') + 1), argument(2));
    }

    const Kernel& m_kernel;
    const LaunchConfig& m_config;
    const AddressSpace& m_memory;
    const LaunchLimits& m_limits;
    const RawFault& m_raw;
    const BlockRunner& m_runner;
};

} // namespace

Fault describeFault(const Kernel& kernel, const LaunchConfig& config, const AddressSpace& memory,
                    const LaunchLimits& limits, const LaunchState& state, const BlockRunner& runner)
{
    return Describer(kernel, config, memory, limits, state, runner).run();
}

} // namespace espalier::sim
