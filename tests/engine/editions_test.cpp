// SPDX-License-Identifier: Apache-2.0
// A session carries its task, and another edition of it keeps the tree.
#include "core/base/json.h"
#include "core/engine/session_reader.h"
#include "core/engine/session_task.h"
#include "core/model/task_loader.h"
#include "core/search/search_tree.h"
#include "tests/engine/engine_harness.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

namespace fs = std::filesystem;

/// The fake judge reads times off the sources; the task around them is a real one, in a folder.
class Editions : public testing::Test
{
protected:
    void SetUp() override
    {
        files = {{"task.json", R"({
                    "schema": 1, "id": "scale", "title": "Scale", "parameters": ["n"],
                    "arguments": [{"name": "x", "kind": "input", "dtype": "f32", "shape": ["n"]},
                                  {"name": "y", "kind": "output", "dtype": "f32", "shape": ["n"]},
                                  {"name": "n", "kind": "scalar", "dtype": "i64", "value": "n"}],
                    "oracle": {"kind": "cuda"}, "contract": {"precision": "f32"}, "flops": "n",
                    "cases": [{"name": "a", "parameters": {"n": 64}, "roles": ["verify", "simulate", "time"]}]})"},
                 {"root.cu", "root time=100 \n"},
                 {"oracle.cu", "oracle \n"},
                 {"playbook/playbook.json", R"({"schema": 1, "ideas": [
                    {"id": "slow", "parent": "root", "title": "slow", "idea": "a", "file": "slow.cu"},
                    {"id": "fast", "parent": "root", "title": "fast", "idea": "b", "file": "fast.cu"},
                    {"id": "faster", "parent": "fast", "title": "faster", "idea": "c", "file": "faster.cu"}]})"},
                 {"playbook/slow.cu", "slow time=150 \n"},
                 {"playbook/fast.cu", "fast time=80 \n"},
                 {"playbook/faster.cu", "faster time=50 \n"}};
        write();
        engine.options.task = folder().string();
    }

    fs::path folder() const { return m_scratch.path() / "scale"; }

    void write()
    {
        for (const auto& [path, text] : files) {
            fs::create_directories((folder() / path).parent_path());
            ASSERT_TRUE(writeFileAtomically(folder() / path, text));
        }
    }

    Result<void> open()
    {
        engine.loadTask = [](std::string_view name) { return loadTask(name); };
        return engine.open();
    }
    void openAndRun()
    {
        const auto opened = open();
        ASSERT_TRUE(opened) << opened.error().message;
        engine.run();
        ASSERT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    }
    std::string refusal()
    {
        const auto opened = open();
        return opened ? "opened" : opened.error().message;
    }
    bool logged(const std::string& text) const
    {
        return std::any_of(engine.log.begin(), engine.log.end(),
                           [&](const std::string& line) { return line.find(text) != std::string::npos; });
    }
    bool exports(const std::string& title)
    {
        engine.exported.clear();
        engine.failures.clear();
        engine.post(command::Export{engine.node(title), "cuda", (m_scratch.path() / "out").string()});
        return !engine.exported.empty();
    }

    std::map<std::string, std::string> files;
    EngineHarness engine;
    ScratchFolder m_scratch = ScratchFolder::create("editions").value();
};

TEST_F(Editions, ASessionRunsFromItsOwnTexts)
{
    engine.options.budget = Budget{1, {}, {}};
    openAndRun();
    engine.drop();
    fs::remove_all(folder());
    engine.options.task.reset();
    engine.options.budget = Budget{};
    openAndRun();
    EXPECT_EQ(engine.status.evaluations, 3);
    EXPECT_EQ(engine.summary("faster").outcome, Outcome::Passed);
    EXPECT_TRUE(exports("faster")) << engine.failures.at(0).error.message;
    engine.post(command::Repro{engine.node("fast"), (m_scratch.path() / "out").string()});
    EXPECT_EQ(engine.repros.size(), 1u);
    engine.drop();
    for (const std::string& name : {std::string("scale"), folder().string()}) { // as the engineer may still call it
        engine.options.task = name;
        EXPECT_EQ(refusal(), "opened");
        engine.drop();
    }
    engine.options.task = "another";
    EXPECT_NE(refusal().find("another is neither a built-in task"), std::string::npos) << refusal();
}

