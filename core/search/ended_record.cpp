// SPDX-License-Identifier: Apache-2.0
#include "core/search/ended_record.h"

#include "core/propose/source_text.h"

namespace espalier {

double deviceSecondsOf(const Evaluation& evaluation)
{
    if (evaluation.judgeSeconds > 0) {
        return evaluation.judgeSeconds;
    }
    return (evaluation.verify ? evaluation.verify->seconds : 0) + (evaluation.timing ? evaluation.timing->seconds : 0);
}

EndedRecord EndedRecord::of(const Evaluation& evaluation, const std::string& source)
{
    EndedRecord record;
    record.evaluation = evaluation;
    record.deviceSeconds = deviceSecondsOf(evaluation);
    if (evaluation.build) {
        record.build = traitsOfBuild(*evaluation.build);
    }
    if (!source.empty()) {
        record.traits = traitsOfSource(source);
        record.identity = evaluation.cause == NotRunCause::NoSource ? std::string() : sourceIdentity(source);
    }
    return record;
}

} // namespace espalier
