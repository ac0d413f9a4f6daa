// SPDX-License-Identifier: Apache-2.0
#include "core/report/run_report.h"

#include "core/base/file.h"
#include "core/report/progress_curve.h"
#include "core/report/report_text.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

/// root > idea > kernel (2x, by the playbook) > "tune" > tuned (3x), and one that was rejected.
struct Session {
    explicit Session(Provenance of = Provenance::Measured)
    {
        info.provenance = of;
        book.setFrame({of, "now"});
        add(1, NodeKind::Root, 0, "root", "task", 1.0);
        add(2, NodeKind::Idea, 1, "stage <it>", "playbook", std::nullopt);
        add(3, NodeKind::Candidate, 2, "staged", "playbook", 2.0);
        add(4, NodeKind::Idea, 3, "Tune BLOCK", "tuner", std::nullopt);
        add(5, NodeKind::Candidate, 4, "BLOCK=512", "tuner", 3.0);
        add(6, NodeKind::Candidate, 4, "BLOCK=64", "tuner", std::nullopt);
        info.taskId = "softmax_f32";
        info.taskTitle = "Row softmax";
        info.epoch = "now";
        info.strategy = "beam:width=2";
        info.proposers = {"playbook", "tuner"};
        info.seed = 77;
    }
    void add(std::int64_t id, NodeKind kind, std::int64_t parent, const std::string& title, const std::string& proposer,
             std::optional<double> speedup, bool again = false)
    {
        StoredNode node;
        node.id = NodeId{id};
        node.kind = kind;
        node.title = title;
        node.proposer = proposer;
        if (parent) {
            node.parents = {{NodeId{parent}, EdgeRole::Primary}};
        }
        book.add(node);
        if (kind == NodeKind::Idea) {
            return;
        }
        Evaluation evaluation;
        evaluation.epoch = "now";
        evaluation.stage = Stage::Time;
        evaluation.outcome = speedup ? Outcome::Passed : Outcome::Incorrect;
        evaluation.reason = speedup ? "" : "output y[0] is 1 | 2 and should be 3";
        if (speedup) {
            evaluation.build = BuildRecord{};
            evaluation.build->kernels.push_back({.kernel = "k", .registers = static_cast<int>(*speedup * 50)});
            evaluation.timing = TimingRecord{};
            evaluation.timing->cases.push_back({.caseId = "c", .provenance = info.provenance});
            const double noise = info.provenance == Provenance::Measured ? 0.01 : 0;
            evaluation.timing->speedupRoot = Interval{*speedup, *speedup * (1 - noise), *speedup * (1 + noise)};
            evaluation.timing->objectiveUs = Interval{100 / *speedup, 0, 0};
            evaluation.timing->again = again;
        }
        book.finished(NodeId{id}, evaluation);
    }
    Result<NodeDetail> detail(NodeId id) const
    {
        NodeDetail detail;
        detail.summary = *book.find(id);
        detail.source = id == NodeId{1} ? "a\nb\n" : id == NodeId{3} ? "a\nfast <b>\n" : "a2\nfast <b>\n";
        detail.parentSource = id == NodeId{3} ? "a\nb\n" : "a\nfast <b>\n";
        detail.parentCandidate = id == NodeId{3} ? NodeId{1} : NodeId{3};
        CaseTiming timing;
        timing.caseId = "c";
        detail.evaluation.timing = TimingRecord{.cases = {timing}};
        detail.ideaText = "idea of " + detail.summary.title;
        return detail;
    }
    /// The Markdown of its report.
    std::string report(ReportInput input) const
    {
        const auto folder = ScratchFolder::create("report").value();
        const auto files = writeReport(input, folder.path());
        EXPECT_TRUE(files) << files.error().message;
        return readFile(folder.path() / "report.md").value();
    }
    ReportInput input() const
    {
        return {info, 12.5, 0, 0, book, [this](NodeId id) { return detail(id); }, std::nullopt, {}, {}, {}, {}};
    }
    NodeBook book;
    SessionInfo info;
};

