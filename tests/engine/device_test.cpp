// SPDX-License-Identifier: Apache-2.0
// Judges that are lost, devices that change, tasks whose trusted parts do not serve.
#include "core/engine/device_change.h"
#include "core/engine/device_facts.h"
#include "core/engine/epoch.h"
#include "core/search/fault_blame.h"
#include "tests/engine/engine_harness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

namespace espalier {
namespace {

EngineHarness& withFragileVector(EngineHarness& engine, int losses)
{
    engine.task.playbook[1].source.text += "judge=lost\n";
    *engine.losses = losses;
    return engine;
}

std::string undisturbedTree()
{
    EngineHarness engine;
    withFragileVector(engine, 0);
    EXPECT_TRUE(engine.open());
    engine.run();
    return engine.tree();
}

TEST(Device, ALostJudgeIsNoVerdict)
{
    EngineHarness engine;
    withFragileVector(engine, 1);
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.tree(), undisturbedTree());
    EXPECT_EQ(engine.log.size(), 1u);
}

/// The device runs the root still: the run does not pause for one kernel, nor meets it again.
TEST(Device, ACandidateThatKillsTheJudgeTwiceWithinAMinuteEndsAlone)
{
    EngineHarness engine;
    withFragileVector(engine, 1000);
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(engine.summary("vector").cause, NotRunCause::Infrastructure);
    EXPECT_EQ(*engine.losses, 998);
    EXPECT_EQ(engine.ledger.judgesStarted, 2) << "the first one parks itself";
    EXPECT_EQ(engine.status.notRun, 1);
    EXPECT_GT(engine.status.evaluations, 2);
}

/// The control is lost as well: a person must look. The count holds over the end of the process.
TEST(Device, WhereTheRootCannotBeRunEitherTheRunPausesAndForgetsNoLoss)
{
    EngineHarness engine;
    withFragileVector(engine, 0);
    engine.task.root.text += "judge=lost\n";
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    while (engine.status.evaluations < 1) { // the root has its verdict
        engine.turn();
    }
    ASSERT_EQ(engine.summary("vector").state == NodeState::Done, false);
    *engine.losses = 3; // twice the candidate, once the control
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Paused);
    EXPECT_EQ(engine.status.why,
              "the judge was lost, with the task's root as well: The judge ended with signal 9 (Killed).");
    EXPECT_EQ(*engine.losses, 0);
    EXPECT_EQ(engine.summary("vector").state, NodeState::Queued);
    engine.drop();
    *engine.losses = 0;
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.summary("vector").cause, NotRunCause::Infrastructure) << "it is not given to a third judge";
}

/// A child is judged beside the root alone when its parent's library cannot be had any more.
TEST(Device, AParentThatNoCompilerSurvivesAnyMoreDoesNotPauseTheRun)
{
    EngineHarness engine;
    const std::string parent = engine.task.playbook[1].source.text += "build_ours=1000\n";
    engine.ledger.compiled[parent] = 1000; // for now it builds
    ASSERT_TRUE(engine.open());
    engine.run(Budget{2, {}, {}});
    ASSERT_EQ(engine.summary("vector").outcome, Outcome::Passed);
    engine.drop();
    engine.ledger.cache.erase(parent);
    engine.ledger.compiled[parent] = 0;
    ASSERT_TRUE(engine.open());
    engine.run(Budget{17, {}, {}});
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(engine.status.notRun, 0);
    EXPECT_EQ(engine.summary("vector").outcome, Outcome::Passed);
    EXPECT_EQ(engine.ledger.compiled[parent], 2) << "once more, and never again";
    engine.post(command::FetchDetail{engine.node("registers")});
    ASSERT_TRUE(engine.detail && engine.detail->evaluation.timing);
    EXPECT_TRUE(engine.detail->evaluation.timing->speedupRoot);
    EXPECT_FALSE(engine.detail->evaluation.timing->speedupParent);
}

