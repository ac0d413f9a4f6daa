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
    Session()
    {
        book.setFrame({Provenance::Measured, "now"});
        add(1, NodeKind::Root, 0, "root", "task", 1.0);
        add(2, NodeKind::Idea, 1, "stage <it>", "playbook", std::nullopt);
        add(3, NodeKind::Candidate, 2, "staged", "playbook", 2.0);
        add(4, NodeKind::Idea, 3, "Tune BLOCK", "tuner", std::nullopt);
        add(5, NodeKind::Candidate, 4, "BLOCK=512", "tuner", 3.0);
        add(6, NodeKind::Candidate, 4, "BLOCK=64", "tuner", std::nullopt);
        info.taskId = "softmax_f32";
        info.taskTitle = "Row softmax";
        info.provenance = Provenance::Measured;
        info.epoch = "now";
        info.strategy = "beam:width=2";
        info.proposers = {"playbook", "tuner"};
        info.seed = 77;
    }
    void add(std::int64_t id, NodeKind kind, std::int64_t parent, const std::string& title, const std::string& proposer, std::optional<double> speedup)
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
            evaluation.timing->cases.push_back({.caseId = "c", .provenance = Provenance::Measured});
            evaluation.timing->speedupRoot = Interval{*speedup, *speedup * 0.99, *speedup * 1.01};
            evaluation.timing->objectiveUs = Interval{100 / *speedup, 0, 0};
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
        detail.ideaText = "idea of " + detail.summary.title;
        return detail;
    }
    NodeBook book;
    SessionInfo info;
};

TEST(RunReport, HoldsWhatWasFoundHowAndWhatFailed)
{
    const Session session;
    const auto folder = ScratchFolder::create("report").value();
    const auto files = writeReport({session.info, 12.5, 0, 0, session.book, [&](NodeId id) { return session.detail(id); }},
                                   folder.path() / "out");
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_EQ(files->size(), 3u);
    const std::string markdown = readFile(folder.path() / "out/report.md").value();
    for (const char* part : {"author's best (playbook) | node 3", "best found by search | node 5", "3.000x (2.970 to 3.030)",
                             "+a2\n", "-b\n+fast <b>\n", "idea of BLOCK=512", "incorrect: 1", "is 1 \\| 2 and", "beam:width=2",
                             "| 77 (", "![Best speed-up"}) {
        EXPECT_NE(markdown.find(part), std::string::npos) << part << "\n" << markdown;
    }
    const std::string html = readFile(folder.path() / "out/report.html").value();
    EXPECT_NE(html.find("+fast &lt;b&gt;"), std::string::npos);
    EXPECT_EQ(html.find("+fast <b>"), std::string::npos);
    EXPECT_NE(html.find("<svg xmlns"), std::string::npos);
    EXPECT_EQ(html.find("http://www.w3.org/2000/svg"), html.rfind("http"));  // nothing is fetched from anywhere
    EXPECT_TRUE(readFile(folder.path() / "out/best_by_evaluations.svg"));
}

TEST(RunReport, AFolderThatCannotBeMadeIsNamed)
{
    const Session session;
    const auto folder = ScratchFolder::create("report").value();
    ASSERT_TRUE(writeFileAtomically(folder.path() / "file", "x"));
    const auto files = writeReport({session.info, 0, 0, 0, session.book, [&](NodeId id) { return session.detail(id); }},
                                   folder.path() / "file" / "out");
    ASSERT_FALSE(files);
    EXPECT_NE(files.error().message.find("file/out cannot be made"), std::string::npos) << files.error().message;
}

TEST(ProgressCurve, StepsUpOnlyWithFiguresOfTheFrame)
{
    Session session;
    const auto points = progressOf(session.book, {Provenance::Measured, "now"});
    ASSERT_EQ(points.size(), 3u);
    EXPECT_EQ(points[0].best, 2.0);
    EXPECT_EQ(points[1].best, 3.0);
    EXPECT_TRUE(points[1].improved);
    EXPECT_FALSE(points[2].improved);
    EXPECT_EQ(progressOf(session.book, {Provenance::Measured, "then"}).back().best, 1.0);
    EXPECT_NE(progressSvg(points, false).find("node 5: 3.000x"), std::string::npos);
    EXPECT_NE(progressSvg({}, true).find("</svg>"), std::string::npos);
}

TEST(RunReport, WhatIsBannedIsNoBest)
{
    Session session;
    session.book.setBans({*Limit::parse("registers <= 128")}); // the tuned one has 150
    EXPECT_EQ(progressOf(session.book, {Provenance::Measured, "now"}).back().best, 2.0);
    const auto folder = ScratchFolder::create("report").value();
    ASSERT_TRUE(writeReport({session.info, 0, 0, 0, session.book, [&](NodeId id) { return session.detail(id); }}, folder.path() / "out"));
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