TEST(RunReport, HoldsWhatWasFoundHowAndWhatFailed)
{
    const Session session;
    const auto folder = ScratchFolder::create("report").value();
    const auto files = writeReport(session.input(), folder.path() / "out");
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_EQ(files->size(), 3u);
    const std::string markdown = readFile(folder.path() / "out/report.md").value();
    for (const char* part :
         {"author's best (playbook) | node 3", "best found by search | node 5",
          "| c | 33.3 us | 3.00x \\[2.97, 3.03\\] |", "+a2\n", "-b\n+fast <b>\n", "idea of BLOCK=512", "incorrect: 1",
          "is 1 \\| 2 and", "beam:width=2", "| 77 (", "![Best speed-up"}) {
        EXPECT_NE(markdown.find(part), std::string::npos) << part << "\n" << markdown;
    }
    const std::string html = readFile(folder.path() / "out/report.html").value();
    EXPECT_NE(html.find("+fast &lt;b&gt;"), std::string::npos);
    EXPECT_EQ(html.find("+fast <b>"), std::string::npos);
    EXPECT_NE(html.find("<svg xmlns"), std::string::npos);
    EXPECT_EQ(html.find("http://www.w3.org/2000/svg"), html.rfind("http")); // nothing is fetched from anywhere
    EXPECT_TRUE(readFile(folder.path() / "out/best_by_evaluations.svg"));
}

TEST(RunReport, AnOverturnedVerdictIsThePersons)
{
    Session session;
    session.book.overturn(NodeId{3}, Overturn{Outcome::Incorrect, "Wrong for my data", "ada", "then", Outcome::Passed});
    session.book.overturn(NodeId{5}, Overturn{Outcome::Passed, "Right for my data", "ada", "then", Outcome::Passed});
    const std::string markdown = session.report(session.input());
    for (const char* part :
         {"node 5 \"BLOCK=512\", passed by hand: Right for my data (the judge: passed) |", "- incorrect by hand: 1",
          "- incorrect: 1", "- passed by hand: 1", "| incorrect by hand | Wrong for my data (the judge: passed) |"}) {
        EXPECT_NE(markdown.find(part), std::string::npos) << part << "\n" << markdown;
    }
}

TEST(RunReport, ModelledFiguresHaveASignAndNoInterval)
{
    Session session(Provenance::Model);
    const std::string markdown = session.report(session.input());
    for (const char* part : {"| c | ≈33.3 us | ≈3.00x | - |", "≈3.00x over the root", "| ≈2.00x |"}) {
        EXPECT_NE(markdown.find(part), std::string::npos) << part << "\n" << markdown;
    }
}

TEST(RunReport, AFolderThatCannotBeMadeIsNamed)
{
    const Session session;
    const auto folder = ScratchFolder::create("report").value();
    ASSERT_TRUE(writeFileAtomically(folder.path() / "file", "x"));
    const auto files = writeReport(session.input(), folder.path() / "file" / "out");
    ASSERT_FALSE(files);
    EXPECT_NE(files.error().message.find("file/out cannot be made"), std::string::npos) << files.error().message;
}

TEST(RunReport, TheTableNamesTheKernelThatTheHeadlineNames)
{
    Session session;
    session.add(7, NodeKind::Candidate, 4, "BLOCK=1024", "tuner", 2.8, true); // 5 is faster and was looked at once only
    ASSERT_EQ(session.book.headline(), NodeId{7});
    std::string markdown = session.report(session.input());
    EXPECT_NE(markdown.find("best found by search | node 7"), std::string::npos) << markdown;
    EXPECT_NE(markdown.find("Node 7: BLOCK=1024"), std::string::npos) << markdown;

    StoredNode pruned;
    pruned.id = NodeId{7};
    pruned.state = NodeState::Done;
    pruned.title = "BLOCK=1024";
    pruned.pruned = true;
    session.book.update(pruned);
    markdown = session.report(session.input());
    EXPECT_NE(markdown.find("best found by search | node 5"), std::string::npos) << markdown;
    pruned.id = NodeId{3}; // and all below it
    session.book.update(pruned);
    markdown = session.report(session.input());
    EXPECT_NE(markdown.find("No candidate passed."), std::string::npos) << markdown;
    EXPECT_EQ(progressOf(session.book, {}).back().best, 1.0);
}