TEST(Device, ACandidateThatKillsEveryJudgeDoesNotBlockTheQueue)
{
    EngineHarness engine;
    withFragileVector(engine, 2);
    engine.secondsPerTurn = 45; // the losses lie further apart than a minute
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.summary("vector").outcome, Outcome::NotRun);
    EXPECT_EQ(engine.summary("vector").cause, NotRunCause::Infrastructure);
    EXPECT_EQ(engine.summary("vector").reason, "The judge was lost twice while it worked on this candidate: "
                                               "The judge ended with signal 9 (Killed).");
}

TEST(Device, WithoutAJudgeTheRunFailsWithItsSentence)
{
    EngineHarness engine;
    engine.noJudge = Error{ErrorCode::NotFound, "No NVIDIA driver was found: use --device sim."};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Failed);
    EXPECT_EQ(engine.status.why, "No NVIDIA driver was found: use --device sim.");
    EXPECT_EQ(engine.finished.size(), 1u);
    engine.noJudge.reset();
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.evaluations, 17);
}

TEST(Device, AnOracleThatDoesNotBuildIsOneError)
{
    EngineHarness engine;
    engine.task.oracle.source.text = "oracle build=failed";
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Failed);
    EXPECT_EQ(engine.status.why, "The oracle of task fake does not build: candidate.cu:1: expected a ';'");
    EXPECT_EQ(engine.finished.size(), 1u);
}

TEST(Device, ARootThatDoesNotPassIsOneErrorAlsoTheSecondTime)
{
    for (const char* text : {"root build=failed\n", "root outcome=incorrect\n"}) {
        EngineHarness engine;
        engine.task.root.text = text;
        ASSERT_TRUE(engine.open());
        engine.run();
        EXPECT_EQ(engine.status.state, RunState::Failed);
        EXPECT_EQ(engine.status.why.substr(0, 42), "The root kernel of task fake does not pass") << engine.status.why;
        const std::string why = engine.status.why;
        EXPECT_EQ(engine.nodes.size(), 1u);
        ASSERT_TRUE(engine.open());
        engine.run();
        EXPECT_EQ(engine.status.state, RunState::Failed);
        EXPECT_EQ(engine.status.why, why);
    }
}

TEST(Device, ARootThatCouldNotBeRunIsTriedAgainElsewhere)
{
    EngineHarness engine;
    engine.task.root.text = "root outcome=not_run cause=infrastructure\n";
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Failed);
    EXPECT_NE(engine.status.why.find("could not be run"), std::string::npos);
    EXPECT_EQ(engine.summary("root").state, NodeState::Queued);
}

TEST(Device, UnsupportedCandidatesAreSkippedWithTheReason)
{
    EngineHarness engine;
    engine.task.playbook[4].source.text = "cluster outcome=not_run cause=unsupported\n";
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.summary("cluster").cause, NotRunCause::Unsupported);
    EXPECT_EQ(engine.status.notRun, 1);
    EXPECT_EQ(engine.status.state, RunState::Finished);
}

TEST(Device, ACompilerThatIsMissingPausesTheRun)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    while (engine.status.evaluations < 1) {
        engine.turn();
    }
    engine.ledger.compilersGone = 1000;
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Paused);
    EXPECT_EQ(engine.status.why, "nvcc was not found: install the CUDA toolkit 13.");
    EXPECT_EQ(engine.status.notRun, 0) << "nobody's fault but the machine's";
    engine.ledger.compilersGone = 0;
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.evaluations, 17);
}

TEST(Device, AFaultOfTheCompilersThatComesOnceIsTriedAgain)
{
    EngineHarness engine;
    engine.task.playbook[1].source.text += "build_ours=1\n";
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.evaluations, 17);
    EXPECT_EQ(engine.status.notRun, 0);
}

