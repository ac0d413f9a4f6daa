// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/interpreter.h"
#include "core/device/sim/time_model.h"
#include "core/simgpu/client_memory.h"
#include "core/simgpu/sim_report.h"
#include "core/simgpu/work_queue.h"

#include <atomic>
#include <memory>
#include <vector>

namespace espalier::sim {

/// A module that one client registered: the parsed text (shared) and this client's variables.
struct LoadedModule {
    std::shared_ptr<const PtxModule> module; ///< null: could not be read, see `error`
    SymbolTable symbols;
    std::string error;
};

/// A kernel that a client asked for by name.
struct LoadedKernel {
    const LoadedModule* module = nullptr;
    const KernelFacts* facts = nullptr;
};

/// Executes single pieces of work of one client and adds what they did to a report. Thread: simgpu's main thread.
class CallExecutor
{
public:
    CallExecutor(const DeviceProfile& profile, const std::atomic<bool>& cancel, ClientMemory& memory,
                 const std::vector<LoadedKernel>& kernels)
        : m_profile(profile), m_cancel(cancel), m_memory(memory), m_kernels(kernels)
    {
    }

    /// False when the call cannot go on: report.fault is set, or report.unsupported is not empty.
    bool execute(const Work& work, std::uint64_t maxThreadInstructions, CallReport& report);

private:
    bool launch(const Work& work, std::uint64_t maxThreadInstructions, CallReport& report);
    bool set(const Work& work, CallReport& report);
    bool copy(const Work& work, CallReport& report);
    const MemoryRange* checked(std::uint64_t address, std::uint64_t bytes, Access access, const char* verb,
                               CallReport& report) const;
    void addTransfer(std::uint64_t read, std::uint64_t written, CallReport& report) const;

    const DeviceProfile& m_profile;
    const std::atomic<bool>& m_cancel;
    ClientMemory& m_memory;
    const std::vector<LoadedKernel>& m_kernels;
};

} // namespace espalier::sim
