// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/engine_parts.h"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace espalier {

/// Is a task fit to be searched? Its root must pass, every null candidate must be rejected.
struct AuditRequest {
    std::string task;            ///< name or folder
    std::string device = "auto"; ///< auto, sim, cuda:N
    int builders = 0;            ///< 0: as many as cores
};

struct AuditRow {
    enum class State {
        Good,         ///< the root passed, or a null candidate was rejected
        Bad,          ///< the root was rejected, or a null candidate passed
        NotExpressed, ///< the null candidate does not build for this task: it says nothing
        NotRun,       ///< no verdict
    };
    std::string id; ///< "root", "no_op", "copy_x", …
    std::string title;
    State state = State::NotRun;
    std::string finding; ///< what a bad row means, with the remedy; empty otherwise
    Evaluation evaluation;
};
std::string_view nameOf(AuditRow::State state); ///< "good", "bad", "not_expressed", "not_run"

struct AuditReport {
    std::string task;
    JudgeHello device;
    std::vector<AuditRow> rows; ///< the root first
    bool fit() const;           ///< no row is bad and the root passed
    bool complete() const;      ///< every row has a verdict, and some null candidate was judged
};

/// Builds and judges everything through the normal path, verify only. Blocks; `done` is called with each row as it is
/// known. A requested stop leaves the rest as not_run. Thread: any. Errors: the task cannot be loaded, root or oracle
/// do not build, no device, the judge is lost.
Result<AuditReport> auditTask(const AuditRequest& request, const std::function<void(const AuditRow&)>& done,
                              std::stop_token stop);
/// The same on other parts: tests.
Result<AuditReport> auditTask(const AuditRequest& request, const EngineParts& parts,
                              const std::function<void(const AuditRow&)>& done, std::stop_token stop);

} // namespace espalier