/// A source that its compiler does not survive ends alone: the run neither pauses nor meets it again when it is
/// resumed.
TEST(Device, Field02ACandidateThatNoCompilerSurvivesEndsAlone)
{
    EngineHarness engine;
    engine.task.playbook[1].source.text += "build_ours=1000\n";
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.notRun, 1);
    const std::string title = engine.task.playbook[1].title;
    const NodeSummary& node = engine.summary(title);
    EXPECT_EQ(node.outcome, Outcome::NotRun);
    EXPECT_EQ(node.cause, NotRunCause::Infrastructure);
    const int compiled = engine.ledger.compiled[engine.task.playbook[1].source.text];
    EXPECT_LE(compiled, 3) << "ahead of the judge, when its turn came, and once more";
    EXPECT_GT(engine.status.evaluations, 1) << "the others were judged";
    engine.drop();
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.ledger.compiled[engine.task.playbook[1].source.text], compiled) << "it is not met again";
}

/// Kernels that the judge cannot run, one after the other, say nothing of a device that runs the root.
TEST(Device, ManyThatCannotBeRunDoNotEndTheRun)
{
    EngineHarness engine;
    engine.task.playbook.clear();
    for (const char* id : {"one", "two", "three", "four", "five", "six"}) {
        const std::string text = fmt::format("{} outcome=not_run cause=infrastructure\n", id);
        engine.task.playbook.push_back(PlaybookIdea{id, "", id, "do it", {std::string(id) + ".cu", text}});
    }
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(engine.status.notRun, 6);
    EXPECT_EQ(engine.ledger.verified[engine.task.root.text], 1 + 6 / JudgeFaults::mostInRow) << "the controls";
}

TEST(Device, ANewDriverIsANewEpoch)
{
    EngineHarness engine;
    engine.options.budget = Budget{8, {}, {}};
    ASSERT_TRUE(engine.open());
    engine.run();
    const std::string before = engine.info.epoch;
    EXPECT_FALSE(before.empty());
    EXPECT_EQ(engine.ledger.timed[engine.task.root.text], 1);
    engine.drop();
    engine.hello = fakeHello("2.0");
    engine.options.budget = Budget{10, {}, {}};
    ASSERT_TRUE(engine.open());
    EXPECT_TRUE(engine.status.best);
    engine.run();
    EXPECT_NE(engine.info.epoch, before);
    EXPECT_EQ(engine.ledger.timed[engine.task.root.text], 2) << "the root is timed again";
    EXPECT_EQ(engine.status.evaluations, 10);
    // The best is of the new epoch: the root or one of the two new candidates, not an old one.
    ASSERT_TRUE(engine.status.best);
    EXPECT_TRUE(*engine.status.best == NodeId{1} || engine.nodes.at(*engine.status.best).title.starts_with("BLOCK"))
        << engine.nodes.at(*engine.status.best).title;
    ASSERT_FALSE(engine.log.empty());
    EXPECT_NE(engine.log.front().find("earlier figures are kept"), std::string::npos);
}

