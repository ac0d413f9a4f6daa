// SPDX-License-Identifier: Apache-2.0
#include "core/model/evaluation_json.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace espalier {
namespace {

Evaluation full()
{
    Evaluation e;
    e.outcome = Outcome::Incorrect;
    e.cause = NotRunCause::Unsupported;
    e.stage = Stage::Verify;
    e.reason = "row 17 of y is wrong, \"quoted\"\n第二行";
    e.evidence = {{"tolerance", "row 17"}, {"guard", "over the end"}};
    e.build = BuildRecord{.key = "k",
                          .libraryHash = "h",
                          .program = "p",
                          .architecture = "sm_90a",
                          .toolkit = "13.0.88",
                          .seconds = 1.2345678901234567,
                          .cached = true,
                          .deviceOnly = true,
                          .messages = {{"candidate.cu", 3, 9, true, "expected a \";\""}},
                          .kernels = {{"softmax", 32, 1024, 1, 2, 3, {{"tensor_tf32", 4}}}},
                          .log = "log"};
    e.verify = VerifyRecord{3,
                            {{"8x4096", "y", 0.1, 0.2, 0.3, 18446744073709551615ull}},
                            0.5,
                            {{"8x4096", 1, 2, 3}},
                            "bubblewrap",
                            RepeatRecord{"8x4096", 3, 32768, 5, 1.5}};
    CaseTiming timing;
    timing.caseId = "8x4096";
    timing.provenance = Provenance::Measured;
    timing.timeUs = {1.1, 1.0, 1.2};
    timing.speedupRoot = Interval{2, 1.9, 2.1};
    timing.speedupIncumbent = Interval{4, 3, 5};
    timing.speedupBaselines = {{"cublas", {0.9, 0.8, 1}}};
    timing.rivalTimeUs = {{"root", 2.2}, {"parent", 1.5}};
    timing.samplesUs = {1.0, 1.1, 0.1 + 0.2};
    timing.stoppedBy = "interval";
    timing.blocks = 4;
    timing.method = "graph";
    timing.runners = 3;
    timing.launchUs = 2.5;
    timing.endToEndUs = 9.5;
    timing.unseenOverSeen = 1.01;
    timing.latency = Latency{1, 2, 3, 400};
    timing.rivalLatency = {{"root", {4, 5, 6, 399}}};
    timing.droppedBecause = {{"throttled", 2}, {"clocks disagree", 1}};
    timing.conditions = {{1980, 2619, 412.5, 51, std::int64_t{1} << 40, 1, 2, 1.1, "throttled", "root"}, {}};
    e.timing = TimingRecord{
        {timing}, Interval{1, 1, 1}, std::nullopt, Interval{3, 2, 4}, Interval{5, 4, 6}, "cold", "full", 2.5, 10, 9, 8};
    e.timing->mode = "server";
    e.timing->rate = 250;
    e.timing->clocks = "events and the judge's";
    e.timing->monitor = "NVML 580.1";
    e.timing->guardBroken = "case a is slower";
    e.timing->again = true;
    e.timing->phaseSeconds = {{"blocks", 1.25}, {"gate", 0.5}};
    e.judgeSeconds = 0.75;
    e.sanitizer = {{"memcheck", "errors", 3, 1.5}};
    e.metrics = {{"dram_bytes", 1e12, Provenance::Model}, {"occupancy_percent", 2, Provenance::Measured, 100}};
    e.timing->activity = {{"8x4096", 5, 1, 2, 3, 6, 7, 1, 10.5, 9.5, 12.25, 11}};
    e.profile = ProfileRecord{"8x4096",
                              "full",
                              Provenance::Measured,
                              "CUPTI 13",
                              "GH100",
                              19,
                              1.5,
                              1e6,
                              2e6,
                              {{"dram", 4500, 4814}},
                              {{"ranges", true, 0.5, 0.25, "1 counter is missing"}},
                              {{"_Z1kPf", 9.5, {8, 1, 1}, {256, 1, 1}, 31, 1024, 2048, 16, 50, "registers"}},
                              100,
                              {{"_Z1kPf",
                                480,
                                60,
                                {{"long_scoreboard", 60}},
                                {{"candidate.cu", 12}, {"candidate.cu", 40}},
                                {{"inst_executed", 640}}}}};
    e.epoch = "abc";
    e.output = "printed";
    return e;
}

TEST(EvaluationJson, RoundTripIsLossless)
{
    const Evaluation before = full();
    const auto after = evaluationFromText(toJsonText(before), "t");
    ASSERT_TRUE(after.has_value()) << after.error().message;
    EXPECT_EQ(*after, before);
    EXPECT_EQ(*evaluationFromText(toJsonText(Evaluation{}), "t"), Evaluation{});
}

TEST(EvaluationJson, NumbersThatJsonLacks)
{
    Interval odd = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), std::nan("")};
    const auto back = fromJson<Interval>(*parseJson(toJson(odd).dump(), "t"), "t");
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->value, odd.value);
    EXPECT_EQ(back->low, odd.low);
    EXPECT_TRUE(std::isnan(back->high));
}