TEST_F(Editions, AChangedFolderDoesNotReachASessionThatIsNotToldOfIt)
{
    engine.options.budget = Budget{1, {}, {}};
    openAndRun();
    engine.drop();
    files["oracle.cu"] = "another oracle \n";
    write();
    engine.options.task.reset();
    ASSERT_TRUE(open());
    EXPECT_EQ(engine.info.edition, 1);
    EXPECT_TRUE(engine.log.empty()) << engine.log.front();
}

/// The root's time on the device before is another root's: nothing says how far the two devices lie apart.
TEST_F(Editions, AnotherRootOnAnotherDeviceLeavesNothingToCompareBy)
{
    engine.hello.simulated = false;
    engine.hello.deviceName = "NVIDIA H200";
    engine.hello.uuid = "GPU-a";
    openAndRun();
    const int timed = engine.ledger.timed[files["playbook/faster.cu"]];
    engine.drop();
    engine.hello.uuid = "GPU-b";
    files["root.cu"] = "root time=90 better \n";
    write();
    openAndRun();
    EXPECT_TRUE(logged("the two devices cannot be compared"));
    EXPECT_GT(engine.ledger.timed[files["playbook/faster.cu"]], timed) << "what leads is timed anew";
    EXPECT_TRUE(engine.summary("slow").timedElsewhere);
}

TEST_F(Editions, AnotherOperationIsRefused)
{
    openAndRun();
    engine.drop();
    files["task.json"].replace(files["task.json"].find("f32"), 3, "f16");
    write();
    EXPECT_NE(refusal().find("is another operation than that of"), std::string::npos) << refusal();
    engine.options.task.reset();
    EXPECT_EQ(refusal(), "opened") << "the session stays as it was";
    EXPECT_EQ(engine.info.edition, 1);
}

TEST_F(Editions, WordsAndPlaybookChangeNothing)
{
    openAndRun();
    const std::string before = engine.tree();
    engine.drop();
    const int verified = engine.ledger.verified[files["root.cu"]];
    files["task.json"].replace(files["task.json"].find("\"Scale\""), 7, "\"Scaled\"");
    files["playbook/slow.cu"] = "slow time=140 \n";
    write();
    openAndRun();
    EXPECT_EQ(engine.info.edition, 2);
    EXPECT_EQ(engine.info.taskTitle, "Scaled");
    EXPECT_TRUE(logged("is taken over as edition 2 (changed: playbook, words): records stay as they are."));
    EXPECT_EQ(engine.tree(), before);
    EXPECT_EQ(engine.ledger.verified[files["root.cu"]], verified);
    EXPECT_TRUE(exports("faster"));
    engine.drop();
    ASSERT_TRUE(open());
    EXPECT_EQ(engine.info.edition, 2) << "the same once more is no other edition";
}

TEST_F(Editions, AnotherGateIsPassedAgainByRootAndWinner)
{
    openAndRun();
    engine.drop();
    files["oracle.cu"] = "another oracle \n";
    write();
    ASSERT_TRUE(open());
    EXPECT_TRUE(engine.summary("faster").olderEdition);
    EXPECT_EQ(engine.status.best, engine.node("faster")) << "shown and ranked until it is judged again";
    EXPECT_FALSE(exports("faster"));
    EXPECT_NE(engine.failures.at(0).error.message.find("passed under an earlier edition of the task"),
              std::string::npos);
    const int root = engine.ledger.verified[files["root.cu"]], slow = engine.ledger.verified[files["playbook/slow.cu"]];
    engine.run();
    ASSERT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(engine.ledger.verified[files["root.cu"]], root + 1);
    EXPECT_EQ(engine.ledger.verified[files["playbook/slow.cu"]], slow) << "what does not lead waits to be asked for";
    EXPECT_FALSE(engine.summary("faster").olderEdition);
    EXPECT_TRUE(engine.summary("slow").olderEdition);
    EXPECT_TRUE(exports("faster"));
    engine.post(command::JudgeAgain{engine.node("slow"), Again::Verify});
    engine.settle();
    EXPECT_FALSE(engine.summary("slow").olderEdition);
    engine.drop();
    engine.options.task.reset();
    ASSERT_TRUE(open());
    EXPECT_FALSE(engine.summary("faster").olderEdition) << "as the session keeps it";
}