/// A measured session that has ended on one GPU and goes on on another one of its kind.
class AnotherDevice : public testing::Test
{
protected:
    void SetUp() override
    {
        engine.hello.simulated = false;
        engine.hello.deviceName = "NVIDIA H200";
        engine.hello.uuid = "GPU-a";
        engine.hello.deviceBytes = std::uint64_t{150'000'000'000};
        engine.options.budget = Budget{8, {}, {}};
        ASSERT_TRUE(engine.open());
        engine.run();
        ASSERT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
        epoch = engine.info.epoch;
        best = engine.status.best.value();
        roots = engine.ledger.timed[engine.task.root.text];
        bests = engine.ledger.timed[sourceOf(best)];
        engine.log.clear();
    }

    void goOn(double slowness, std::int64_t evaluations = 10, const std::string& device = "GPU-b")
    {
        engine.drop();
        engine.hello.uuid = device;
        engine.hello.deviceBytes += 4096; // as drivers tell it
        engine.ledger.slowness[device] = slowness;
        engine.options.budget = Budget{evaluations, {}, {}};
        ASSERT_TRUE(engine.open());
        engine.run();
        ASSERT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
        EXPECT_EQ(engine.info.epoch, epoch);
        EXPECT_EQ(engine.info.deviceUuid, device);
        EXPECT_EQ(engine.ledger.timed[engine.task.root.text], roots + 1) << "once";
    }
    std::string sourceOf(NodeId id) const
    {
        for (const StoredNode& node : engine.storedNodes()) {
            if (node.id == id) {
                return node.source;
            }
        }
        return {};
    }
    bool logged(const std::string& text) const
    {
        return std::any_of(engine.log.begin(), engine.log.end(),
                           [&](const std::string& line) { return line.find(text) != std::string::npos; });
    }

    EngineHarness engine;
    std::string epoch;
    NodeId best{0};
    int roots = 0, bests = 0;
};

TEST_F(AnotherDevice, WithinOnePercentNothingHappens)
{
    goOn(1.008);
    EXPECT_TRUE(engine.nodes.at(best).speedupRoot);
    EXPECT_FALSE(engine.nodes.at(best).timedElsewhere);
    EXPECT_EQ(engine.ledger.timed[sourceOf(best)], bests) << "what led leads still, and is not timed again";
    EXPECT_FALSE(logged("instead of"));
}

TEST_F(AnotherDevice, UpToThreePercentTheRatiosStayAndTimesAreMarked)
{
    goOn(1.02);
    EXPECT_TRUE(engine.nodes.at(best).timedElsewhere);
    EXPECT_FALSE(engine.nodes.at(NodeId{1}).timedElsewhere) << "it was timed here";
    EXPECT_EQ(engine.ledger.timed[sourceOf(best)], bests);
    EXPECT_TRUE(logged("where the root takes 102 us instead of 100: speed-ups stay as they were paired"));
    const int before = engine.ledger.timed[engine.task.root.text];
    engine.drop();
    engine.options.budget = Budget{11, {}, {}};
    ASSERT_TRUE(engine.open());
    EXPECT_TRUE(engine.nodes.at(best).timedElsewhere) << "as the session keeps it";
    engine.run();
    EXPECT_EQ(engine.ledger.timed[engine.task.root.text], before) << "the same device is looked at once";
}

TEST_F(AnotherDevice, BeyondThemWhatLeadsIsTimedAnew)
{
    goOn(1.10, 8);
    EXPECT_TRUE(logged("where the root takes 110 us instead of 100, more than 3 % off: what leads is timed anew"));
    EXPECT_GT(engine.ledger.timed[sourceOf(best)], bests);
    EXPECT_FALSE(engine.nodes.at(best).timedElsewhere);
    EXPECT_EQ(engine.status.evaluations, 8) << "beside the budget";
}

TEST_F(AnotherDevice, AKillBeforeTheRootIsTimedForgetsNothing)
{
    engine.drop();
    engine.hello.uuid = "GPU-b";
    engine.ledger.slowness["GPU-b"] = 1.10;
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    engine.drop();
    roots = engine.ledger.timed[engine.task.root.text];
    goOn(1.10, 8);
    EXPECT_TRUE(logged("more than 3 % off"));
}

TEST_F(AnotherDevice, AnyGpuMayBeNamed)
{
    engine.options.device = "cuda:0";
    goOn(1);
    EXPECT_EQ(engine.devices.back(), "cuda:0");
    for (const std::string& device : {std::string("cuda:3"), std::string("auto")}) {
        engine.drop();
        engine.options.device = device;
        engine.options.budget = Budget{device == "auto" ? 12 : 11, {}, {}};
        ASSERT_TRUE(engine.open());
        EXPECT_EQ(engine.info.device, device);
        engine.run();
        EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
        EXPECT_EQ(engine.devices.back(), device);
    }
    for (const std::string& device : {std::string("sim"), std::string("cuda:0,sim"), std::string("cuda")}) {
        engine.options.device = device;
        EXPECT_FALSE(engine.open()) << device;
    }
    engine.options.device.reset();
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.info.device, "auto");
}

