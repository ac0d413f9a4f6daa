// SPDX-License-Identifier: Apache-2.0
// Who takes part in a search: by default, and when others join or leave.
#include "core/engine/participants.h"
#include "core/propose/llm/profile_record.h"
#include "core/search/act_words.h"
#include "tests/engine/model_search_harness.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

using Names = std::vector<std::string>;

std::string record(const std::string& name)
{
    llm::ModelProfile profile;
    profile.name = name;
    profile.provider = "openai";
    profile.model = name;
    return recordOf(profile);
}

std::string refusalOf(const Participants& now, const command::ChangeProposers& change)
{
    const auto result = changed(now, change);
    return result ? "done" : result.error().message;
}

TEST(Participants, TheUsualOnesAreAllThatCanTakePart)
{
    EXPECT_EQ(usualProposers(false), (Names{"playbook", "tuner"}));
    EXPECT_EQ(usualProposers(true), (Names{"playbook", "tuner", "llm"}));
}

TEST(Participants, JoinAndLeave)
{
    const Participants now{{"playbook", "tuner"}, {}, ""};
    EXPECT_EQ(changed(now, {{"manual"}, {}, {}, ""})->names, (Names{"playbook", "tuner", "manual"}));
    EXPECT_EQ(changed(now, {{}, {"playbook"}, {}, ""})->names, Names{"tuner"});
    EXPECT_EQ(changed(now, {{"manual"}, {"playbook", "tuner"}, {}, ""})->names, Names{"manual"});
    const auto with = changed(now, {{}, {}, {record("small")}, "{}"});
    EXPECT_EQ(with->names, (Names{"playbook", "tuner", "llm"})) << "a model brings who asks it";
    EXPECT_EQ(with->models, Names{record("small")});
    EXPECT_EQ(with->llm, "{}");
    const auto two = changed(*with, {{"llm"}, {}, {record("large"), record("small")}, ""});
    EXPECT_EQ(two->models, (Names{record("small"), record("large")}));
    EXPECT_EQ(two->names, with->names);
    EXPECT_EQ(changed(*two, {{}, {"llm"}, {}, ""})->models, two->models) << "they are remembered";
}

TEST(Participants, AModelThatNobodyAsksBringsTheProposerThatDoes)
{
    const auto of = [](const char* provider) {
        llm::ModelProfile profile;
        profile.name = profile.model = profile.provider = provider;
        return profile;
    };
    const auto joined = [&](const Names& names, const char* provider) {
        return changed({names, {}, ""}, {{}, {}, {recordOf(of(provider))}, ""})->names;
    };
    for (const char* own : {"manual", "command", "replay"}) {
        EXPECT_EQ(joined({"playbook", own}, "openai"), (Names{"playbook", own, "llm"})) << own;
        EXPECT_EQ(joined({"playbook", own}, own), (Names{"playbook", own}));
    }
    EXPECT_EQ(joined({"llm"}, "command"), Names{"llm"});
    EXPECT_FALSE(allAreAsked({"command"}, {of("command"), of("openai")}));
    EXPECT_TRUE(allAreAsked({"command", "llm"}, {of("command"), of("openai")}));
    EXPECT_TRUE(allAreAsked({"playbook"}, {}));
    SessionInfo info;
    info.proposers = {"playbook", "manual"};
    EngineOptions options;
    EXPECT_EQ(namesFor(info, options), info.proposers);
    options.models = {of("openai")};
    EXPECT_EQ(namesFor(info, options), (Names{"playbook", "manual", "llm"}));
}

TEST(Participants, WhatCannotBeIsOneSentence)
{
    const Participants now{{"playbook", "tuner"}, {}, ""};
    EXPECT_EQ(refusalOf(now, {}), "Nobody is named: say which proposers join, or which leave.");
    EXPECT_EQ(refusalOf(now, {{"tuner"}, {}, {}, ""}), "The proposer tuner takes part already.");
    EXPECT_EQ(refusalOf(now, {{}, {"llm"}, {}, ""}), "The proposer llm takes no part: playbook, tuner do.");
    EXPECT_NE(refusalOf(now, {{}, {"tuner", "playbook"}, {}, ""}).find("Nobody would be left"), std::string::npos);
    EXPECT_NE(refusalOf(now, {{}, {}, {"no json"}, ""}), "done");
}

TEST(Participants, TheActSaysWhoJoinedAndWhoLeft)
{
    const Participants before{{"playbook", "tuner"}, {record("small")}, ""};
    const Participants after{{"tuner", "llm"}, {record("small"), record("large")}, ""};
    EXPECT_EQ(actInWords(actOf(before, after).dump()), "proposers, add llm, remove playbook, model large");
}

