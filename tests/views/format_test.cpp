// SPDX-License-Identifier: GPL-3.0-only
#include "views/format.h"
#include "views/sentence.h"
#include "views/stages_model.h"

#include <gtest/gtest.h>

using namespace espalier;

namespace {

std::string utf8(const QString& text)
{
    return text.toStdString();
}

NodeSummary passed(double speedup, double low, double high)
{
    NodeSummary node;
    node.kind = NodeKind::Candidate;
    node.state = NodeState::Done;
    node.outcome = Outcome::Passed;
    node.provenance = Provenance::Measured;
    node.speedupParent = Interval{speedup, low, high};
    return node;
}

} // namespace

TEST(Format, FiguresHaveThreeDigitsAndModelledOnesTheirMark)
{
    EXPECT_EQ(utf8(format::speedup(1.8234, Provenance::Measured)), "1.82×");
    EXPECT_EQ(utf8(format::speedup(12.34, Provenance::Model)), "≈ 12.3×");
    EXPECT_EQ(utf8(format::time(812.4, Provenance::Measured)), "812\u00a0µs");
    EXPECT_EQ(utf8(format::time(3401, Provenance::Model)), "≈ 3.40\u00a0ms");
    EXPECT_EQ(utf8(format::bounds({1.82, 1.801, 1.839})), "[1.80, 1.84]");
    EXPECT_EQ(utf8(format::clock(131)), "02:11");
    EXPECT_EQ(utf8(format::clock(3731)), "1:02:11");
    EXPECT_EQ(utf8(format::number(0)), "0");
}

TEST(Format, StatusLineNamesWhatRuns)
{
    RunStatus status;
    status.state = RunState::Running;
    status.building = 3;
    status.judging = 1;
    EXPECT_EQ(utf8(format::statusLine(status, Provenance::Model)),
              "engine running · 3 building · 1 judging · provenance model");
    status.evaluations = 34;
    status.budget.evaluations = 80;
    status.secondsLeft = 131;
    EXPECT_EQ(utf8(format::budget(status)), "34/80 evals · 02:11 left");
}

TEST(Sentence, FasterSlowerAndTie)
{
    EXPECT_EQ(utf8(sentenceFor(passed(1.82, 1.80, 1.84))),
              "1.82× faster than its parent (95 % interval 1.80 to 1.84).");
    EXPECT_EQ(utf8(sentenceFor(passed(0.5, 0.4, 0.625))), "2.00× slower than its parent (95 % interval 1.60 to 2.50).");
    EXPECT_EQ(utf8(sentenceFor(passed(1.01, 0.99, 1.03))),
              "As fast as its parent within the noise (95 % interval 0.990 to 1.03).");
    NodeSummary tie = passed(1.01, 1.001, 1.02);
    tie.tieWithParent = true;
    EXPECT_NE(utf8(sentenceFor(tie)).find("As fast as its parent"), std::string::npos);
}

TEST(Sentence, AModelledVerdictSaysSo)
{
    NodeSummary node = passed(1.82, 1.80, 1.84);
    node.provenance = Provenance::Model;
    EXPECT_NE(utf8(sentenceFor(node)).find("Modelled by the simulated device, not measured."), std::string::npos);
    node.provenance.reset(); // unknown counts as modelled: never the other way round
    EXPECT_NE(utf8(sentenceFor(node)).find("not measured"), std::string::npos);
}

TEST(Sentence, AnIntervalWithoutWidthIsNotMentioned)
{
    NodeSummary node = passed(1.5, 1.5, 1.5);
    node.provenance = Provenance::Model;
    EXPECT_EQ(utf8(sentenceFor(node)), "1.50× faster than its parent. Modelled by the simulated device, not measured.");
    EXPECT_EQ(utf8(format::withBounds(QStringLiteral("1.50×"), {1.5, 1.5, 1.5})), "1.50×");
}

TEST(Sentence, FailuresGiveTheirReason)
{
    NodeSummary node;
    node.kind = NodeKind::Candidate;
    node.state = NodeState::Done;
    node.outcome = Outcome::Incorrect;
    node.reason = "row 17 of call 3 was never written";
    EXPECT_EQ(utf8(sentenceFor(node)), "Rejected: row 17 of call 3 was never written.");
    node.outcome = Outcome::BuildFailed;
    node.reason = "line 9: expected a \";\".";
    EXPECT_EQ(utf8(sentenceFor(node)), "Did not build: line 9: expected a \";\".");
    node.outcome = Outcome::NotRun;
    node.reason =
        "the simulated device cannot run it: a cluster of blocks (line 16) in kernel _ZN45_GLOBAL__N__009cd2c4EPKf; "
        "barrier.cluster.arrive.release.aligned: operands of this kind (line 59) in kernel "
        "_ZN45_GLOBAL__N__009cd2c4EPKf";
    EXPECT_EQ(utf8(sentenceFor(node)), "Not run: the simulated device cannot run it: a cluster of blocks (line 16).");
    node.outcome = Outcome::TimedOut;
    node.reason.clear();
    EXPECT_EQ(utf8(sentenceFor(node)), "Ran past its deadline.");
}

TEST(Sentence, IdeasSumUpTheirImplementations)
{
    NodeSummary idea;
    idea.kind = NodeKind::Idea;
    idea.state = NodeState::Done;
    EXPECT_EQ(utf8(sentenceFor(idea)), "Waits to be implemented.");
    EXPECT_EQ(utf8(sentenceFor(idea, {2, 1, 0, Interval{1.5, 1.4, 1.6}, Provenance::Measured})),
              "1 of 2 implementation(s) passed; the best runs at 1.50× the root's speed.");
    EXPECT_EQ(utf8(sentenceFor(idea, {2, 0, 0, {}, Provenance::Measured})), "None of its 2 implementation(s) passed.");
    idea.state = NodeState::Draft;
    EXPECT_NE(utf8(sentenceFor(idea)).find("can still be edited"), std::string::npos);
}

TEST(StageRows, TellWhereACandidateEnded)
{
    NodeDetail detail;
    detail.summary.state = NodeState::Done;
    detail.source = "int x;\n";
    detail.evaluation.outcome = Outcome::BuildFailed;
    detail.evaluation.stage = Stage::Build;
    detail.evaluation.reason = "line 1: no";
    detail.evaluation.build = BuildRecord{};
    detail.evaluation.build->messages = {{"candidate.cu", 1, 5, true, "no"}};
    const std::vector<StageRow> rows = stageRows(detail);
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(utf8(rows[0].state), "done");
    EXPECT_EQ(utf8(rows[1].state), "did not build");
    EXPECT_EQ(rows[1].outcome, Outcome::BuildFailed);
    EXPECT_EQ(utf8(rows[2].state), "not reached");
    EXPECT_FALSE(rows[3].reached);
    EXPECT_TRUE(std::any_of(rows[1].facts.begin(), rows[1].facts.end(),
                            [](const StageFact& fact) { return utf8(fact.value) == "line 1: no" && fact.bad; }));
}

TEST(StageRows, ModelledTimesAreMarked)
{
    NodeDetail detail;
    detail.summary.state = NodeState::Done;
    detail.evaluation.outcome = Outcome::Passed;
    CaseTiming timing{"big", Provenance::Model, {500, 498, 502}};
    timing.samples = 40;
    timing.blocks = 4;
    detail.evaluation.timing = TimingRecord{{timing}};
    for (const StageFact& fact : stageRows(detail)[3].facts) {
        EXPECT_EQ(fact.modelled, utf8(fact.value).starts_with("≈")) << utf8(fact.name);
    }
}