TEST(RunReport, ACurveAgainstTheDevicesTimeStandsWhereNoModelWasPaid)
{
    const Session session;
    ReportInput input = session.input();
    input.deviceSeconds = {{NodeId{1}, 2.5}, {NodeId{3}, 1.0}, {NodeId{5}, 0.5}, {NodeId{6}, 4.0}};
    const auto points = progressOf(session.book, input.deviceSeconds);
    ASSERT_EQ(points.size(), 3u);
    EXPECT_EQ(points[0].deviceSeconds, 3.5);
    EXPECT_EQ(points[2].deviceSeconds, 8.0);
    const std::string markdown = session.report(input);
    EXPECT_NE(markdown.find("(best_by_device_time.svg)"), std::string::npos) << markdown;
    EXPECT_EQ(markdown.find("(best_by_cost.svg)"), std::string::npos) << markdown;
    EXPECT_NE(progressSvg(points, ProgressAxis::DeviceSeconds, Provenance::Measured).find("seconds of the device"),
              std::string::npos);
}

TEST(RunReport, SettingsHoldModelsHintsAndBansAndCutFailuresAreCounted)
{
    Session session;
    session.info.file = "s.espalier";
    session.info.models = {R"({"name":"large","provider":"openai","model":"big-1"})",
                           R"({"provider":"command","command":"my-agent"})"};
    for (std::int64_t id = 7; id < 52; ++id) {
        session.add(id, NodeKind::Candidate, 4, "wrong", "tuner", std::nullopt);
    }
    ReportInput input = session.input();
    input.hints = {"Rows are short.", "No shared memory."};
    input.bans = {{"no fp16", "fp16_instructions == 0"}};
    input.remarks = {"The session went on on another device of the same kind."};
    const std::string markdown = session.report(input);
    for (const char* part :
         {"another device of the same kind.", "| edition of the task | not kept |",
          "| models | large: big-1 (openai), my-agent (command) |", "| hints | Rows are short.; No shared memory. |",
          "| bans | no fp16 (fp16\\_instructions == 0) |", "incorrect: 46", "And 6 more: espalierctl show /",
          "/s.espalier --tree lists them all."}) {
        EXPECT_NE(markdown.find(part), std::string::npos) << part << "\n" << markdown;
    }
}

TEST(ProgressCurve, StepsUpOnlyWithFiguresOfTheFrame)
{
    Session session;
    const auto points = progressOf(session.book, {});
    ASSERT_EQ(points.size(), 3u);
    EXPECT_EQ(points[0].best, 2.0);
    EXPECT_EQ(points[1].best, 3.0);
    EXPECT_TRUE(points[1].improved);
    EXPECT_FALSE(points[2].improved);
    EXPECT_NE(progressSvg(points, ProgressAxis::Evaluations, Provenance::Measured).find("node 5: 3.000x"),
              std::string::npos);
    EXPECT_NE(progressSvg(points, ProgressAxis::Evaluations, Provenance::Model).find("node 5: ≈3.000x"),
              std::string::npos);
    EXPECT_NE(progressSvg({}, ProgressAxis::Usd, Provenance::Measured).find("</svg>"), std::string::npos);
    session.book.setFrame({Provenance::Measured, "then"});
    EXPECT_EQ(progressOf(session.book, {}).back().best, 1.0);
}

TEST(RunReport, WhatIsBannedIsNoBest)
{
    Session session;
    session.book.setBans({*Limit::parse("registers <= 128")}); // the tuned one has 150
    EXPECT_EQ(progressOf(session.book, {}).back().best, 2.0);
    const auto folder = ScratchFolder::create("report").value();
    ASSERT_TRUE(writeReport(session.input(), folder.path() / "out"));
    const std::string markdown = readFile(folder.path() / "out/report.md").value();
    EXPECT_NE(markdown.find("author's best (playbook) | node 3"), std::string::npos) << markdown;
    EXPECT_EQ(markdown.find("best found by search"), std::string::npos) << markdown;
}

TEST(ReportText, WhatIsSpecialIsEscaped)
{
    ReportText text;
    text.paragraph("a*b_c|d <script>");
    text.code("cpp", "x ``` y");
    EXPECT_EQ(text.markdown(), "a\\*b\\_c\\|d \\<script\\>\n\n````cpp\nx ``` y\n````\n\n");
    EXPECT_NE(text.html("t").find("&lt;script&gt;"), std::string::npos);
}

} // namespace
} // namespace espalier
