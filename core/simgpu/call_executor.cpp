// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/call_executor.h"

#include "core/device/sim/readable_name.h"
#include "core/simgpu/simgpu_protocol.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <fmt/format.h>

namespace espalier::sim {

namespace {

constexpr int illegalAddress = 700;
constexpr int launchTimeout = 702;
constexpr int misalignedAddress = 716;
constexpr int launchFailure = 719;

int codeOf(FaultKind kind)
{
    switch (kind) {
    case FaultKind::OutOfBounds:
    case FaultKind::ReadOnlyWrite:
    case FaultKind::SharedOutOfBounds:
    case FaultKind::LocalOutOfBounds:
        return illegalAddress;
    case FaultKind::Misaligned:
        return misalignedAddress;
    case FaultKind::BarrierDeadlock:
    case FaultKind::InstructionLimit:
        return launchTimeout;
    case FaultKind::Trap:
        break;
    }
    return launchFailure;
}

bool isHang(FaultKind kind)
{
    return kind == FaultKind::BarrierDeadlock || kind == FaultKind::InstructionLimit;
}

bool same(const Dim3& a, const Dim3& b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

void addLaunch(CallReport& report, const KernelFacts& facts, const Work& work, const Counters& counters, double seconds)
{
    const std::uint32_t shared = facts.staticSharedBytes + work.dynamicShared;
    report.counters += counters;
    report.modelledSeconds += seconds;
    ++report.launchCount;
    auto found = std::ranges::find_if(report.launches, [&](const LaunchSummary& launch) {
        return launch.kernel == facts.name && same(launch.grid, work.grid) && same(launch.block, work.block) &&
               launch.sharedBytes == shared;
    });
    if (found == report.launches.end()) {
        if (report.launches.size() == maxLaunchSummaries) {
            return;
        }
        report.launches.push_back({facts.name, work.grid, work.block, shared, 0, {}, 0});
        found = std::prev(report.launches.end());
    }
    ++found->times;
    found->counters += counters;
    found->modelledSeconds += seconds;
}

} // namespace

bool CallExecutor::execute(const Work& work, std::uint64_t maxThreadInstructions, CallReport& report)
{
    switch (work.kind) {
    case Work::Kind::Launch:
        return launch(work, maxThreadInstructions, report);
    case Work::Kind::Memset:
        return set(work, report);
    case Work::Kind::CopyDevice:
    case Work::Kind::CopyIn:
        return copy(work, report);
    case Work::Kind::Free:
        m_memory.release(work.to);
        return true;
    }
    return true;
}

bool CallExecutor::launch(const Work& work, std::uint64_t maxThreadInstructions, CallReport& report)
{
    assert(work.kernel < m_kernels.size());
    const LoadedKernel& kernel = m_kernels[work.kernel];
    const KernelFacts& facts = *kernel.facts;
    if (!facts.unsupported.empty()) {
        for (const std::string& instruction : facts.unsupported) {
            report.unsupported.push_back(fmt::format("{} in kernel {}", instruction, readableName(facts.name)));
        }
        return false;
    }
    const LaunchConfig config = {work.grid, work.block, work.dynamicShared, std::as_bytes(std::span(work.data))};
    const LaunchResult result = sim::launch(*kernel.module->module, facts, config, m_memory.space(),
                                            kernel.module->symbols, {maxThreadInstructions, &m_cancel});
    const LaunchShape shape = {std::uint64_t{work.grid.x} * work.grid.y * work.grid.z,
                               work.block.x * work.block.y * work.block.z,
                               facts.staticSharedBytes + work.dynamicShared};
    addLaunch(report, facts, work, result.counters, modelledSeconds(result.counters, shape, m_profile));
    if (m_cancel.load(std::memory_order_relaxed)) {
        report.fault = CallFault{launchTimeout,
                                 FaultKind::InstructionLimit,
                                 true,
                                 fmt::format("{} ran past its deadline on the simulated device", facts.name),
                                 {},
                                 0};
    } else if (result.fault) {
        report.fault = CallFault{codeOf(result.fault->kind), result.fault->kind, isHang(result.fault->kind),
                                 result.fault->sentence,     result.fault->file, result.fault->line};
    }
    return !report.fault;
}

/// The range that holds the bytes, or nullptr and a fault that says how far off they are.
const MemoryRange* CallExecutor::checked(std::uint64_t address, std::uint64_t bytes, Access access, const char* verb,
                                         CallReport& report) const
{
    // Far outside the window sums of addresses could wrap; such an address is near nothing.
    const bool sane = bytes <= windowBytes && address <= windowBase + windowBytes;
    const MemoryRange* range = sane ? m_memory.space().find(address, bytes) : nullptr;
    if (range && (access == Access::ReadOnly || range->access == Access::ReadWrite)) {
        return range;
    }
    CallFault fault = {illegalAddress, FaultKind::OutOfBounds, false, {}, {}, 0};
    if (range) {
        fault.kind = FaultKind::ReadOnlyWrite;
        fault.sentence = fmt::format("{} {} bytes of {}, which is read-only", verb, bytes, range->name);
    } else if (const MemoryRange* near = sane ? m_memory.space().nearest(address) : nullptr) {
        if (address < near->base) {
            fault.sentence = fmt::format("{} {} bytes from {} bytes before the start of {}", verb, bytes,
                                         near->base - address, near->name);
        } else {
            fault.sentence = fmt::format("{} {} bytes, {} of them past the end of {}", verb, bytes,
                                         std::min(bytes, address + bytes - near->base - near->bytes), near->name);
        }
    } else {
        fault.sentence = fmt::format("{} {} bytes at {:#x}, where there is no buffer", verb, bytes, address);
    }
    report.fault = std::move(fault);
    return nullptr;
}

void CallExecutor::addTransfer(std::uint64_t read, std::uint64_t written, CallReport& report) const
{
    report.counters.dramReadBytes += read;
    report.counters.dramWriteBytes += written;
    report.modelledSeconds += m_profile.launchSeconds;
    if (m_profile.dramBytesPerSecond > 0) {
        report.modelledSeconds += static_cast<double>(read + written) / m_profile.dramBytesPerSecond;
    }
}

bool CallExecutor::set(const Work& work, CallReport& report)
{
    const MemoryRange* to = checked(work.to, work.bytes, Access::ReadWrite, "cudaMemset wrote", report);
    if (!to) {
        return false;
    }
    std::memset(to->host + (work.to - to->base), work.value, work.bytes);
    addTransfer(0, work.bytes, report);
    return true;
}

bool CallExecutor::copy(const Work& work, CallReport& report)
{
    const bool inside = work.kind == Work::Kind::CopyDevice;
    const std::byte* source = reinterpret_cast<const std::byte*>(work.data.data());
    if (inside) {
        const MemoryRange* from = checked(work.from, work.bytes, Access::ReadOnly, "cudaMemcpy read", report);
        if (!from) {
            return false;
        }
        source = from->host + (work.from - from->base);
    }
    // A __constant__ variable is read-only for kernels, not for the runtime's copy to a symbol.
    const MemoryRange* range = work.bytes <= windowBytes ? m_memory.space().find(work.to, work.bytes) : nullptr;
    const bool constant = !inside && range && range->name.starts_with("__constant__");
    const MemoryRange* to =
        checked(work.to, work.bytes, constant ? Access::ReadOnly : Access::ReadWrite, "cudaMemcpy wrote", report);
    if (!to) {
        return false;
    }
    std::memmove(to->host + (work.to - to->base), source, work.bytes);
    addTransfer(inside ? work.bytes : 0, work.bytes, report);
    return true;
}

} // namespace espalier::sim
