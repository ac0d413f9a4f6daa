// SPDX-License-Identifier: Apache-2.0
#include "core/search/record_merge.h"

#include "core/search/ended_record.h"

namespace espalier {
namespace {

/// The last attempt of a stage that counts.
const Evaluation* lastOf(const std::vector<StoredStage>& stages, Stage stage, const std::optional<std::string>& epoch)
{
    const Evaluation* last = nullptr;
    for (const StoredStage& stored : stages) {
        const bool measured = stage == Stage::Verify || stage == Stage::Time;
        if (stored.stage == stage && (!measured || !epoch || stored.record.epoch == *epoch)) {
            last = &stored.record;
        }
    }
    return last;
}

} // namespace

MergedRecords mergeRecords(const std::vector<StoredStage>& stages, const std::optional<std::string>& epoch)
{
    MergedRecords merged;
    const Evaluation* build = lastOf(stages, Stage::Build, epoch);
    const Evaluation* verify = lastOf(stages, Stage::Verify, epoch);
    const Evaluation* time = lastOf(stages, Stage::Time, epoch);
    for (const Evaluation* record : {lastOf(stages, Stage::Generate, epoch), build, verify, time}) {
        if (!record) {
            continue;
        }
        std::optional<BuildRecord> keptBuild = std::move(merged.evaluation.build);
        std::optional<VerifyRecord> keptVerify = std::move(merged.evaluation.verify);
        merged.evaluation = *record;
        if (!merged.evaluation.build) {
            merged.evaluation.build = std::move(keptBuild);
        }
        if (!merged.evaluation.verify) {
            merged.evaluation.verify = std::move(keptVerify);
        }
        merged.final = record->stage == Stage::Time || record->outcome != Outcome::Passed;
    }
    merged.built = build && build->outcome == Outcome::Passed;
    if (!merged.final && verify && verify->outcome == Outcome::Passed) {
        merged.verified = verify->verify;
    }
    return merged;
}

bool countsAsEvaluation(NotRunCause cause)
{
    return cause != NotRunCause::NoSource && cause != NotRunCause::Cancelled;
}

Verdict verdictOf(const Evaluation& evaluation, Provenance fallback)
{
    Verdict verdict{evaluation.outcome,
                    {fallback, evaluation.epoch},
                    std::nullopt,
                    std::nullopt,
                    evaluation.build ? std::optional(traitsOfBuild(*evaluation.build)) : std::nullopt,
                    deviceSecondsOf(evaluation)};
    verdict.counts = countsAsEvaluation(evaluation.cause);
    if (evaluation.timing) {
        verdict.fullTier = evaluation.timing->tier == "full";
        if (!evaluation.timing->cases.empty()) {
            verdict.frame.provenance = evaluation.timing->cases.front().provenance;
        }
        if (evaluation.timing->objectiveUs) {
            verdict.timeUs = evaluation.timing->objectiveUs->value;
        }
        if (evaluation.timing->speedupRoot) {
            verdict.speedupRoot = evaluation.timing->speedupRoot->value;
            verdict.speedupAtMost = evaluation.timing->speedupRoot->high;
        }
    }
    return verdict;
}

} // namespace espalier