TEST(Participants, AreReadBackAsTheyWere)
{
    const Participants now{{"playbook", "llm"}, {record("small")}, recordOf(LlmSettings{.ideas = 7})};
    EXPECT_EQ(participantsFrom(toJson(now)).value(), now);
    EXPECT_FALSE(participantsFrom(Json("x")));
}

int questionsUnder(const ModelWorld& world, const std::string& name)
{
    const auto found = world.counts.find(name);
    return found == world.counts.end() ? 0 : found->second;
}

/// Two kernels of the playbook's, and a model that joins later or leaves.
class ProposersChange : public ModelSearch
{
protected:
    ProposersChange()
    {
        engine.options.proposers = {"playbook", "tuner"};
        engine.task.playbook = {PlaybookIdea{"vector", "", "vector", "do vector", {"vector.cu", "vector time=80 \n"}},
                                PlaybookIdea{"warp", "", "warp", "do warp", {"warp.cu", "warp time=90 \n"}}};
        world.say("idea fake: root", ideasAnswer({"keep rows in registers"}));
        world.say("implement fake: keep rows in registers #0", kernelAnswer("fake regs time=60 \n"));
        for (const char* parent : {"vector", "warp", "keep rows in registers"}) {
            world.say(std::string("idea fake: ") + parent, ideasAnswer({}));
        }
    }
    /// Runs until the model has been asked once more, and does not answer.
    void runUntilAsked()
    {
        const std::size_t before = world.left.size();
        world.silent = true;
        engine.post(command::Run{});
        for (int i = 0; i < 200 && world.left.size() == before; ++i) {
            engine.turn();
        }
        ASSERT_EQ(world.left.size(), before + 1);
    }
    void answerAll()
    {
        ASSERT_TRUE(engine.failures.empty()) << engine.failures[0].error.message;
        world.silent = false;
        engine.settle();
        EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
        EXPECT_EQ(world.unknown, "");
    }
    static command::ChangeProposers join(const std::string& name) { return {{name}, {}, {}, ""}; }
    static command::ChangeProposers leave(const std::string& name) { return {{}, {name}, {}, ""}; }
};

TEST_F(ProposersChange, AModelThatJoinsIsAskedUnderWhatIsThereAlready)
{
    open();
    engine.run();
    ASSERT_EQ(engine.status.evaluations, 2) << engine.tree();
    engine.post(join("llm"));
    ASSERT_TRUE(engine.failures.empty()) << engine.failures[0].error.message;
    EXPECT_EQ(engine.info.proposers, (Names{"playbook", "tuner", "llm"}));
    engine.drop(); // it is the session's, not the process's
    engine.options.proposers.reset();
    open();
    EXPECT_EQ(engine.info.proposers, (Names{"playbook", "tuner", "llm"}));
    engine.run();
    EXPECT_EQ(world.unknown, "");
    EXPECT_EQ(engine.status.evaluations, 3) << engine.tree();
    EXPECT_EQ(engine.summary("keep rows in registers").outcome, Outcome::Passed);
    EXPECT_EQ(questionsUnder(world, "idea fake: root"), 1);
    EXPECT_EQ(questionsUnder(world, "idea fake: vector"), 1);
    engine.run();
    EXPECT_EQ(questionsUnder(world, "idea fake: root"), 1) << "nobody is asked twice";
    EXPECT_EQ(engine.status.evaluations, 3);
}

TEST_F(ProposersChange, WhoeverJoinsWhileItRunsFindsTheSameTree)
{
    EngineHarness& one = engine;
    open();
    one.post(command::Run{});
    one.turn();
    one.post(join("llm"));
    one.settle();
    EXPECT_TRUE(one.failures.empty());
    EXPECT_EQ(one.status.evaluations, 3) << one.tree();
    EXPECT_EQ(one.status.best, one.node("keep rows in registers"));
}

TEST_F(ProposersChange, WhoeverJoinsWhileAQuestionIsOpenIsAskedNext)
{
    engine.options.proposers = {"llm"};
    open();
    runUntilAsked();
    engine.post(join("playbook"));
    answerAll();
    for (const char* title : {"keep rows in registers", "vector", "warp"}) {
        EXPECT_EQ(engine.summary(title).outcome, Outcome::Passed) << engine.tree();
    }
    const std::string tree = engine.tree();
    engine.options.proposers.reset();
    open(); // nobody was left out who would be asked after a restart
    engine.run();
    EXPECT_EQ(engine.tree(), tree);
}

TEST_F(ProposersChange, AModelThatIsReplacedWhileItsQuestionIsOpenIsAskedAgain)
{
    engine.options.proposers = {"llm"};
    open();
    runUntilAsked();
    engine.post(command::ChangeProposers{{"llm"}, {}, {record("other")}, ""});
    answerAll();
    EXPECT_EQ(questionsUnder(world, "idea fake: root"), 2);
    EXPECT_EQ(engine.summary("keep rows in registers").outcome, Outcome::Passed) << engine.tree();
}

