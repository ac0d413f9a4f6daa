// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/diagnosis.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace espalier {
namespace {

using Values = std::map<std::string, double>;

/// 100 us on a device whose DRAM reaches 4500 GB/s, L2 8000 and FP32 60 TFLOP/s.
Evaluation profiled(const Values& metrics)
{
    Evaluation evaluation;
    CaseTiming timing;
    timing.caseId = "a";
    timing.timeUs = {100, 100, 100};
    evaluation.timing.emplace().cases = {timing};
    ProfileRecord& profile = evaluation.profile.emplace();
    profile.caseId = "a";
    profile.provenance = Provenance::Measured;
    profile.taskBytes = 100e6;
    profile.roofs = {{"dram", 4500, 4800}, {"l2", 8000, 0}, {"f32", 60000, 67000}};
    for (const auto& [id, value] : metrics) {
        evaluation.metrics.push_back({id, value, Provenance::Measured});
    }
    return evaluation;
}

std::optional<Diagnosis> ruleOn(const std::string& rule, const Evaluation& evaluation)
{
    const auto all = diagnose(evaluation);
    const auto found = std::find_if(all.begin(), all.end(), [&](const Diagnosis& one) { return one.rule == rule; });
    return found == all.end() ? std::nullopt : std::optional(*found);
}

/// One row: metrics at which the rule speaks, what it says and promises, and metrics at which it must not.
struct RuleCase {
    const char* rule;
    Values speaks;
    const char* says;
    double gain;
    Values silent;
};

const std::vector<RuleCase>& ruleCases()
{
    static const std::vector<RuleCase> table = {
        {"dram_at_roof",
         {{"dram_read_bytes", 405e6}},
         "DRAM runs at 90 % of its roof",
         10,
         {{"dram_read_bytes", 300e6}}},
        {"excess_traffic",
         {{"dram_read_bytes", 150e6}, {"dram_write_bytes", 50e6}},
         "2.00 times the 100 MB",
         22.22,
         {{"dram_read_bytes", 60e6}, {"dram_write_bytes", 50e6}}},
        {"l2_at_roof", {{"l2_bytes", 720e6}}, "L2 cache runs at 90 %", 10, {{"l2_bytes", 600e6}}},
        {"compute_at_roof", {{"flops_f32", 5.4e9}}, "f32 arithmetic runs at 90 %", 10, {{"flops_f32", 4e9}}},
        {"uncoalesced_loads",
         {{"load_efficiency_percent", 25}, {"sectors_per_load", 16}, {"dram_read_bytes", 225e6}},
         "touch 16 sectors a request where 4 would do (25 %",
         37.5,
         {{"load_efficiency_percent", 100}, {"sectors_per_load", 16}, {"dram_read_bytes", 225e6}}},
        {"uncoalesced_stores",
         {{"store_efficiency_percent", 50}, {"sectors_per_store", 8}, {"dram_read_bytes", 225e6}},
         "stores touch 8 sectors a request where 4 would do",
         25,
         {{"store_efficiency_percent", 80}, {"sectors_per_store", 5}, {"dram_read_bytes", 225e6}}},
        {"long_scoreboard",
         {{"stall_long_scoreboard", 78}, {"stall_wait", 22}, {"dram_read_bytes", 139.5e6}},
         "78 % of stalled warps wait for global or local memory (long scoreboard), with DRAM at 31 % of its roof",
         69,
         {{"stall_long_scoreboard", 78}, {"stall_wait", 22}, {"dram_read_bytes", 400e6}}},
        {"short_scoreboard",
         {{"stall_short_scoreboard", 30}, {"stall_wait", 70}, {"dram_read_bytes", 45e6}},
         "30 % of stalled warps",
         30,
         {{"stall_short_scoreboard", 10}, {"stall_wait", 90}, {"dram_read_bytes", 45e6}}},
        {"barrier",
         {{"stall_barrier", 20}, {"stall_wait", 80}, {"dram_read_bytes", 45e6}},
         "at barriers",
         20,
         {{"stall_barrier", 10}, {"stall_wait", 90}, {"dram_read_bytes", 45e6}}},
        {"lg_throttle",
         {{"stall_lg_throttle", 20}, {"stall_wait", 80}, {"dram_read_bytes", 45e6}},
         "LG throttle",
         20,
         {{"stall_lg_throttle", 10}, {"stall_wait", 90}, {"dram_read_bytes", 45e6}}},
        {"mio_throttle",
         {{"stall_mio_throttle", 20}, {"stall_wait", 80}, {"dram_read_bytes", 45e6}},
         "MIO throttle",
         20,
         {{"stall_mio_throttle", 10}, {"stall_wait", 90}, {"dram_read_bytes", 45e6}}},
        {"math_pipe",
         {{"stall_math_pipe_throttle", 40}, {"stall_wait", 60}, {"dram_read_bytes", 45e6}},
         "busy arithmetic unit",
         40,
         {{"stall_math_pipe_throttle", 20}, {"stall_wait", 80}, {"dram_read_bytes", 45e6}}},
        {"fixed_latency",
         {{"stall_wait", 60}, {"stall_barrier", 40}, {"dram_read_bytes", 45e6}},
         "fixed latency",
         60,
         {{"stall_wait", 30}, {"stall_barrier", 70}, {"dram_read_bytes", 45e6}}},
        {"instruction_cache",
         {{"stall_no_instruction", 20}, {"stall_wait", 80}, {"dram_read_bytes", 45e6}},
         "for instructions",
         20,
         {{"stall_no_instruction", 10}, {"stall_wait", 90}, {"dram_read_bytes", 45e6}}},
        {"matrix_wait",
         {{"stall_gmma", 50}, {"stall_wait", 50}, {"dram_read_bytes", 45e6}},
         "matrix product",
         50,
         {{"stall_gmma", 30}, {"stall_wait", 70}, {"dram_read_bytes", 45e6}}},
        {"bank_conflicts",
         {{"shared_conflicts", 9e6}, {"shared_wavefronts", 10e6}, {"stall_short_scoreboard", 50}, {"stall_wait", 50}},
         "90 % of the passes over shared memory are bank conflicts",
         45,
         {{"shared_conflicts", 1e6}, {"shared_wavefronts", 10e6}}},
        {"spills",
         {{"local_bytes", 100e6}, {"l2_bytes", 100e6}},
         "100 MB go through local memory",
         50,
         {{"local_bytes", 1e6}, {"l2_bytes", 100e6}}},
        {"occupancy_lost",
         {{"occupancy_percent", 30}, {"occupancy_limit_percent", 100}, {"dram_read_bytes", 45e6}},
         "30 % of the warps were resident where 100 %",
         70,
         {{"occupancy_percent", 90}, {"occupancy_limit_percent", 100}, {"dram_read_bytes", 45e6}}},
        {"idle_multiprocessors",
         {{"sm_active_percent", 40}, {"device_time_us", 100}, {"dram_read_bytes", 45e6}},
         "40 % of the cycles",
         60,
         {{"sm_active_percent", 40}, {"device_time_us", 5}, {"dram_read_bytes", 45e6}}},
        {"divergence",
         {{"threads_per_instruction", 8}, {"issue_percent", 80}},
         "8.0 of 32 threads",
         60,
         {{"threads_per_instruction", 31}, {"issue_percent", 80}}},
        {"gaps",
         {{"launches", 3}, {"device_time_us", 100}, {"kernel_time_us", 60}},
         "3 kernels take 60 us of 100 us",
         40,
         {{"launches", 1}, {"device_time_us", 100}, {"kernel_time_us", 60}}},
    };
    return table;
}

TEST(Diagnose, EachRuleSpeaksFromItsThresholdOn)
{
    for (const RuleCase& one : ruleCases()) {
        const auto found = ruleOn(one.rule, profiled(one.speaks));
        ASSERT_TRUE(found) << one.rule;
        EXPECT_NE(found->sentence.find(one.says), std::string::npos) << one.rule << ": " << found->sentence;
        EXPECT_NEAR(found->gainPercent, one.gain, 0.5) << one.rule;
        EXPECT_FALSE(found->advice.empty());
        const auto silent = ruleOn(one.rule, profiled(one.silent));
        EXPECT_FALSE(silent) << one.rule << ": " << silent->sentence;
        EXPECT_FALSE(ruleOn(one.rule, profiled({}))) << one.rule << " needs its metrics";
    }
}

TEST(Diagnose, OccupancyIsToldWithWhatLimitsIt)
{
    Evaluation evaluation = profiled({{"issue_percent", 30}, {"dram_read_bytes", 45e6}});
    evaluation.profile->kernels = {{"k", 90, {1}, {256}, 128, 0, 0, 0, 25, "registers"}};
    const auto found = ruleOn("occupancy_limited", evaluation);
    ASSERT_TRUE(found);
    EXPECT_NE(found->sentence.find("registers keep a multiprocessor at 25 % of its warps (128 registers"),
              std::string::npos)
        << found->sentence;
    EXPECT_NEAR(found->gainPercent, 75, 0.01);
    evaluation.profile->kernels[0].occupancyLimit = 100;
    EXPECT_FALSE(ruleOn("occupancy_limited", evaluation));
}

TEST(Diagnose, EveryRuleHasATestAndSaysItsFormula)
{
    std::set<std::string> tested = {"occupancy_limited"};
    for (const RuleCase& one : ruleCases()) {
        tested.insert(one.rule);
    }
    for (const DiagnosisRule& rule : diagnosisRules()) {
        EXPECT_TRUE(tested.contains(std::string(rule.id))) << rule.id;
        EXPECT_FALSE(rule.formula.empty() || rule.threshold.empty() || rule.gain.empty()) << rule.id;
    }
    EXPECT_EQ(tested.size(), diagnosisRules().size());
}

TEST(Diagnose, LinesComeFromTheSamplesOfItsReasons)
{
    Evaluation evaluation = profiled({{"stall_long_scoreboard", 80}, {"stall_wait", 20}, {"dram_read_bytes", 139.5e6}});
    evaluation.profile->samples = 100;
    evaluation.profile->instructions = {
        {"k", 16, 60, {{"long_scoreboard", 60}}, {{"candidate.cu", 12}}},
        {"k",
         32,
         20,
         {{"long_scoreboard", 20}},
         {{"cuda_fp16.hpp", 700}, {"candidate.cu", 14}}}, // inlined from a header
        {"k", 48, 20, {{"wait", 20}}, {{"candidate.cu", 30}}},
    };
    const auto found = ruleOn("long_scoreboard", evaluation);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->lines.size(), 2U);
    EXPECT_EQ(found->lines[0], (DiagnosisLine{"candidate.cu", 12, 0.75}));
    EXPECT_EQ(found->lines[1], (DiagnosisLine{"candidate.cu", 14, 0.25}));
    const auto lines = diagnosisLines(evaluation);
    ASSERT_GE(lines.size(), 2U);
    EXPECT_NE(lines[0].find("latency-bound: DRAM is closest to its measured roof, at 31 %"), std::string::npos)
        << lines[0];
    EXPECT_NE(
        lines[1].find(
            "(candidate.cu:12 75 %, candidate.cu:14 25 %); at most 69 % of the time to gain: more loads in flight"),
        std::string::npos)
        << lines[1];
}

