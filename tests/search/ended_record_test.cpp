// SPDX-License-Identifier: Apache-2.0
#include "core/search/bans.h"
#include "core/search/ended_record.h"
#include "core/search/node_payload.h"

#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace espalier {
namespace {

Evaluation timedEvaluation()
{
    Evaluation evaluation;
    evaluation.outcome = Outcome::Passed;
    evaluation.stage = Stage::Time;
    evaluation.epoch = "driver 580|CUDA 13.0";
    evaluation.build = BuildRecord{};
    evaluation.build->program = "abc";
    evaluation.build->kernels = {{"row<float|4>", 168, 49152, 8, 16, 24, {{"tensor_tf32", 12}, {"half", 3}}},
                                 {"tail", 32}};
    TimingRecord timing;
    timing.cases.push_back({});
    timing.cases.front().provenance = Provenance::Measured;
    timing.tier = "full";
    timing.again = true;
    timing.objectiveUs = Interval{1.0 / 3, 0.1, std::numeric_limits<double>::infinity()};
    timing.speedupRoot = Interval{2.0000000000000004, 1e-300, 7e300};
    timing.speedupIncumbent = Interval{1.5, 1.25, 1.75};
    timing.guardBroken = "100% of |y|\nand more";
    evaluation.timing = timing;
    return evaluation;
}

EndedRecord timedRecord()
{
    EndedRecord record = EndedRecord::of(timedEvaluation(), "__global__ void k() {}");
    record.deviceSeconds = 0.7;
    return record;
}

TEST(EndedRecord, SurvivesTheWayThroughText)
{
    const EndedRecord record = timedRecord();
    const auto back = NodePayload::parse(NodePayload::withEnded("{\"why\":\"because\"}", record)).ended;
    ASSERT_TRUE(back);
    EXPECT_EQ(back->evaluation.outcome, Outcome::Passed);
    EXPECT_EQ(back->evaluation.stage, Stage::Time);
    EXPECT_EQ(back->evaluation.epoch, record.evaluation.epoch);
    EXPECT_EQ(back->identity, record.identity);
    EXPECT_FALSE(back->identity.empty());
    EXPECT_EQ(back->deviceSeconds, 0.7);
    EXPECT_EQ(back->traits, record.traits);
    EXPECT_EQ(back->build, record.build);
    ASSERT_TRUE(back->evaluation.build);
    EXPECT_EQ(back->evaluation.build->program, "abc");
    EXPECT_EQ(back->evaluation.build->kernels, heldBy(*record.evaluation.build));
    ASSERT_TRUE(back->evaluation.timing);
    const TimingRecord& timing = *back->evaluation.timing;
    EXPECT_EQ(timing.cases.front().provenance, Provenance::Measured);
    EXPECT_EQ(timing.objectiveUs, record.evaluation.timing->objectiveUs);
    EXPECT_EQ(timing.speedupRoot, record.evaluation.timing->speedupRoot);
    EXPECT_FALSE(timing.speedupParent);
    EXPECT_EQ(timing.speedupIncumbent, record.evaluation.timing->speedupIncumbent);
    EXPECT_EQ(timing.tier, "full");
    EXPECT_TRUE(timing.again);
    EXPECT_EQ(timing.guardBroken, "100% of |y|\nand more");
}

TEST(EndedRecord, KeepsWhyOneFailedAndThatABanEndedIt)
{
    Evaluation evaluation;
    evaluation.outcome = Outcome::Suspicious;
    evaluation.stage = Stage::Build;
    evaluation.reason = "ban | no fp16";
    evaluation.evidence.push_back({std::string(banCheck), evaluation.reason});
    const auto back = EndedRecord::parse(EndedRecord::of(evaluation, "").text());
    ASSERT_TRUE(back);
    EXPECT_TRUE(endedByBan(back->evaluation));
    EXPECT_EQ(back->evaluation.reason, evaluation.reason);
    EXPECT_FALSE(back->evaluation.build);
    EXPECT_FALSE(back->evaluation.timing);
}

TEST(EndedRecord, ReadsNoPartOfOneAndNoneOfAnotherVersion)
{
    const std::string whole = timedRecord().text();
    ASSERT_TRUE(EndedRecord::parse(whole));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_FALSE(EndedRecord::parse(whole.substr(0, length))) << length;
    }
    EXPECT_FALSE(EndedRecord::parse(whole + "|"));
    EXPECT_FALSE(EndedRecord::parse("2" + whole.substr(1)));
    EXPECT_FALSE(NodePayload::parse("{\"ended\":{\"o\":\"passed\",\"s\":\"time\"}}").ended); // before there was a text
}

/// Broken bytes are refused, or are a record; what was read once is written and read the same from then on.
TEST(EndedRecord, BrokenBytesAreRefusedOrReadAsOneRecord)
{
    const std::string whole = timedRecord().text();
    std::mt19937 draw(7);
    const std::string_view alphabet = "|%0129-.e7C5nif\n\xff";
    int accepted = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text = whole;
        for (unsigned change = 0; change <= draw() % 3; ++change) {
            const std::size_t at = draw() % text.size();
            const char one = alphabet[draw() % alphabet.size()];
            switch (draw() % 3) {
            case 0:
                text[at] = one;
                break;
            case 1:
                text.insert(at, 1, one);
                break;
            default:
                text.erase(at, 1);
            }
        }
        if (const auto record = EndedRecord::parse(text)) {
            ++accepted;
            const auto again = EndedRecord::parse(record->text());
            ASSERT_TRUE(again) << text;
            EXPECT_EQ(again->text(), record->text()) << text;
        }
    }
    EXPECT_GT(accepted, 100);
}

} // namespace
} // namespace espalier