TEST_F(ProposersChange, WhatTheEngineerAskedIsAskedOfTheReplacement)
{
    engine.options.proposers = {"llm"};
    world.say("idea fake: root", ideasAnswer({"split the rows"}));
    world.say("implement fake: split the rows #0", kernelAnswer("fake split time=50 \n"));
    world.say("idea fake: split the rows", ideasAnswer({}));
    open();
    engine.run();
    ASSERT_EQ(engine.status.evaluations, 1) << engine.tree();
    engine.post(command::Ask{taskRoot, "", true});
    runUntilAsked();
    engine.post(command::ChangeProposers{{"llm"}, {}, {record("other")}, ""});
    answerAll();
    EXPECT_EQ(questionsUnder(world, "idea fake: root"), 3);
    EXPECT_EQ(engine.summary("split the rows").outcome, Outcome::Passed) << engine.tree();
}

/// Each has its own answer, though both are asked about the same parent.
TEST_F(ProposersChange, AModelThatJoinsDoesNotGetTheAnswerOfAnother)
{
    engine.makeProposers = [this](const ProposerChoice& choice) -> Result<std::vector<std::unique_ptr<Proposer>>> {
        std::vector<std::unique_ptr<Proposer>> made;
        for (const std::string& name : choice.names) {
            made.push_back(scriptedProposer(world, settings, models, name));
        }
        return made;
    };
    engine.options.proposers = {"llm"};
    world.say("idea fake: root", ideasAnswer({"split the rows"}));
    world.say("implement fake: split the rows #0", kernelAnswer("fake split time=50 \n"));
    world.say("idea fake: split the rows", ideasAnswer({}));
    open();
    engine.run();
    engine.post(join("command"));
    engine.run();
    EXPECT_EQ(world.unknown, "");
    EXPECT_EQ(questionsUnder(world, "idea fake: root"), 2);
    EXPECT_EQ(engine.summary("split the rows").proposer, "command") << engine.tree();
    EXPECT_EQ(engine.summary("split the rows").outcome, Outcome::Passed);
}

TEST_F(ProposersChange, AModelThatLeavesTakesItsQuestionsAlong)
{
    engine.options.proposers = {"playbook", "llm"};
    world.silent = true;
    open();
    engine.post(command::Run{});
    for (int i = 0; i < 50; ++i) {
        engine.turn();
    }
    ASSERT_EQ(engine.status.asking, 1);
    engine.post(leave("llm"));
    ASSERT_TRUE(engine.failures.empty()) << engine.failures[0].error.message;
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.evaluations, 2) << "the playbook's";
    EXPECT_EQ(engine.status.asking, 0);

    // Taken back, after a restart too: it is asked again.
    world.silent = false;
    engine.drop();
    const std::vector<Exchange> asked = stored();
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_NE(asked[0].state, Exchange::State::Sent) << "nobody waits for it";
    EXPECT_NE(asked[0].state, Exchange::State::Answered);
    engine.options.proposers.reset();
    open();
    engine.post(command::Undo{});
    ASSERT_TRUE(engine.failures.empty()) << engine.failures[0].error.message;
    EXPECT_EQ(engine.info.proposers, (Names{"playbook", "llm"}));
    engine.run();
    EXPECT_EQ(engine.summary("keep rows in registers").outcome, Outcome::Passed) << engine.tree();
}

TEST_F(ProposersChange, AKernelThatWasAskedForOfOneWhoLeftEndsWithoutASource)
{
    engine.options.proposers = {"llm"};
    world.replies["idea fake: root"].clear();
    world.say("idea fake: root", ideasAnswer({}));
    open();
    engine.run(); // the model has no ideas; the engineer has one, which it is to write
    engine.post(command::AddIdea{NodeId{1}, "skip the tail", "Rows are a multiple of four."});
    world.silent = true;
    engine.post(command::Run{});
    for (int i = 0; i < 200 && questionsUnder(world, "implement fake: skip the tail #0") == 0; ++i) {
        engine.turn();
    }
    ASSERT_EQ(questionsUnder(world, "implement fake: skip the tail #0"), 1);
    engine.post(command::ChangeProposers{{"playbook"}, {"llm"}, {}, ""});
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.evaluations, 2) << engine.tree();
    const NodeSummary& left = engine.summary("skip the tail");
    EXPECT_EQ(left.cause, NotRunCause::NoSource) << engine.tree();
    EXPECT_NE(left.reason.find("takes no part in this run"), std::string::npos) << left.reason;
}

