// SPDX-License-Identifier: Apache-2.0
#include "core/export/export_check.h"

#include "core/base/file.h"
#include "core/export/kernel_export.h"
#include "core/model/task_loader.h"

#include <gtest/gtest.h>
#include <optional>

namespace espalier {
namespace fs = std::filesystem;

class ExportCheckTest : public testing::Test
{
protected:
    void SetUp() override
    {
        m_scratch.emplace(ScratchFolder::create("espalier-export-check").value());
        const Task task = loadTask(std::string(ESPALIER_TASKS_FOLDER) + "/softmax_f32").value();
        NodeDetail node;
        node.summary.id = NodeId{7};
        node.summary.kind = NodeKind::Candidate;
        node.summary.state = NodeState::Done;
        node.summary.outcome = Outcome::Passed;
        node.summary.provenance = Provenance::Measured;
        node.source = task.root.text;
        node.evaluation.outcome = Outcome::Passed;
        node.evaluation.timing = timing(100, 2);
        SessionInfo session;
        session.deviceName = "NVIDIA H200";
        ASSERT_TRUE(exportKernel({task, node, session, "cuda", folder()}));
    }

    static TimingRecord timing(double us, double overRoot)
    {
        TimingRecord record;
        CaseTiming one;
        one.caseId = "c";
        one.provenance = Provenance::Measured;
        one.timeUs = {us, us * 0.999, us * 1.001};
        record.cases = {one};
        record.objectiveUs = one.timeUs;
        record.speedupRoot = Interval{overRoot, overRoot * 0.999, overRoot * 1.001};
        return record;
    }
    static Evaluation passed(double us, double overRoot)
    {
        Evaluation evaluation;
        evaluation.outcome = Outcome::Passed;
        evaluation.timing = timing(us, overRoot);
        return evaluation;
    }
    fs::path folder() const { return m_scratch->path() / "out"; }
    StoredExport stored() const { return readExport(folder(), "softmax_f32").value(); }
    EvidenceState stateOf(const Evaluation& now, const std::string& device = "NVIDIA H200") const
    {
        return heldAgainst(stored(), now, device).state;
    }

    std::optional<ScratchFolder> m_scratch;
};

TEST_F(ExportCheckTest, EveryByteOfEveryFileCounts)
{
    EXPECT_EQ(exportsIn(folder()).value(), std::vector<std::string>{"softmax_f32"});
    EXPECT_EQ(changedSince(folder(), "softmax_f32"), "");
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder())) {
        if (!entry.is_regular_file()) {
            continue;
        }
        ++files;
        const std::string whole = readFile(entry.path()).value();
        for (const std::size_t at : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ 1);
            ASSERT_TRUE(writeFileAtomically(entry.path(), changed));
            EXPECT_NE(changedSince(folder(), "softmax_f32"), "") << entry.path() << " byte " << at;
        }
        fs::remove(entry.path());
        EXPECT_NE(changedSince(folder(), "softmax_f32"), "") << entry.path() << " is away";
        ASSERT_TRUE(writeFileAtomically(entry.path(), whole));
    }
    EXPECT_GE(files, 8);
    EXPECT_EQ(changedSince(folder(), "softmax_f32"), "");
    ASSERT_TRUE(writeFileAtomically(folder() / "softmax_f32.task/more.cu", ""));
    EXPECT_EQ(changedSince(folder(), "softmax_f32"), "softmax_f32.task/more.cu was not exported");
}

TEST_F(ExportCheckTest, AListThatNamesOtherFilesIsRefused)
{
    const std::string none(64, '0');
    ASSERT_TRUE(writeFileAtomically(folder() / "softmax_f32.sha256",
                                    none + "  softmax_f32.cu\n" + none + "  softmax_f32.h\n" + none +
                                        "  softmax_f32.evidence.json\n" + none + "  ../secret\n"));
    EXPECT_EQ(changedSince(folder(), "softmax_f32"), "softmax_f32.sha256 names ../secret, which lies outside");
    ASSERT_TRUE(writeFileAtomically(folder() / "softmax_f32.sha256", none + "  softmax_f32.cu\n"));
    EXPECT_EQ(changedSince(folder(), "softmax_f32"), "softmax_f32.sha256 does not name softmax_f32.h") << "";
}

TEST_F(ExportCheckTest, HashesOfOthersAreNoExport)
{
    ASSERT_TRUE(writeFileAtomically(folder() / "release.tar.gz.sha256", std::string(64, '0') + "  release.tar.gz\n"));
    ASSERT_TRUE(writeFileAtomically(folder() / "notes.sha256", "no list\n"));
    EXPECT_EQ(exportsIn(folder()).value(), std::vector<std::string>{"softmax_f32"});
    fs::remove(folder() / "softmax_f32.evidence.json");
    EXPECT_EQ(exportsIn(folder()).value(), std::vector<std::string>{"softmax_f32"}) << "its evidence is missed";
}

TEST_F(ExportCheckTest, EvidenceWithoutHashesIsOfAnOlderVersionOrBroken)
{
    const fs::path evidence = folder() / "softmax_f32.evidence.json";
    std::string text = readFile(evidence).value();
    text.replace(text.find("evidence-2"), 10, "evidence-1");
    ASSERT_TRUE(writeFileAtomically(evidence, text));
    EXPECT_EQ(olderFormat(folder(), "softmax_f32"), "") << "it has hashes, and they say that it was changed";
    fs::remove(folder() / "softmax_f32.sha256");
    EXPECT_EQ(olderFormat(folder(), "softmax_f32"),
              "softmax_f32.evidence.json is espalier-evidence-1, which this version cannot verify: export the kernel "
              "again");
    text.replace(text.find("evidence-1"), 10, "evidence-2");
    ASSERT_TRUE(writeFileAtomically(evidence, text));
    EXPECT_EQ(olderFormat(folder(), "softmax_f32"), "");
}

TEST_F(ExportCheckTest, EvidenceHoldsAsLongAsVerdictAndFiguresDo)
{
    EXPECT_EQ(stateOf(passed(101, 1.99)), EvidenceState::Holds);
    EXPECT_EQ(stateOf(passed(90, 2.2)), EvidenceState::Holds) << "faster than it says";
    EXPECT_EQ(stateOf(passed(110, 2)), EvidenceState::Broken);
    EXPECT_EQ(stateOf(passed(100, 1.8)), EvidenceState::Broken) << "the root has become faster";
    Evaluation wrong;
    wrong.outcome = Outcome::Incorrect;
    wrong.reason = "output y[3] is wrong";
    EXPECT_EQ(heldAgainst(stored(), wrong, "NVIDIA H200").sentence,
              "node 7 on NVIDIA H200 is incorrect now: output y[3] is wrong");
    EXPECT_EQ(stateOf(wrong), EvidenceState::Broken);
    EXPECT_EQ(stateOf(Evaluation{}), EvidenceState::Unknown) << "not run";
    EXPECT_EQ(heldAgainst(stored(), passed(100, 2), "Simulated H200").sentence,
              "it is of NVIDIA H200, and this is Simulated H200: verify it there");
}

TEST_F(ExportCheckTest, WhatIsNoExportIsOneSentence)
{
    EXPECT_NE(exportsIn(m_scratch->path()).error().message.find("holds no export"), std::string::npos);
    EXPECT_NE(exportsIn(m_scratch->path() / "away").error().message.find("cannot be read"), std::string::npos);
    ASSERT_TRUE(writeFileAtomically(folder() / "softmax_f32.evidence.json", "{\"node\": 3}"));
    EXPECT_FALSE(readExport(folder(), "softmax_f32"));
}

} // namespace espalier