/// Verified under the old gate and cut off before it was timed.
TEST_F(Editions, AKernelOnItsWayPassesTheNewGate)
{
    const std::string& fast = files["playbook/fast.cu"];
    ASSERT_TRUE(open());
    engine.post(command::Run{});
    for (int i = 0; i < 20000 && engine.ledger.verified[fast] == 0; ++i) {
        engine.turn();
    }
    engine.drop();
    ASSERT_EQ(engine.ledger.verified[fast], 1);
    ASSERT_EQ(engine.ledger.timed[fast], 0);
    files["oracle.cu"] = "another oracle \n";
    write();
    openAndRun();
    EXPECT_EQ(engine.ledger.verified[fast], 2);
    EXPECT_EQ(engine.ledger.timed[fast], 1);
    EXPECT_FALSE(engine.summary("fast").olderEdition);
}

TEST_F(Editions, ANewRootHasNothingOfTheOldOnesVerdict)
{
    openAndRun();
    engine.drop();
    files["root.cu"] = "another root build=failed \n";
    write();
    ASSERT_TRUE(open());
    EXPECT_FALSE(exports("root"));
    engine.drop();
    const auto root = [this](const SessionReader& reader) { return reader.detail(taskRoot).value(); };
    {
        const SessionReader reader = SessionReader::open(engine.options.session.string()).value();
        EXPECT_EQ(root(reader).summary.state, NodeState::Queued);
        EXPECT_EQ(root(reader).summary.outcome, Outcome::NotRun);
        EXPECT_FALSE(root(reader).summary.timeUs);
        EXPECT_FALSE(root(reader).evaluation.verify);
        EXPECT_FALSE(root(reader).evaluation.timing);
    }
    ASSERT_TRUE(open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Failed);
    engine.drop();
    const auto isFailed = [&] {
        const SessionReader reader = SessionReader::open(engine.options.session.string()).value();
        EXPECT_EQ(root(reader).evaluation.outcome, Outcome::BuildFailed);
        EXPECT_EQ(root(reader).summary.outcome, Outcome::BuildFailed);
        EXPECT_FALSE(root(reader).evaluation.timing);
    };
    isFailed();
    files["task.json"].replace(files["task.json"].find("\"flops\": \"n\""), 12, "\"flops\": \"2*n\"");
    write();
    ASSERT_TRUE(open()); // what is added up anew is no verdict on it
    engine.drop();
    isFailed();
}

TEST_F(Editions, ARefusedOpeningLeavesTheEdition)
{
    const fs::path old = m_scratch.path() / "old.cu";
    ASSERT_TRUE(writeFileAtomically(old, "old time=90 \n"));
    engine.options.incumbent = old.string();
    openAndRun();
    engine.drop();
    files["oracle.cu"] = "another oracle \n";
    write();
    const EngineOptions good = engine.options;
    engine.options.budget = Budget{-1, {}, {}};
    EXPECT_NE(refusal().find("A budget cannot be negative"), std::string::npos) << refusal();
    engine.options = good;
    engine.options.proposers = {"x"};
    EXPECT_NE(refusal().find("There is no proposer"), std::string::npos) << refusal();
    engine.options = good;
    engine.options.strategyOnce = "refin";
    EXPECT_NE(refusal().find("There is no strategy"), std::string::npos) << refusal();
    engine.options = good;
    ASSERT_TRUE(writeFileAtomically(old, "old time=91 \n"));
    EXPECT_NE(refusal().find("has changed since"), std::string::npos) << refusal();
    engine.options.task.reset();
    engine.options.incumbent.reset();
    ASSERT_EQ(refusal(), "opened");
    EXPECT_EQ(engine.info.edition, 1);
    EXPECT_FALSE(engine.summary("faster").olderEdition);
}