TEST_F(ProposersChange, OptionsOfARunChangeWhoTakesPartAndThatCanBeTakenBack)
{
    open();
    engine.run();
    engine.options.proposers = Names{"tuner", "llm"};
    open();
    EXPECT_EQ(engine.info.proposers, (Names{"tuner", "llm"}));
    engine.run();
    EXPECT_EQ(engine.summary("keep rows in registers").outcome, Outcome::Passed) << engine.tree();
    engine.options.proposers.reset();
    open();
    EXPECT_EQ(engine.info.proposers, (Names{"tuner", "llm"}));
    engine.post(command::Undo{});
    EXPECT_EQ(engine.info.proposers, (Names{"playbook", "tuner"}));
    engine.drop();
    const auto acts = Store::open(engine.options.session, Store::Mode::ReadOnly).value()->acts().value();
    const auto named = [&acts](const char* words) {
        return std::any_of(acts.begin(), acts.end(),
                           [words](const StoredAct& act) { return act.what.find(words) != std::string::npos; });
    };
    EXPECT_TRUE(named(R"("act":"proposers")"));
    EXPECT_TRUE(named(R"("add":["llm"])"));
    EXPECT_TRUE(named(R"("remove":["playbook"])"));
}

TEST_F(ProposersChange, AModelThatIsNamedJoinsASessionThatHadNone)
{
    open();
    engine.run();
    llm::ModelProfile profile;
    profile.provider = profile.model = profile.name = "openai";
    engine.options.proposers.reset();
    engine.options.models = {profile};
    open();
    EXPECT_EQ(engine.info.proposers, (Names{"playbook", "tuner", "llm"}));
    engine.options.proposers = Names{"playbook"};
    const auto refused = engine.open();
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("nobody asks it"), std::string::npos) << refused.error().message;
}

TEST_F(ProposersChange, AModelIsThereByDefaultBesideThePlaybookAndTheTuner)
{
    llm::ModelProfile profile;
    profile.provider = profile.model = profile.name = "openai";
    engine.options.proposers.reset();
    engine.options.models = {profile};
    open();
    EXPECT_EQ(engine.info.proposers, (Names{"playbook", "tuner", "llm"}));
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 3) << engine.tree();
}

TEST_F(ProposersChange, WhatIsRefusedChangesNothing)
{
    open();
    engine.post(join("tuner"));
    engine.post(leave("llm"));
    engine.post(join("playbok"));
    ASSERT_EQ(engine.failures.size(), 3u);
    EXPECT_EQ(engine.failures[0].error.message, "The proposer tuner takes part already.");
    EXPECT_EQ(engine.failures[0].what, "proposers");
    EXPECT_NE(engine.failures[2].error.message.find("There is no proposer \"playbok\""), std::string::npos);
    EXPECT_EQ(engine.info.proposers, (Names{"playbook", "tuner"}));
    engine.post(command::Undo{});
    EXPECT_EQ(engine.failures.size(), 4u) << "nothing was done";
}

TEST_F(ProposersChange, AModelsKernelIsTunedThoughItsIdeasNeverEnd)
{
    engine.options.proposers = {"playbook", "tuner", "llm"};
    engine.task.playbook.clear();
    const std::string tunables = "// espalier: tune BLOCK = 64 128 256 512\n#define BLOCK 128\n";
    world.replies.clear();
    // Under every kernel of its there are two further ideas, each a little faster.
    std::vector<std::string> open = {"root"};
    for (int i = 0; i < 40 && !open.empty(); ++i) {
        const std::string parent = open.front();
        open.erase(open.begin());
        const Names titles = {fmt::format("change {} of the loads", 2 * i),
                              fmt::format("change {} of the stores", 2 * i + 1)};
        world.say("idea fake: " + parent, ideasAnswer(titles));
        for (const std::string& title : titles) {
            world.say("implement fake: " + title + " #0",
                      kernelAnswer(fmt::format("fake {} time={} \n{}", title, 90 - i, tunables)));
            open.push_back(title);
        }
    }
    engine.options.budget = Budget{.evaluations = 14};
    this->open();
    engine.run();
    const auto tuned = std::count_if(engine.nodes.begin(), engine.nodes.end(), [](const auto& entry) {
        return entry.second.kind == NodeKind::Candidate && entry.second.proposer == "tuner";
    });
    const auto written = std::count_if(engine.nodes.begin(), engine.nodes.end(), [](const auto& entry) {
        return entry.second.kind == NodeKind::Candidate && entry.second.proposer == "llm";
    });
    EXPECT_EQ(engine.status.evaluations, 14);
    EXPECT_GE(tuned, 4) << engine.tree();
    EXPECT_GE(written, 4) << engine.tree();
}

} // namespace
} // namespace espalier
