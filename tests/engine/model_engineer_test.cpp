// SPDX-License-Identifier: Apache-2.0
// The engineer's part in a search by language models: questions, ideas, edits, hints and attached texts.
#include "tests/engine/model_search_harness.h"

#include <algorithm>

namespace espalier {
namespace {

using Kind = llm::ChatFailure::Kind;

TEST_F(ModelSearch, TheEngineerAsksAgainInOwnWords)
{
    script();
    open();
    engine.run();
    const NodeId node = engine.node("read wide vectors");
    world.say("implement fake: read wide vectors #1", kernelAnswer("fake asked time=35 "));
    world.say("idea fake: read wide vectors #2", "no ideas");
    world.say("idea fake: read wide vectors #2 again", "no ideas");
    engine.post(command::Ask{node, "Write it with float4. My words.", false});
    EXPECT_TRUE(engine.failures.empty());
    engine.drop(); // what was asked for survives the process
    open();
    engine.run();
    EXPECT_EQ(world.request("implement fake: read wide vectors #1")->messages.back().text,
              "Write it with float4. My words.");
    EXPECT_EQ(engine.summary("read wide vectors #2").outcome, Outcome::Passed);
    engine.post(command::FetchDetail{engine.node("read wide vectors #2")});
    EXPECT_EQ(engine.detail->why, "the engineer asked");
    world.say("idea fake: root", ideasAnswer({"split each row over blocks"}));
    world.say("implement fake: split each row over blocks #0", kernelAnswer("fake split time=90 "));
    engine.post(command::Ask{NodeId{1}, "Only ideas about occupancy.", true});
    engine.run();
    EXPECT_EQ(world.request("idea fake: root")->messages.back().text, "Only ideas about occupancy.");
    EXPECT_EQ(engine.summary("split each row over blocks").outcome, Outcome::Passed);
}

TEST_F(ModelSearch, AModelImplementsTheEngineersIdea)
{
    script();
    open();
    engine.run();
    world.say("implement fake: skip the tail #0", kernelAnswer("fake skip time=20 "));
    world.say("idea fake: skip the tail", "no ideas");
    world.say("idea fake: skip the tail again", "no ideas");
    engine.post(command::AddIdea{engine.node("read wide vectors"), "skip the tails", "first words"});
    const NodeId idea = engine.node("skip the tails");
    engine.post(command::EditIdea{idea, "skip the tail", "Rows are a multiple of four: drop the last branch."});
    ASSERT_TRUE(engine.failures.empty()) << engine.failures[0].error.message;
    engine.drop(); // it waits in the session
    open();
    engine.run();
    EXPECT_EQ(world.unknown, "");
    EXPECT_EQ(engine.nodes.at(idea).proposer, "engineer");
    EXPECT_EQ(engine.nodes.at(idea).state, NodeState::Done);
    const NodeSummary& made = engine.summary("skip the tail");
    EXPECT_EQ(made.kind, NodeKind::Candidate);
    EXPECT_EQ(made.proposer, "llm");
    EXPECT_EQ(made.outcome, Outcome::Passed);
    EXPECT_EQ(engine.status.best, made.id);
    EXPECT_NE(world.request("implement fake: skip the tail #0")->messages.back().text.find("drop the last branch"),
              std::string::npos);
}

TEST_F(ModelSearch, AnEditedIdeaOfThePlaybookIsWrittenAsItReadsNow)
{
    engine.options.proposers = {"playbook", "llm"};
    engine.task.playbook = {PlaybookIdea{"vector", "", "vector", "do vector", {"vector.cu", "vector time=80 \n"}},
                            PlaybookIdea{"warp", "", "warp", "do warp", {"warp.cu", "warp time=200 \n"}}};
    world.say("idea fake: root", ideasAnswer({}));
    open();
    engine.post(command::Step{});
    engine.settle();
    const NodeId warp = engine.idea("warp");
    ASSERT_EQ(engine.nodes.at(warp).state, NodeState::Draft) << engine.tree();
    world.say("implement fake: by halves #0", kernelAnswer("fake halves time=50 "));
    world.say("idea fake: by halves", "no ideas");
    world.say("idea fake: by halves again", "no ideas");
    engine.post(command::EditIdea{warp, "by halves", "Give each warp half a row."});
    engine.post(command::Undo{});
    engine.post(command::EditIdea{warp, "by halves", "Give each warp half a row."});
    ASSERT_TRUE(engine.failures.empty()) << engine.failures[0].error.message;
    open();
    engine.run();
    const NodeSummary& made = engine.summary("by halves");
    EXPECT_EQ(made.parents.front().parent, warp) << engine.tree();
    EXPECT_EQ(made.proposer, "llm");
    EXPECT_EQ(made.speedupRoot->value, 2);
    EXPECT_EQ(engine.ledger.verified.count("warp time=200 \n"), 0u);
    EXPECT_NE(world.request("implement fake: by halves #0")->messages.back().text.find("half a row"),
              std::string::npos);
}

TEST_F(ModelSearch, AnEditThatWasTakenBackLeavesTheIdeaToThePlaybook)
{
    engine.options.proposers = {"playbook", "llm"};
    engine.task.playbook = {
        PlaybookIdea{"vector", "", "vector", "do vector", {"vector.cu", "vector time=80 \n"}},
        PlaybookIdea{"warp", "", "warp", "do warp", {"warp.cu", "warp time=200 \n"}},
        PlaybookIdea{"cluster", "", "cluster", "do cluster", {"cluster.cu", "cluster time=300 \n"}}};
    world.say("idea fake: root", ideasAnswer({}));
    open();
    engine.post(command::Step{});
    engine.settle();
    const NodeId warp = engine.idea("warp"), cluster = engine.idea("cluster");
    engine.post(command::EditIdea{warp, "by halves", "Give each warp half a row."});
    engine.post(command::Undo{});
    engine.post(command::EditIdea{cluster, "cluster", "Give each cluster a row."});
    engine.post(command::EditIdea{cluster, "cluster", "do cluster"}); // as it was
    ASSERT_TRUE(engine.failures.empty()) << engine.failures[0].error.message;
    engine.run();
    EXPECT_EQ(engine.summary("warp").proposer, "playbook") << engine.tree();
    EXPECT_EQ(engine.summary("warp").outcome, Outcome::Passed);
    EXPECT_EQ(engine.summary("cluster").proposer, "playbook") << engine.tree();
    EXPECT_EQ(engine.summary("cluster").outcome, Outcome::Passed);
}

TEST_F(ModelSearch, HintsAndAttachedTextsGoIntoPrompts)
{
    script();
    open();
    engine.post(command::AddHint{"Never use shared memory."});
    engine.post(command::Attach{"notes.md", "Rows are always short."});
    engine.drop();
    open();
    engine.run();
    const std::string prompt = world.request("idea fake: root")->messages.back().text;
    EXPECT_NE(prompt.find("- Never use shared memory."), std::string::npos);
    EXPECT_NE(prompt.find("Rows are always short."), std::string::npos);
    EXPECT_NE(
        world.request("implement fake: read wide vectors #0")->messages.back().text.find("Rows are always short."),
        std::string::npos);
    engine.drop();
    const Exchange first = stored().front();
    const auto part = std::find_if(first.parts.begin(), first.parts.end(),
                                   [](const PromptPart& one) { return one.channel == "attachments"; });
    ASSERT_NE(part, first.parts.end());
    EXPECT_TRUE(part->sent);
    EXPECT_EQ(part->files, std::vector<std::string>{"notes.md"});
}

} // namespace
} // namespace espalier