TEST_F(Editions, APlainNameIsTheFolderOfThatNameHere)
{
    openAndRun();
    engine.drop();
    files["oracle.cu"] = "another oracle \n";
    write();
    engine.options.task = "scale";
    ASSERT_EQ(refusal(), "opened");
    EXPECT_EQ(engine.info.edition, 1) << "there is none here";
    engine.drop();
    const fs::path before = fs::current_path();
    fs::current_path(m_scratch.path());
    const std::string opened = refusal();
    fs::current_path(before);
    ASSERT_EQ(opened, "opened");
    EXPECT_EQ(engine.info.edition, 2);
    EXPECT_TRUE(logged("is taken over as edition 2"));
}

TEST_F(Editions, ADerivedRatioCostsNoDeviceTime)
{
    ASSERT_TRUE(open());
    engine.post(command::SetBranchBudget{taskRoot, {.seconds = 1e6}});
    engine.run();
    engine.drop();
    files["root.cu"] = "another root time=40 \n";
    write();
    openAndRun();
    EXPECT_DOUBLE_EQ(engine.summary("faster").speedupRoot->value, 0.8);
    const double spent = engine.nodes.at(taskRoot).branchSpent.seconds;
    engine.drop();
    engine.options.task.reset();
    ASSERT_TRUE(open());
    engine.turn();
    EXPECT_GT(spent, 0);
    EXPECT_NEAR(engine.nodes.at(taskRoot).branchSpent.seconds, spent, 1e-9) << "as the session keeps it";
}

TEST_F(Editions, AnotherRootIsTimedBesideTheOneBeforeAndRatiosFollow)
{
    openAndRun();
    EXPECT_DOUBLE_EQ(engine.summary("faster").speedupRoot->value, 2);
    engine.drop();
    const int faster = engine.ledger.timed[files["playbook/faster.cu"]];
    files["root.cu"] = "another root time=40 \n";
    write();
    openAndRun();
    EXPECT_EQ(engine.ledger.timed[files["root.cu"]], 1);
    EXPECT_EQ(engine.ledger.timed[files["playbook/faster.cu"]], faster) << "its measurement stands";
    EXPECT_DOUBLE_EQ(engine.summary("faster").speedupRoot->value, 0.8);
    EXPECT_EQ(engine.status.best, NodeId{1});
    EXPECT_EQ(engine.storedNodes().front().source, files["root.cu"]);
    EXPECT_TRUE(exports("faster")) << "its verdict stands";
    engine.drop();
    engine.options.task.reset();
    ASSERT_TRUE(open());
    EXPECT_DOUBLE_EQ(engine.summary("faster").speedupRoot->value, 0.8);
    engine.run();
    EXPECT_EQ(engine.ledger.timed[files["root.cu"]], 1) << "once";
}

TEST_F(Editions, ARootThatComesBackMovesNothing)
{
    openAndRun();
    engine.drop();
    const std::string root = files["root.cu"];
    for (const std::string& text : {std::string("another root time=40 \n"), root}) {
        files["root.cu"] = text;
        write();
        ASSERT_TRUE(open());
        engine.drop();
    }
    openAndRun();
    EXPECT_EQ(engine.info.edition, 3);
    EXPECT_DOUBLE_EQ(engine.summary("faster").speedupRoot->value, 2);
    EXPECT_FALSE(logged("new root has its time"));
}

