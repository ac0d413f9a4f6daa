// SPDX-License-Identifier: Apache-2.0
// What an H200 recorded, read as a later version would: profiles, rooflines and diagnoses of a whole session.
#include "core/analysis/diagnosis.h"
#include "core/base/file.h"
#include "core/store/store.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace espalier {
namespace {

class RecordedSession : public ::testing::Test
{
protected:
    void SetUp() override
    {
        const auto copy = m_folder.path() / "recorded.espalier"; // opening may migrate it
        std::filesystem::copy_file(SESSION_FIXTURE, copy);
        auto store = Store::open(copy, Store::Mode::ReadWrite);
        ASSERT_TRUE(store) << store.error().message;
        const auto nodes = (*store)->nodes();
        ASSERT_TRUE(nodes) << nodes.error().message;
        for (const StoredNode& node : *nodes) {
            const auto stages = (*store)->stages(node.id);
            ASSERT_TRUE(stages) << stages.error().message;
            for (const StoredStage& stage : *stages) {
                if (stage.stage == Stage::Time && stage.record.profile) {
                    m_profiled.push_back(stage.record);
                }
            }
        }
    }

    static double metric(const Evaluation& evaluation, const std::string& id)
    {
        for (const MetricValue& one : evaluation.metrics) {
            if (one.id == id) {
                return one.value;
            }
        }
        ADD_FAILURE() << "no metric " << id;
        return 0;
    }

    ScratchFolder m_folder = *ScratchFolder::create("recorded-session");
    std::vector<Evaluation> m_profiled;
};

TEST_F(RecordedSession, EveryCandidateHasAWholeProfile)
{
    ASSERT_GE(m_profiled.size(), 5U);
    for (const Evaluation& evaluation : m_profiled) {
        const ProfileRecord& profile = *evaluation.profile;
        EXPECT_EQ(profile.provenance, Provenance::Measured);
        EXPECT_EQ(profile.chip, "GH100");
        for (const CollectorRun& run : profile.collectors) {
            EXPECT_TRUE(run.done) << run.collector << ": " << run.note;
        }
        EXPECT_FALSE(profile.kernels.empty());
        EXPECT_GT(profile.samples, 10'000U);
        ASSERT_FALSE(samplesByLine(profile).empty());
        EXPECT_TRUE(samplesByLine(profile).front().file.ends_with(".cu"));
        ASSERT_EQ(evaluation.timing->activity.size(), 1U);
        const ActivityFacts& activity = evaluation.timing->activity[0];
        EXPECT_NEAR(activity.spanUs, activity.timedUs, 0.05 * activity.timedUs) << "the third clock";
        EXPECT_LE(activity.spanUs, activity.eventUs);
    }
}

/// A softmax of 4096 x 65536 reads its input once or more and writes its output once.
TEST_F(RecordedSession, BytesAgreeWithTheHandCount)
{
    const double one = 4096.0 * 65536 * 4;
    double fewest = 1e9, most = 0;
    for (const Evaluation& evaluation : m_profiled) {
        const double passes = metric(evaluation, "dram_read_bytes") / one;
        fewest = std::min(fewest, passes);
        most = std::max(most, passes);
        EXPECT_NEAR(metric(evaluation, "dram_write_bytes"), one, 0.03 * one);
    }
    EXPECT_NEAR(fewest, 1, 0.03) << "the row stays on chip";
    EXPECT_NEAR(most, 3, 0.03) << "maximum, sum and quotient";
}

TEST_F(RecordedSession, TheFastestIsClosestToTheRoof)
{
    ASSERT_FALSE(m_profiled.empty());
    std::sort(m_profiled.begin(), m_profiled.end(), [](const Evaluation& a, const Evaluation& b) {
        return a.timing->cases[0].timeUs.value < b.timing->cases[0].timeUs.value;
    });
    const auto fastest = rooflineOf(m_profiled.front()), slowest = rooflineOf(m_profiled.back());
    ASSERT_TRUE(fastest && slowest);
    EXPECT_EQ(fastest->limiter, "dram") << fastest->sentence;
    EXPECT_EQ(fastest->bound, Bound::Memory) << fastest->sentence;
    EXPECT_TRUE(fastest->checks.empty()) << fmt::format("{}", fmt::join(fastest->checks, "\n"));
    const auto ideas = diagnose(m_profiled.back());
    EXPECT_TRUE(std::any_of(ideas.begin(), ideas.end(), [](const Diagnosis& one) {
        return one.rule == "excess_traffic";
    })) << "the slowest reads its input three times";
}

} // namespace
} // namespace espalier
