// SPDX-License-Identifier: Apache-2.0
#include "core/model/session.h"

#include "core/model/enum_names.h"

#include <fmt/format.h>

namespace espalier {

namespace {

constexpr std::array<EnumName<RunState>, 6> runStates = {{
    {RunState::Idle, "idle"},
    {RunState::Running, "running"},
    {RunState::Pausing, "pausing"},
    {RunState::Paused, "paused"},
    {RunState::Finished, "finished"},
    {RunState::Failed, "failed"},
}};

} // namespace

std::string EvaluationCounts::inWords() const
{
    return fmt::format("{} evaluations: {} passed, {} rejected, {} did not build, {} not run", evaluations, passed,
                       rejected, failed, notRun);
}

std::string_view nameOf(RunState state)
{
    return nameIn(runStates, state);
}

} // namespace espalier