TEST_F(Editions, AKillAfterTheNewRootsVerdictStillMovesTheRatios)
{
    openAndRun();
    engine.drop();
    files["root.cu"] = "another root time=40 \n";
    write();
    for (int writes = 1; writes < 40; ++writes) { // wherever the process dies
        engine.writesBeforeKill = writes;
        engine.loadTask = [](std::string_view name) { return loadTask(name); };
        if (engine.runUnlessKilled()) {
            break;
        }
    }
    engine.writesBeforeKill = -1;
    openAndRun();
    EXPECT_DOUBLE_EQ(engine.summary("faster").speedupRoot->value, 0.8);
    EXPECT_DOUBLE_EQ(engine.summary("slow").speedupRoot->value, 40.0 / 150);
}

TEST_F(Editions, AnotherObjectiveIsAddedUpWithoutAJudge)
{
    openAndRun();
    engine.drop();
    const FakeLedger before = engine.ledger;
    files["task.json"].replace(files["task.json"].find("\"flops\": \"n\""), 12, "\"flops\": \"2*n\"");
    write();
    openAndRun();
    EXPECT_TRUE(logged("the objective is added up anew")) << engine.log.front();
    EXPECT_EQ(engine.ledger.timed, before.timed);
    EXPECT_EQ(engine.ledger.verified, before.verified);
    EXPECT_TRUE(exports("faster"));
}

TEST_F(Editions, AKillOnTheWayLosesNothing)
{
    openAndRun();
    engine.drop();
    files["oracle.cu"] = "another oracle \n";
    write();
    ASSERT_TRUE(open()); // the edition is taken over, and the process dies
    engine.drop();
    engine.options.task.reset();
    openAndRun();
    EXPECT_EQ(engine.info.edition, 2);
    EXPECT_FALSE(engine.summary("faster").olderEdition);
    EXPECT_TRUE(exports("faster"));
}

TEST_F(Editions, AnOlderSessionTakesItsTaskInOnce)
{
    const Task task = loadTask(folder().string()).value();
    SessionInfo info;
    info.taskId = "scale";
    info.taskFolder = folder().string();
    info.taskHash = task.hash;
    info.device = "auto";
    info.strategy = "refine";
    info.proposers = {"playbook"};
    info.seed = 1;
    ASSERT_TRUE(Store::create(engine.options.session, info)); // as a version without editions leaves it
    fs::rename(folder(), m_scratch.path() / "moved");
    engine.options.task.reset();
    EXPECT_NE(refusal().find("An older Espalier wrote this session and kept its task outside, and the task scale of"),
              std::string::npos)
        << refusal();
    EXPECT_NE(refusal().find("espalierctl run FOLDER --session " + engine.options.session.string()), std::string::npos);
    engine.options.task = (m_scratch.path() / "moved").string();
    ASSERT_EQ(refusal(), "opened");
    EXPECT_EQ(engine.info.edition, 1);
    engine.drop();
    fs::remove_all(m_scratch.path() / "moved");
    engine.options.task.reset();
    EXPECT_EQ(refusal(), "opened");
}

TEST_F(Editions, TheIncumbentTravelsWithTheSession)
{
    const fs::path old = m_scratch.path() / "old.cu";
    ASSERT_TRUE(writeFileAtomically(old, "old time=90 \n"));
    engine.options.incumbent = old.string();
    engine.options.budget = Budget{1, {}, {}};
    openAndRun();
    engine.drop();
    fs::remove(old);
    engine.options.incumbent.reset();
    EXPECT_EQ(refusal(), "opened");
    engine.drop();
    engine.options.incumbent = old.string();
    EXPECT_EQ(refusal(), "opened") << "named again, and kept";
}

TEST_F(Editions, ARestingSessionHasAnEmptyWal)
{
    engine.options.budget = Budget{2, {}, {}};
    openAndRun();
    const fs::path wal = engine.options.session.string() + "-wal";
    EXPECT_EQ(fs::file_size(wal), 0u) << "it has ended";
    engine.post(command::SetPinned{engine.node("fast"), true});
    EXPECT_GT(fs::file_size(wal), 0u);
    for (int i = 0; i < 4; ++i) {
        engine.now += 1;
        engine.turn();
    }
    EXPECT_EQ(fs::file_size(wal), 0u) << "nothing was written for two seconds";
}

} // namespace
} // namespace espalier
