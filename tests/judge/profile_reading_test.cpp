// SPDX-License-Identifier: Apache-2.0
#include "core/judge/profile_reading.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace espalier::judge {
namespace {

Json countersSeen()
{
    return {{"chip", "GH100"},
            {"counters", {{"dram__bytes_read.sum", 100.0}, {"dram__bytes_write.sum", 50.0}, {"made__up.sum", 1.0}}},
            {"unknown", Json::array()},
            {"passes", 2},
            {"milliseconds", 190.5}};
}

TEST(ReadCounters, TakesTheTablesMetricsAndNothingElse)
{
    const auto seen = readCounters(countersSeen(), {profile::CounterSet::Core});
    ASSERT_TRUE(seen) << seen.error().message;
    ASSERT_EQ(seen->metrics.size(), 2U);
    EXPECT_EQ(seen->metrics[0].id, "dram_read_bytes");
    EXPECT_EQ(seen->metrics[0].value, 100);
    EXPECT_EQ(seen->metrics[0].provenance, Provenance::Measured);
    EXPECT_EQ(seen->passes, 2);
    EXPECT_TRUE(seen->note.empty());
}

TEST(ReadCounters, SaysWhatTheChipDoesNotHave)
{
    Json json = countersSeen();
    json["unknown"] = {"a", "b"};
    EXPECT_EQ(readCounters(json, {profile::CounterSet::Core})->note,
              "2 of the counters asked for do not exist on GH100");
}

TEST(ReadCounters, AHitRateOfFewLookupsIsLeftOut)
{
    const std::vector<profile::CounterSet> sets = {profile::CounterSet::Core, profile::CounterSet::Full};
    const auto hits = [&](double bytes) {
        Json json = countersSeen();
        json["counters"]["lts__t_sector_hit_rate.pct"] = 104.0;
        for (const profile::CounterRow& row : profile::counterTable()) {
            if (row.metric == "l2_bytes") {
                json["counters"][std::string(row.terms[0].counter)] = bytes / row.terms[0].factor;
            }
        }
        const auto seen = readCounters(json, sets);
        return seen && std::any_of(seen->metrics.begin(), seen->metrics.end(),
                                   [](const MetricValue& one) { return one.id == "l2_hit_percent"; });
    };
    EXPECT_FALSE(hits(1.1e6));
    EXPECT_TRUE(hits(3.2e7));
}

TEST(ReadCounters, WhatIsNoReportIsNotBelieved)
{
    EXPECT_FALSE(readCounters(Json::object(), {}));
    Json json = countersSeen();
    json["counters"]["dram__bytes_read.sum"] = -1;
    EXPECT_FALSE(readCounters(json, {}));
    json["counters"]["dram__bytes_read.sum"] = "much";
    EXPECT_FALSE(readCounters(json, {}));
}

/// As an H200 told it, shortened: two instructions of a copy kernel.
Json samplesSeen()
{
    return {{"calls", 128},
            {"cubins", 1},
            {"dropped", 0},
            {"foreign", 0},
            {"full", false},
            {"total", 1971627},
            {"instructions",
             {{{"chain", {{{"file", "probe_kernels.cu"}, {"line", 13}}}},
               {"function", "_Z10copyKernelPK6float4PS_m"},
               {"offset", 304},
               {"reasons", {{"smsp__pcsamp_warps_issue_stalled_branch_resolving", 1637}}},
               {"samples", 1637}},
              {{"function", "_Z10copyKernelPK6float4PS_m"},
               {"offset", 480},
               {"reasons",
                {{"smsp__pcsamp_warps_issue_stalled_lg_throttle", 37},
                 {"smsp__pcsamp_warps_issue_stalled_long_scoreboard", 1911760}}},
               {"samples", 1911797}}}}};
}

TEST(ReadSamples, OrdersByWeightAndShortensReasons)
{
    const auto seen = readSamples(samplesSeen());
    ASSERT_TRUE(seen) << seen.error().message;
    ASSERT_EQ(seen->instructions.size(), 2U);
    EXPECT_EQ(seen->instructions[0].offset, 480U);
    EXPECT_EQ(seen->instructions[0].reasons.at("long_scoreboard"), 1911760U);
    EXPECT_FALSE(seen->instructions[0].reasons.contains("lg_throttle")) << "37 of 1.9 million";
    EXPECT_TRUE(seen->instructions[0].chain.empty());
    EXPECT_EQ(seen->instructions[1].chain, (std::vector<SourceLine>{{"probe_kernels.cu", 13}}));
    EXPECT_EQ(seen->samples, 1911797U + 1637U);
}

/// What CUPTI answers, with success codes, where it was switched on after the candidate was loaded.
TEST(ReadSamples, SamplesOfNoKernelAreNotShown)
{
    Json json = samplesSeen();
    json["foreign"] = 1900000;
    const auto seen = readSamples(json);
    ASSERT_FALSE(seen);
    EXPECT_NE(seen.error().message.find("could not be attributed"), std::string::npos) << seen.error().message;
    json["instructions"] = Json::array();
    EXPECT_FALSE(readSamples(json));
}

TEST(ReadCounts, GoToTheInstructionsTheyAreOf)
{
    auto instructions = readSamples(samplesSeen())->instructions;
    const Json counted = {
        {"unknown", {"smsp__sass_made_up"}},
        {"instructions",
         {{{"function", "_Z10copyKernelPK6float4PS_m"}, {"offset", 480}, {"counts", {{"inst_executed", 524288}}}},
          {{"function", "_Z10copyKernelPK6float4PS_m"}, {"offset", 0}, {"counts", {{"inst_executed", 8448}}}}}}};
    const auto note = readCounts(counted, instructions);
    ASSERT_TRUE(note) << note.error().message;
    EXPECT_EQ(*note, "not counted on this chip: smsp__sass_made_up");
    ASSERT_EQ(instructions.size(), 3U);
    EXPECT_EQ(instructions[0].counts.at("inst_executed"), 524288U);
    EXPECT_EQ(instructions[2].offset, 0U);
    EXPECT_EQ(instructions[2].samples, 0U);
    EXPECT_FALSE(readCounts(Json::object(), instructions));
}

TEST(ReadSamples, DroppedOnesAreSaid)
{
    Json json = samplesSeen();
    json["dropped"] = 12;
    EXPECT_EQ(readSamples(json)->note, "12 samples were dropped by the hardware");
    json["instructions"][0]["line"] = "not asked for";
    json["instructions"][0]["samples"] = -3;
    EXPECT_FALSE(readSamples(json));
}

} // namespace
} // namespace espalier::judge