TEST_F(AnotherDevice, AKillLeavesItsNameWithItsFacts)
{
    for (int writes = 1; writes <= 8; ++writes) {
        engine.drop();
        engine.hello.uuid = "GPU-" + std::to_string(writes);
        engine.hello.driver = "driver of " + engine.hello.uuid;
        engine.options.budget = Budget{8 + writes, {}, {}};
        engine.writesBeforeKill = writes;
        engine.runUnlessKilled();
        const auto store = Store::open(engine.options.session, Store::Mode::ReadOnly).value();
        const auto facts = store->value(DeviceFacts::key).value();
        EXPECT_EQ(DeviceFacts::parse(facts.value_or("")).uuid, store->info().deviceUuid) << writes;
    }
}

TEST_F(AnotherDevice, APauseBeforeTheRootIsTimedOnlyPutsItOff)
{
    engine.drop();
    engine.hello.uuid = "GPU-b";
    engine.ledger.slowness["GPU-b"] = 1.02;
    engine.options.budget = Budget{10, {}, {}};
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    engine.post(command::Pause{});
    engine.settle();
    ASSERT_EQ(engine.status.state, RunState::Paused);
    ASSERT_EQ(engine.ledger.timed[engine.task.root.text], roots);
    engine.run();
    EXPECT_EQ(engine.ledger.timed[engine.task.root.text], roots + 1) << "in the same process";
    EXPECT_TRUE(logged("absolute times from before are marked"));
    EXPECT_TRUE(engine.nodes.at(best).timedElsewhere);
}

/// What is only looked at again keeps the figure of the device before, which says nothing of this one.
TEST_F(AnotherDevice, ARootThatIsOnlyLookedAtIsNotTimed)
{
    engine.drop();
    engine.hello.uuid = "GPU-b";
    engine.ledger.slowness["GPU-b"] = 1.10;
    ASSERT_TRUE(engine.open());
    engine.post(command::JudgeAgain{NodeId{1}, Again::Profile});
    engine.settle();
    EXPECT_EQ(engine.failures.size(), 0U);
    const int looked = engine.ledger.timed[engine.task.root.text];
    EXPECT_FALSE(logged("instead of"));
    engine.post(command::JudgeAgain{NodeId{1}, Again::Verify});
    engine.settle();
    EXPECT_EQ(engine.ledger.timed[engine.task.root.text], looked + 1) << "it is to be timed here anyway";
    EXPECT_TRUE(logged("takes 110 us instead of 100"));
}

TEST_F(AnotherDevice, AFurtherMoveForgetsNoMark)
{
    goOn(1.10, 8);
    const auto marked = [this] {
        std::set<NodeId> nodes;
        for (const auto& [id, node] : engine.nodes) {
            if (node.timedElsewhere) {
                nodes.insert(id);
            }
        }
        return nodes;
    };
    const std::set<NodeId> before = marked();
    ASSERT_FALSE(before.empty());
    roots = engine.ledger.timed[engine.task.root.text];
    goOn(1.101, 8, "GPU-c"); // as GPU-b
    EXPECT_EQ(marked(), before) << "timed on the first device only";
    EXPECT_TRUE(logged("a device before that is more than 3 % off"));
    roots = engine.ledger.timed[engine.task.root.text];
    goOn(1.0, 8, "GPU-d"); // as GPU-a
    for (const NodeId node : before) {
        EXPECT_FALSE(engine.nodes.at(node).timedElsewhere) << node.value;
    }
}

