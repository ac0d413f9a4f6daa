// SPDX-License-Identifier: Apache-2.0
#include "core/model/evaluation.h"

#include "core/model/enum_names.h"

#include <array>

namespace espalier {

namespace {

constexpr std::array<EnumName<Outcome>, 7> outcomes = {{
    {Outcome::Passed, "passed"},
    {Outcome::Incorrect, "incorrect"},
    {Outcome::Suspicious, "suspicious"},
    {Outcome::BuildFailed, "build_failed"},
    {Outcome::RuntimeFailed, "runtime_failed"},
    {Outcome::TimedOut, "timed_out"},
    {Outcome::NotRun, "not_run"},
}};

constexpr std::array<EnumName<NotRunCause>, 5> causes = {{
    {NotRunCause::None, ""},
    {NotRunCause::Infrastructure, "infrastructure"},
    {NotRunCause::Unsupported, "unsupported"},
    {NotRunCause::NoSource, "no_source"},
    {NotRunCause::Cancelled, "cancelled"},
}};

constexpr std::array<EnumName<Stage>, 5> stages = {{
    {Stage::Generate, "generate"},
    {Stage::Build, "build"},
    {Stage::Verify, "verify"},
    {Stage::Time, "time"},
    {Stage::Profile, "profile"},
}};

constexpr std::array<EnumName<Provenance>, 2> provenances = {{
    {Provenance::Measured, "measured"},
    {Provenance::Model, "model"},
}};

} // namespace

std::string_view nameOf(Outcome outcome)
{
    return nameIn(outcomes, outcome);
}

std::string_view nameOf(NotRunCause cause)
{
    return nameIn(causes, cause);
}

std::string_view nameOf(Stage stage)
{
    return nameIn(stages, stage);
}

std::string_view nameOf(Provenance provenance)
{
    return nameIn(provenances, provenance);
}

std::optional<Outcome> outcomeNamed(std::string_view name)
{
    return namedIn(outcomes, name);
}

std::optional<NotRunCause> causeNamed(std::string_view name)
{
    return namedIn(causes, name);
}

std::optional<Stage> stageNamed(std::string_view name)
{
    return namedIn(stages, name);
}

std::optional<Provenance> provenanceNamed(std::string_view name)
{
    return namedIn(provenances, name);
}

Result<void> checkSetting(const TimingSetting& setting)
{
    constexpr double slowest = 1, fastest = 100000;
    if (setting.regime != "cold" && setting.regime != "steady") {
        return fail(ErrorCode::InvalidInput, "There is no regime \"" + setting.regime + "\": choose cold or steady.");
    }
    if (setting.mode != "offline" && setting.mode != "server") {
        return fail(ErrorCode::InvalidInput, "There is no mode \"" + setting.mode + "\": choose offline or server.");
    }
    if (setting.mode == "offline") {
        return setting.rate == 0 ? Result<void>()
                                 : fail(ErrorCode::InvalidInput, "A rate belongs to mode server: calls of mode offline "
                                                                 "follow each other at once.");
    }
    if (setting.regime == "cold") {
        return fail(ErrorCode::InvalidInput, "Mode server is measured in regime steady: displacing the cache would be "
                                             "part of every call's latency.");
    }
    if (!(setting.rate >= slowest && setting.rate <= fastest)) {
        return fail(ErrorCode::InvalidInput, "Mode server needs a rate: calls per second, between 1 and 100000.");
    }
    return {};
}

int exitCodeOf(Outcome outcome)
{
    switch (outcome) {
    case Outcome::Passed:
        return 0;
    case Outcome::Incorrect:
    case Outcome::Suspicious:
    case Outcome::RuntimeFailed:
    case Outcome::TimedOut:
        return 3;
    case Outcome::BuildFailed:
        return 4;
    case Outcome::NotRun:
        return 5;
    }
    return 5;
}

} // namespace espalier
