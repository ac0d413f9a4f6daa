// SPDX-License-Identifier: Apache-2.0
#include "core/search/judged_again.h"

#include <algorithm>

namespace espalier {
namespace {

void join(std::vector<Evidence>& evidence, const std::vector<Evidence>& more)
{
    for (const Evidence& one : more) {
        if (std::find(evidence.begin(), evidence.end(), one) == evidence.end()) {
            evidence.push_back(one);
        }
    }
}

bool takesFullTime(Again what)
{
    return what == Again::Front || what == Again::Winner || what == Again::Time;
}

} // namespace

void askAgain(EvaluationJob& job, Again what, Profiling configured)
{
    job.tier = takesFullTime(what) ? Tier::Full : Tier::Quick;
    job.verifyOnly = what == Again::Verify;
    job.sanitizing = what == Again::Winner || what == Again::Verify ? Sanitizing::WhereInstalled : Sanitizing::Off;
    switch (what) {
    case Again::Front:
        job.profiling = configured;
        break;
    case Again::Winner:
        job.profiling = std::max(configured, Profiling::Core);
        break;
    case Again::Profile:
        job.profiling = Profiling::Full;
        break;
    case Again::Verify:
    case Again::Time:
        job.profiling = Profiling::Off;
        break;
    }
}

Evaluation recordAgain(Again what, const Evaluation& before, Evaluation now)
{
    now.build = before.build;
    now.stage = Stage::Time; // the stage whose last record decides
    if (now.outcome != Outcome::Passed) {
        return now;
    }
    if (takesFullTime(what)) {
        if (now.timing) {
            now.timing->again = what != Again::Front; // that is the first figure still, taken with more care
        }
        if (!now.profile) {
            now.profile = before.profile;
            now.metrics = before.metrics;
        }
        return now;
    }
    Evaluation kept = before;
    kept.stage = Stage::Time;
    kept.outcome = Outcome::Passed;
    kept.cause = NotRunCause::None;
    join(kept.evidence, now.evidence);
    if (before.outcome != Outcome::Passed) { // it was rejected before, and those complaints do not stand any more
        kept.reason = now.reason;
        kept.evidence = now.evidence;
    }
    kept.verify = now.verify;
    kept.judgeSeconds = now.judgeSeconds;
    if (what == Again::Verify) {
        kept.sanitizer = std::move(now.sanitizer);
        return kept;
    }
    kept.profile = std::move(now.profile);
    kept.metrics = std::move(now.metrics);
    if (kept.timing && now.timing) {
        kept.timing->activity = std::move(now.timing->activity);
    } else {
        kept.timing = std::move(now.timing);
    }
    return kept;
}

} // namespace espalier
