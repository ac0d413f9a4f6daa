// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/engine_harness.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

std::string refusal(EngineHarness& engine)
{
    const auto opened = engine.open();
    return opened ? "opened" : opened.error().message;
}

TEST(Opening, ANewSessionHasItsRootAndDefaults)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.info.strategy, "refine");
    EXPECT_EQ(engine.info.proposers, (std::vector<std::string>{"playbook", "tuner"}));
    EXPECT_EQ(engine.info.seed, 1u);
    EXPECT_EQ(engine.info.device, "auto");
    ASSERT_EQ(engine.nodes.size(), 1u);
    EXPECT_EQ(engine.nodes.begin()->second.kind, NodeKind::Root);
    EXPECT_EQ(engine.nodes.begin()->second.state, NodeState::Queued);
}

TEST(Opening, WhatIsMissingOrUnknownIsNamed)
{
    EngineHarness engine;
    engine.options.task.reset();
    EXPECT_NE(refusal(engine).find("does not exist yet: name a task to start it with."), std::string::npos);
    engine.options.task = "fakee";
    EXPECT_EQ(refusal(engine), "There is no task \"fakee\".");
    engine.options.task = "fake";
    engine.options.device = "cuda";
    EXPECT_EQ(refusal(engine),
              "There is no device \"cuda\": choose auto, sim or cuda:N, such as cuda:0; several of one kind with "
              "commas between them.");
    engine.options.device = "sim";
    engine.options.strategy = "refin";
    EXPECT_EQ(refusal(engine),
              "There is no strategy \"refin\": choose from refine, beam, ucb, evolution, sample, manual.");
    engine.options.strategy.reset();
    engine.options.proposers = {"x"};
    EXPECT_EQ(refusal(engine),
              "There is no proposer \"x\": choose from playbook, tuner, llm, command, manual, replay.");
    engine.options.proposers.reset();
    engine.options.budget = Budget{-1, {}, {}};
    EXPECT_NE(refusal(engine).find("A budget cannot be negative"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(engine.options.session)) << "a refused session leaves no file";
}

TEST(Opening, AConflictingOptionIsAnError)
{
    EngineHarness engine;
    engine.options.device = "sim";
    engine.options.budget = Budget{1, {}, {}};
    ASSERT_TRUE(engine.open());
    engine.run();
    engine.drop();
    engine.options.seed = 2;
    EXPECT_NE(refusal(engine).find("was started with seed 1, not 2"), std::string::npos);
    engine.options.seed = 1;
    engine.options.device = "cuda:0";
    EXPECT_NE(refusal(engine).find("was started with device sim, not cuda:0"), std::string::npos);
    engine.options.device = "auto";
    EXPECT_EQ(refusal(engine), "opened");
    engine.drop();
    engine.task.id = "other";
    engine.options.task = "other";
    EXPECT_NE(refusal(engine).find("was started with task fake, not other"), std::string::npos);
}

TEST(Opening, TheIncumbentIsPartOfTheSession)
{
    EngineHarness engine;
    const ScratchFolder folder = *ScratchFolder::create("incumbent");
    const std::string file = (folder.path() / "old.cu").string();
    engine.options.incumbent = file;
    EXPECT_NE(refusal(engine).find("There is no file " + file), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(engine.options.session)) << "a refused session leaves no file";
    ASSERT_TRUE(writeFileAtomically(file, "old time=90\n"));
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.info.incumbent, file);
    engine.drop();
    engine.options.incumbent.reset();
    EXPECT_EQ(refusal(engine), "opened") << "it is remembered";
    engine.drop();
    engine.options.incumbent = "another.cu";
    EXPECT_NE(refusal(engine).find("was started with incumbent " + file + ", not another.cu"), std::string::npos);
    engine.options.incumbent = file;
    ASSERT_TRUE(writeFileAtomically(file, "old time=91\n"));
    EXPECT_NE(refusal(engine).find("The incumbent " + file + " has changed since"), std::string::npos);
}

TEST(Opening, AChangedTaskIsAnError)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.drop();
    engine.task.hash = "another";
    EXPECT_NE(refusal(engine).find("has changed since"), std::string::npos);
}

TEST(Opening, TheTaskIsFoundAgainWithoutItsName)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.drop();
    engine.options.task.reset();
    EXPECT_EQ(refusal(engine), "opened");
    engine.drop();
    engine.task.folder = "/moved/fake"; // built in, and installed elsewhere now
    EXPECT_EQ(refusal(engine), "opened");
}

TEST(Opening, ASessionThatHasRunNothingTakesAnotherDevice)
{
    EngineHarness engine;
    engine.options.device = "cuda:0";
    ASSERT_TRUE(engine.open());
    engine.drop();
    engine.options.device = "sim";
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.info.device, "sim");
    engine.drop();
    engine.options.device.reset();
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.info.device, "sim") << "the session keeps it";
}

TEST(Opening, AnAutoSessionThatBecameTheModelIsSim)
{
    EngineHarness engine;
    engine.options.budget = Budget{1, {}, {}};
    ASSERT_TRUE(engine.open());
    engine.run();
    engine.drop();
    engine.options.device = "sim";
    EXPECT_EQ(refusal(engine), "opened");
    engine.drop();
    engine.options.device = "cuda:0";
    EXPECT_NE(refusal(engine), "opened");
}

TEST(Opening, TwoEnginesDoNotShareASession)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    const auto second = EngineCore::open(engine.options, engine.parts(), [](const event::Event&) {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::Busy);
}

TEST(Opening, ASessionCutOffBeforeItsRootGetsIt)
{
    EngineHarness engine;
    SessionInfo info;
    info.taskId = "fake";
    info.taskFolder = "/tasks/fake";
    info.taskHash = engine.task.hash;
    info.device = "auto";
    info.strategy = "refine";
    info.proposers = {"playbook"};
    info.seed = 1;
    ASSERT_TRUE(Store::create(engine.options.session, info));
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.nodes.size(), 1u);
}

TEST(Opening, SomethingThatIsNoSessionIsSaidSo)
{
    EngineHarness engine;
    ASSERT_TRUE(writeFileAtomically(engine.options.session, "hello, I am a text and not a session\n"));
    const auto opened = engine.open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::InvalidInput);
}

} // namespace
} // namespace espalier