TEST(EvaluationJson, ForeignBytesNeverThrow)
{
    Evaluation e;
    e.output = "caf\xE9 \xFF\xC0\x80 \xED\xA0\x80";
    const auto after = evaluationFromText(toJsonText(e), "t");
    ASSERT_TRUE(after.has_value());
    EXPECT_EQ(after->output.substr(0, 3), "caf");
}

TEST(EvaluationJson, UnknownFieldsAreIgnoredAndMissingOnesDefault)
{
    const auto e =
        evaluationFromText(R"({"outcome": "passed", "newer": {"x": 1}, "verify": {"calls": 2, "z": []}})", "t");
    ASSERT_TRUE(e.has_value()) << e.error().message;
    EXPECT_EQ(e->outcome, Outcome::Passed);
    EXPECT_EQ(e->verify->calls, 2);
    EXPECT_FALSE(e->timing.has_value());
}

/// A record of a session from before timings told of setting, processes and conditions.
TEST(EvaluationJson, OlderTimingsAreColdOfflineAndOfOneProcess)
{
    const auto e = evaluationFromText(
        R"({"timing": {"cases": [{"case": "a", "time_us": {"value": 3, "low": 2, "high": 4}}], "regime": "cold"}})",
        "t");
    ASSERT_TRUE(e.has_value()) << e.error().message;
    EXPECT_EQ(e->timing->mode, "offline");
    EXPECT_FALSE(e->timing->again);
    const CaseTiming& timing = e->timing->cases.at(0);
    EXPECT_EQ(timing.method, "events");
    EXPECT_EQ(timing.runners, 1);
    EXPECT_FALSE(timing.latency);
    EXPECT_TRUE(timing.conditions.empty());
}

TEST(EvaluationJson, WrongShapesNameTheField)
{
    const auto message = [](std::string_view text) { return evaluationFromText(text, "answer").error().message; };
    EXPECT_EQ(message(R"({"outcome": "great"})"),
              "answer: outcome: expected a name that this version knows; found \"great\"");
    EXPECT_EQ(message(R"({"verify": {"calls": "two"}})"),
              "answer: verify.calls: expected a whole number; found \"two\"");
    EXPECT_EQ(message(R"({"timing": {"cases": [{"time_us": {"low": []}}]}})"),
              "answer: timing.cases[0].time_us.low: expected a number; found []");
    EXPECT_EQ(message(R"({"build": {"kernels": [{"registers": 4294967296}]}})"),
              "answer: build.kernels[0].registers: expected a whole number of 32 bits; found 4294967296");
    EXPECT_EQ(message("[]"), "answer: expected an object; found []");
}

TEST(EvaluationJson, SurvivesMutations)
{
    const std::string text = toJsonText(full());
    std::mt19937 random(11);
    int read = 0;
    for (int i = 0; i < 4000; ++i) {
        std::string changed = text;
        for (int n = 0; n < 3; ++n) {
            changed[random() % changed.size()] = static_cast<char>("0\"{}[],:-etn \xC3"[random() % 14]);
        }
        if (const auto e = evaluationFromText(changed, "t")) {
            ++read;
            ASSERT_TRUE(evaluationFromText(toJsonText(*e), "t").has_value());
        }
    }
    EXPECT_GT(read, 0);
}

TEST(EvaluationJson, ReportHasTheContractsShape)
{
    const Json report = evaluationReport(full());
    for (const char* field :
         {"outcome", "cause", "stage", "reason", "evidence", "provenance", "timing", "metrics", "build"}) {
        EXPECT_TRUE(report.contains(field)) << field;
    }
    EXPECT_EQ(report["provenance"], "measured");
    EXPECT_EQ(report["metrics"]["dram_bytes"]["provenance"], "model");
    EXPECT_EQ(report["metrics"]["occupancy_percent"]["peak"], 100);
    EXPECT_EQ(report["metrics"]["occupancy_percent"]["unit"], "%");
}

TEST(Evaluation, NamesAndExitCodes)
{
    for (const Outcome outcome : {Outcome::Passed, Outcome::Incorrect, Outcome::Suspicious, Outcome::BuildFailed,
                                  Outcome::RuntimeFailed, Outcome::TimedOut, Outcome::NotRun}) {
        EXPECT_EQ(outcomeNamed(nameOf(outcome)), outcome);
    }
    EXPECT_EQ(nameOf(Outcome::RuntimeFailed), "runtime_failed");
    EXPECT_EQ(causeNamed(""), NotRunCause::None);
    EXPECT_EQ(causeNamed("no_source"), NotRunCause::NoSource);
    EXPECT_FALSE(stageNamed("Build").has_value());
    EXPECT_EQ(exitCodeOf(Outcome::Passed), 0);
    EXPECT_EQ(exitCodeOf(Outcome::Suspicious), 3);
    EXPECT_EQ(exitCodeOf(Outcome::TimedOut), 3);
    EXPECT_EQ(exitCodeOf(Outcome::BuildFailed), 4);
    EXPECT_EQ(exitCodeOf(Outcome::NotRun), 5);
}

} // namespace
} // namespace espalier
