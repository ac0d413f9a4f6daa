// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/model/evaluation.h"
#include "core/model/task.h"
#include "core/propose/tunables.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace espalier::bench {

/// What became of one kernel at one point of its tunables on a device.
struct LandscapePoint {
    TunableValues values; ///< empty for a kernel without tunables
    Outcome outcome = Outcome::NotRun;
    double us = 0;      ///< median of the objective; 0 unless it passed
    double speedup = 0; ///< of it over the root, paired by block
    BuildRecord build;  ///< registers and instruction classes of its kernels
};

/// Every playbook kernel of a task (and its root, as "root") at every point of its grid, as measured.
/// Format, JSON: {"schema": 1, "task", "task_hash", "case", "device", "driver", "toolkit", "kernels": [{"key",
/// "identity", "points": [{"values": {NAME: n}, "outcome", "us", "speedup", "registers", "tensor"}]}]}; "identity" is
/// the hash of the kernel's text without comments (core/propose/source_text.h), by which a stale table is noticed.
struct Landscape {
    std::string taskId, taskHash, caseId, device, driver, toolkit;
    struct Kernel {
        std::string identity;
        std::vector<LandscapePoint> points;
    };
    std::map<std::string, Kernel> kernels; ///< by playbook id

    const LandscapePoint* find(const std::string& key, const TunableValues& values) const;
    double bestSpeedup() const; ///< at least 1
    std::size_t points() const;

    Json toJson() const;
    static Result<Landscape> fromJson(const Json& json, const std::string& file);
};

/// A kernel of a task's with a grid.
struct LandscapeKernel {
    std::string key, source;
    std::vector<TunableValues> points; ///< the kernel's own first; at most `most`, a fixed draw of larger grids
};
std::vector<LandscapeKernel> kernelsOf(const Task& task, std::size_t most);

} // namespace espalier::bench
