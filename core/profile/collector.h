// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/device/runner_device.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace espalier::profile {

/// The calls of an entry that a collector watches. Every call may be made again and again: it writes the same outputs
/// from the same inputs.
struct Workload {
    RunnerDevice* device = nullptr;
    std::size_t calls = 0;                ///< different ones (buffers of their own)
    std::function<int(std::size_t)> call; ///< enqueues call `i` on the device's stream; its cudaError_t
};

/// One way of looking at a candidate, of which a process has exactly one: mixing them ends in errors or worse.
/// prepare() runs before any foreign code is loaded, collect() once, after it. Thread: the process's only one.
/// Errors: one plain sentence with cause and remedy; WorkerLost where the device was lost.
class Collector
{
public:
    virtual ~Collector() = default;
    virtual Result<void> prepare() = 0;
    /// What was seen, as JSON: the form stands in core/profile/profile_report.h.
    virtual Result<Json> collect(const Workload& work) = 0;
};

struct CollectorOptions {
    std::string what;  ///< "ranges", "activity", "sampling", "sass"
    std::string cupti; ///< path of libcupti
    std::string sets;  ///< ranges: counter sets, comma-separated
    int ordinal = 0;
    bool cold = true; ///< the L2 cache holds nothing of the call's data when it starts
};

/// Opens CUPTI for the device whose context is current. Errors: no such collector, no CUPTI, what the probe found.
Result<std::unique_ptr<Collector>> openCollector(const CollectorOptions& options);

} // namespace espalier::profile