TEST(DeviceChange, ANoisyRootHidesNoDrift)
{
    DeviceChange change;
    change.begin("GPU-a", Interval{100, 80, 120});
    EXPECT_TRUE(change.awaited());
    change.measured("GPU-b", Interval{110, 90, 130}, true);
    EXPECT_FALSE(change.awaited());
    EXPECT_EQ(change.worth("GPU-a"), DeviceChange::Worth::Anew);
    EXPECT_NE(change.sentence().find("(its noise is 20.0 %)"), std::string::npos) << change.sentence();
    change.begin("GPU-b", Interval{110, 109, 111});
    change.measured("GPU-c", Interval{102, 101, 103}, true);
    EXPECT_EQ(change.worth("GPU-a"), DeviceChange::Worth::Marked);
    EXPECT_EQ(change.worth("GPU-b"), DeviceChange::Worth::Anew);
}

TEST_F(AnotherDevice, TwoDevicesOfASessionAreNoChange)
{
    engine.drop();
    EXPECT_FALSE(DeviceChange::isAnother("GPU-a,GPU-b", "GPU-b"));
    EXPECT_TRUE(DeviceChange::isAnother("GPU-a", "GPU-a,GPU-b"));
    EXPECT_FALSE(DeviceChange::isAnother("", "GPU-a"));
    EXPECT_FALSE(DeviceChange::isAnother("GPU-a", ""));
}

TEST_F(AnotherDevice, WhatACandidatesTimeDependsOnIsTheEpoch)
{
    const Task task = fakeTask();
    const JudgeHello here = engine.hello;
    const std::string name = epochOf(here, "13.0.88", task);
    JudgeHello other = here;
    other.uuid = "GPU-z";
    EXPECT_EQ(epochOf(other, "13.0.88", task), name);
    EXPECT_NE(epochOf(here, "13.1.0", task), name);
    for (const auto& change : std::vector<std::function<void(JudgeHello&)>>{
             [](JudgeHello& hello) { hello.deviceName = "NVIDIA H100"; },
             [](JudgeHello& hello) { hello.deviceBytes /= 2; },
             [](JudgeHello& hello) { hello.driver = "581"; },
             [](JudgeHello& hello) { hello.architecture = "100"; },
             [](JudgeHello& hello) { hello.runtime = "13.1"; },
             [](JudgeHello& hello) { hello.simulated = true; },
         }) {
        other = here;
        change(other);
        EXPECT_NE(epochOf(other, "13.0.88", task), name);
    }
    Task flags = task;
    flags.build.flags = {"-O2"};
    EXPECT_NE(epochOf(here, "13.0.88", flags), name);
}

TEST(Device, ModelledAndMeasuredAreNeverMixed)
{
    EngineHarness engine;
    engine.options.budget = Budget{2, {}, {}};
    ASSERT_TRUE(engine.open());
    engine.run();
    engine.drop();
    engine.hello.simulated = false;
    engine.hello.deviceName = "NVIDIA H200";
    engine.options.budget = Budget{4, {}, {}};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.devices.back(), "sim") << "a session that ran on the model goes on there";
    EXPECT_EQ(engine.status.state, RunState::Failed);
    EXPECT_NE(engine.status.why.find("was measured on Simulated H200"), std::string::npos) << engine.status.why;
    EXPECT_EQ(engine.status.evaluations, 2);
}

TEST(Device, BaselinesAreBuiltForRealDevicesOnly)
{
    EngineHarness engine;
    engine.task.baselines.push_back({"rival", "Rival", {"baseline.cu", "rival time=10 build=failed"}, {}});
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_FALSE(engine.ledger.compiled.contains("rival time=10 build=failed"));
    EngineHarness real;
    real.task = engine.task;
    real.hello.simulated = false;
    ASSERT_TRUE(real.open());
    real.run();
    EXPECT_EQ(real.status.state, RunState::Finished);
    EXPECT_EQ(real.log.front(), "Baseline rival does not build and is left out: candidate.cu:1: expected a ';'");
    EXPECT_EQ(real.finished.back().provenance, Provenance::Measured);
}

} // namespace
} // namespace espalier
