// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/context.h"
#include "core/judge/verdict.h"
#include "core/worker/evaluator.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace espalier::judge {

/// The candidate's small verify cases under compute-sanitizer: memcheck, racecheck, initcheck and synccheck, each in a
/// process of its own, confined as a runner is. The inputs are drawn as the gate's are; nothing secret goes in and no
/// result is taken out. Thread: the judge's; blocks, but hears a cancel.
class Sanitizer
{
public:
    Sanitizer(const Context& context, std::string entry) : m_context(context), m_entry(std::move(entry)) {}

    std::function<void(const std::string&)> onProgress;
    /// Adds a finding per tool and what to tell about it. The verdict is the candidate's where a tool found errors.
    /// Where a tool could not run or its report is not whole, nothing is clean: said, and with Sanitizing::Required
    /// not_run.
    Judged<void> run(const std::string& library, const std::vector<CasePlan>& plans, Sanitizing wanted,
                     std::vector<SanitizerFinding>& findings, std::vector<Evidence>& evidence);

    /// compute-sanitizer's own program: $ESPALIER_SANITIZER, the CUDA toolkit's, or on the PATH; empty: none.
    static std::string find();

private:
    Result<void> write(const std::filesystem::path& folder, const std::string& library,
                       const std::vector<CasePlan>& plans) const;
    struct ToolRun;
    Judged<ToolRun> runTool(const std::string& program, const std::string& folder, const std::string& tool,
                            std::vector<Evidence>& evidence);
    Judged<void> missing(const std::string& why, Sanitizing wanted, std::vector<Evidence>& evidence) const;

    const Context& m_context;
    std::string m_entry;
};

} // namespace espalier::judge
