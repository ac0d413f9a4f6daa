// SPDX-License-Identifier: Apache-2.0
#include "core/search/record_merge.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

StoredStage stageOf(Stage stage, Outcome outcome, const std::string& epoch = "now")
{
    StoredStage stored;
    stored.node = NodeId{1};
    stored.stage = stored.record.stage = stage;
    stored.record.outcome = outcome;
    stored.record.epoch = epoch;
    if (stage == Stage::Build) {
        stored.record.build = BuildRecord{.key = "key"};
    }
    if (stage == Stage::Verify) {
        stored.record.verify = VerifyRecord{.calls = 3};
    }
    return stored;
}

TEST(RecordMerge, EveryMomentOfAPassIsToldApart)
{
    const auto build = stageOf(Stage::Build, Outcome::Passed), verify = stageOf(Stage::Verify, Outcome::Passed);
    EXPECT_FALSE(mergeRecords({}, "now").final);
    const auto built = mergeRecords({build}, "now");
    EXPECT_TRUE(built.built);
    EXPECT_FALSE(built.final);
    EXPECT_FALSE(built.verified);
    const auto verified = mergeRecords({build, verify}, "now");
    EXPECT_TRUE(verified.verified);
    EXPECT_FALSE(verified.final);
    const auto timed = mergeRecords({build, verify, stageOf(Stage::Time, Outcome::Passed)}, "now");
    EXPECT_TRUE(timed.final);
    EXPECT_FALSE(timed.verified);
    EXPECT_EQ(timed.evaluation.build->key, "key");
    EXPECT_EQ(timed.evaluation.verify->calls, 3);
    EXPECT_EQ(timed.evaluation.stage, Stage::Time);
}

TEST(RecordMerge, AFailureEndsThePass)
{
    EXPECT_TRUE(mergeRecords({stageOf(Stage::Build, Outcome::BuildFailed)}, "now").final);
    EXPECT_TRUE(mergeRecords({stageOf(Stage::Generate, Outcome::NotRun)}, "now").final);
    const auto rejected =
        mergeRecords({stageOf(Stage::Build, Outcome::Passed), stageOf(Stage::Verify, Outcome::Incorrect)}, "now");
    EXPECT_TRUE(rejected.final);
    EXPECT_EQ(rejected.evaluation.outcome, Outcome::Incorrect);
    EXPECT_TRUE(rejected.evaluation.build);
}

TEST(RecordMerge, RecordsOfAnotherEpochCountOnlyWhenAnyDoes)
{
    const std::vector<StoredStage> stages = {stageOf(Stage::Build, Outcome::Passed),
                                             stageOf(Stage::Verify, Outcome::Passed, "before"),
                                             stageOf(Stage::Time, Outcome::Passed, "before")};
    EXPECT_TRUE(mergeRecords(stages, std::nullopt).final);
    const auto now = mergeRecords(stages, "now");
    EXPECT_FALSE(now.final);
    EXPECT_TRUE(now.built);
    EXPECT_FALSE(now.verified);
}

} // namespace
} // namespace espalier