TEST(Diagnose, ACaseTooSmallToTellPromisesNoGain)
{
    Evaluation evaluation = profiled({{"stall_long_scoreboard", 80}, {"stall_wait", 20}, {"dram_read_bytes", 45e3}});
    evaluation.timing->cases[0].timeUs = {5, 5, 5};
    const auto lines = diagnosisLines(evaluation);
    ASSERT_GE(lines.size(), 2U);
    EXPECT_TRUE(lines[0].starts_with("the case is too small to tell")) << lines[0];
    for (const std::string& line : lines) {
        EXPECT_EQ(line.find("to gain"), std::string::npos) << line;
    }
}

TEST(Diagnose, ModelledFiguresHaveTheirSign)
{
    Evaluation evaluation = profiled({{"dram_read_bytes", 150e6}, {"dram_write_bytes", 50e6}});
    evaluation.profile->provenance = Provenance::Model;
    const auto lines = diagnosisLines(evaluation);
    ASSERT_GE(lines.size(), 2U);
    EXPECT_NE(lines[0].find("at ≈44 %; ≈56 % of the time to gain"), std::string::npos) << lines[0];
    EXPECT_NE(lines[1].find("≈200 MB went through DRAM, ≈2.00 times the ≈100 MB"), std::string::npos) << lines[1];
    EXPECT_NE(lines[1].find("at most ≈22 % of the time to gain"), std::string::npos) << lines[1];
}

TEST(Diagnose, WhatGainsMostComesFirstAndNothingWithoutAProfile)
{
    const auto all =
        diagnose(profiled({{"stall_barrier", 30}, {"stall_long_scoreboard", 70}, {"dram_read_bytes", 45e6}}));
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].rule, "long_scoreboard");
    EXPECT_TRUE(diagnose(Evaluation{}).empty());
    EXPECT_TRUE(diagnosisLines(Evaluation{}).empty());
}

} // namespace
} // namespace espalier
