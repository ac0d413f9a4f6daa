// SPDX-License-Identifier: Apache-2.0
#include "core/profile/cupti_error.h"

#include <fmt/format.h>

namespace espalier::profile {

namespace {

struct ObstacleRow {
    int code;
    ErrorCode kind;
    const char* cause;
    const char* remedy;
};

// Codes as cupti_result.h numbers them; what each of them comes from was tried on an H200 or is NVIDIA's documentation.
constexpr ObstacleRow obstacleRows[] = {
    {8, ErrorCode::OutOfMemory, "there is not enough memory for the profiler's buffers",
     "free memory and profile again"},
    {14, ErrorCode::Internal, "two kinds of profiling were mixed in one process", ""},
    {15, ErrorCode::NotSupported, "the driver is older than this CUPTI", "use the toolkit that matches the driver"},
    {26, ErrorCode::Busy, "another profiler holds the counters (ncu, nsys, DCGM profiling)",
     "end it, or wait; timing goes on without counters"},
    {33, ErrorCode::NotSupported, "profiling is not offered on this virtual GPU",
     "ask who runs the hypervisor to allow it"},
    {35, ErrorCode::NotSupported,
     "the NVIDIA driver blocks hardware counters for non-administrators; timing, occupancy and traces still work",
     "ask an administrator to set NVreg_RestrictProfilingToAdminUsers=0 and to reload the driver"},
    {39, ErrorCode::Busy, "Espalier runs under another CUDA profiler", "start it without"},
    {40, ErrorCode::NotSupported, "profiling is not allowed by the hypervisor", "ask who runs it to allow it"},
    {41, ErrorCode::NotSupported, "profiling is not possible with confidential computing", ""},
    {42, ErrorCode::NotSupported, "profiling is not possible on a mining processor", ""},
    {43, ErrorCode::NotSupported, "full profiling needs an isolated MIG compute instance",
     "use a GPU instance with one compute instance, or a GPU without MIG"},
    {44, ErrorCode::NotSupported, "profiling is not possible with SLI", "turn SLI off"},
    {45, ErrorCode::NotSupported, "profiling is not possible on this WSL system",
     "it needs WSL 2, Windows 11, driver 525 and counters allowed in the driver's panel"},
    {46, ErrorCode::NotSupported, "this CUPTI does not know the GPU",
     "install the toolkit that came out with it or later"},
    {999, ErrorCode::Internal, "the kernel faulted while it was being profiled", ""},
};

const ObstacleRow* find(int code)
{
    for (const ObstacleRow& row : obstacleRows) {
        if (row.code == code) {
            return &row;
        }
    }
    return nullptr;
}

} // namespace

CuptiObstacle obstacleOf(int code)
{
    const ObstacleRow* row = find(code);
    return row ? CuptiObstacle{row->cause, row->remedy} : CuptiObstacle{fmt::format("CUPTI answered {}", code), ""};
}

Error cuptiError(const std::string& words, int code, std::string_view what)
{
    const ObstacleRow* row = find(code);
    if (!row) {
        return {ErrorCode::Internal, fmt::format("{} failed: {}", what, words)};
    }
    const CuptiObstacle obstacle = obstacleOf(code);
    return {row->kind, fmt::format("{} failed: {}{}{} ({})", what, obstacle.cause, obstacle.remedy.empty() ? "" : "; ",
                                   obstacle.remedy, words)};
}

} // namespace espalier::profile
