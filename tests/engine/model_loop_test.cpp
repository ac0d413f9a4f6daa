// SPDX-License-Identifier: Apache-2.0
// The loop survives what an honest model or engineer does: answers of no use, kernels that fail in every way, budgets
// that are used up while something of the engineer's waits.
#include "tests/engine/live_acts.h"
#include "tests/engine/model_search_harness.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

class ModelLoop : public ModelSearch
{
protected:
    bool promptHolds(const std::string& name, const std::string& words) const
    {
        const llm::ChatRequest* request = world.request(name);
        EXPECT_NE(request, nullptr) << name;
        return request && request->messages.back().text.find(words) != std::string::npos;
    }
    /// A model that has nothing to say under what it wrote.
    void silentUnder(const std::vector<std::string>& parents)
    {
        for (const std::string& parent : parents) {
            world.say("idea fake: " + parent, ideasAnswer({}));
        }
    }
};

TEST_F(ModelLoop, AQuestionForIdeasIsAskedAgainWithTheReason)
{
    world.say("idea fake: root", "I would look at the memory first.");
    world.say("idea fake: root again", ideasAnswer({"keep rows in registers"}));
    world.say("implement fake: keep rows in registers #0", kernelAnswer("fake regs time=60 \n"));
    silentUnder({"keep rows in registers"});
    open();
    engine.run();
    EXPECT_EQ(world.unknown, "");
    EXPECT_FALSE(promptHolds("idea fake: root", "of no use"));
    EXPECT_TRUE(promptHolds("idea fake: root again", "Your answer before this one was of no use"));
    EXPECT_TRUE(promptHolds("idea fake: root again", "It holds no list of ideas."));
    EXPECT_EQ(engine.summary("keep rows in registers").outcome, Outcome::Passed);
}

TEST_F(ModelLoop, TheReasonIsToldInThePromptsOfAUserToo)
{
    models = {"alpha"};
    world.say("idea fake: root", ideasAnswer({"keep rows in registers"}));
    world.say("implement fake: keep rows in registers #0", "Use registers.");
    world.say("implement fake: keep rows in registers #0 again", kernelAnswer("fake regs time=60 \n"));
    silentUnder({"keep rows in registers"});
    open();
    engine.run();
    EXPECT_TRUE(promptHolds("implement fake: keep rows in registers #0 again", "It holds no CUDA source."));
    // In words of the engineer's own it stands at the end.
    world.say("implement fake: keep rows in registers #1", "no");
    world.say("implement fake: keep rows in registers #1 again", kernelAnswer("fake own time=50 \n"));
    silentUnder({"keep rows in registers #2"});
    engine.post(command::Ask{engine.node("keep rows in registers"), "My words.", false});
    engine.run();
    EXPECT_EQ(world.unknown, "");
    EXPECT_TRUE(promptHolds("implement fake: keep rows in registers #1 again",
                            "My words.\n\nYour answer before this one was of no use: It holds no CUDA source."));
}

TEST_F(ModelLoop, IdeasThatWaitUnderOtherKernelsStandInThePrompt)
{
    settings.ideas = 9;
    // More than are asked for at once: the first one is judged, and asked for ideas, while others wait.
    const std::vector<std::string> titles = {"registers", "vectors", "splitting", "prefetch",   "unrolling",
                                             "swizzling", "warps",   "clusters",  "last of all"};
    world.say("idea fake: root", ideasAnswer(titles));
    for (std::size_t i = 0; i < titles.size(); ++i) {
        world.say(fmt::format("implement fake: {} #0", titles[i]),
                  kernelAnswer(fmt::format("fake {} time={} \n", titles[i], 40 + i)));
    }
    silentUnder(titles);
    open();
    engine.run();
    EXPECT_EQ(world.unknown, "");
    const std::string heading = "## Ideas that wait under other kernels of this search";
    EXPECT_FALSE(promptHolds("idea fake: root", heading));
    const llm::ChatRequest* asked = nullptr;
    for (const llm::ChatRequest& one : world.left) {
        const bool told = one.purpose == "idea" && one.messages.back().text.find(heading) != std::string::npos;
        asked = told ? &one : asked;
    }
    ASSERT_NE(asked, nullptr) << "no question was asked while another idea waited\n" << engine.tree();
    const std::string& prompt = asked->messages.back().text;
    EXPECT_NE(prompt.find("last of all: We last of all.", prompt.find(heading)), std::string::npos) << prompt;
}

// --- the engineer's own kernels and the budget

TEST(OwnKernels, AreJudgedThoughTheBudgetIsUsedUp)
{
    for (const Budget& budget :
         {Budget{.evaluations = 2}, Budget{.evaluations = 0}, Budget{.seconds = 0.001}, Budget{.target = 1.01}}) {
        EngineHarness engine;
        engine.options.budget = budget;
        ASSERT_TRUE(engine.open());
        engine.run();
        ASSERT_EQ(engine.status.state, RunState::Finished);
        const std::int64_t before = engine.status.evaluations;
        engine.post(command::Inject{std::nullopt, "own root", "own time=66\n"});
        engine.post(command::Inject{NodeId{1}, "own kernel", "own time=33\n"});
        engine.drop(); // given to a closed session it is judged when that runs
        ASSERT_TRUE(engine.open());
        engine.run();
        EXPECT_EQ(engine.status.state, RunState::Finished);
        EXPECT_EQ(engine.summary("own kernel").outcome, Outcome::Passed) << engine.tree();
        EXPECT_EQ(engine.summary("own root").outcome, Outcome::Passed) << engine.tree();
        EXPECT_EQ(engine.status.evaluations, before + 2) << "and nothing else is";
        EXPECT_EQ(engine.status.best, engine.node("own kernel"));
    }
}

TEST(OwnKernels, GivenWhileTheLastOnesAreJudgedAreJudgedToo)
{
    EngineHarness engine;
    engine.options.budget = Budget{.evaluations = 3};
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    turnUntil(engine, [&] { return engine.status.evaluations == 2; });
    engine.post(command::Inject{NodeId{1}, "own kernel", "own time=33\n"});
    engine.settle();
    EXPECT_EQ(engine.summary("own kernel").outcome, Outcome::Passed) << engine.tree();
    EXPECT_LE(engine.status.evaluations, 4);
    EXPECT_GE(engine.status.evaluations, 3);
}

TEST(OwnKernels, InABranchThatHasSpentItsBudgetAreJudged)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::SetBranchBudget{NodeId{1}, {.evaluations = 1}});
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 1) << engine.tree();
    engine.post(command::Inject{NodeId{1}, "own kernel", "own time=33\n"});
    engine.run();
    EXPECT_EQ(engine.summary("own kernel").outcome, Outcome::Passed) << engine.tree();
    EXPECT_EQ(engine.status.evaluations, 2);
}

// --- branch budgets

TEST_F(ModelLoop, WhatIsNoEvaluationOfTheSessionIsNoneOfABranch)
{
    world.say("idea fake: root", ideasAnswer({"keep rows in registers", "read wide vectors", "split the rows"}));
    world.say("implement fake: keep rows in registers #0", "I cannot.");
    world.say("implement fake: keep rows in registers #0 again", "I cannot.");
    world.say("implement fake: read wide vectors #0", kernelAnswer("fake wide time=60 \n"));
    world.say("implement fake: split the rows #0", kernelAnswer("fake split time=70 \n"));
    silentUnder({"read wide vectors", "split the rows"});
    open();
    engine.post(command::SetBranchBudget{NodeId{1}, {.evaluations = 2}});
    engine.run();
    EXPECT_EQ(engine.summary("keep rows in registers").cause, NotRunCause::NoSource);
    EXPECT_EQ(engine.status.evaluations, 2) << engine.tree();
    EXPECT_EQ(engine.nodes.at(NodeId{1}).branchSpent.evaluations, 2);
    EXPECT_EQ(engine.summary("split the rows").outcome, Outcome::Passed) << engine.tree();
    engine.drop();
    engine.expectSpendingAsRead(NodeId{1});
    open();
    engine.turn();
    EXPECT_EQ(engine.nodes.at(NodeId{1}).branchSpent.evaluations, 2);
}

TEST(BranchBudgets, WhatIsPrunedBeforeItRanIsGivenBack)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::SetBranchBudget{NodeId{1}, {.evaluations = 5}});
    engine.post(command::Inject{NodeId{1}, "own kernel", "own time=33\n"});
    engine.turn();
    const auto spent = [&engine] { return engine.nodes.at(NodeId{1}).branchSpent.evaluations; };
    engine.post(command::Step{});
    engine.settle();
    const std::int64_t with = spent();
    engine.post(command::Inject{NodeId{1}, "another", "another time=34\n"});
    engine.post(command::SetPruned{engine.node("another"), true});
    engine.post(command::Step{});
    engine.settle();
    EXPECT_LE(spent(), with + 1) << engine.tree();
    engine.run();
    EXPECT_EQ(spent(), 5) << engine.tree();
    EXPECT_EQ(engine.status.evaluations, 5) << engine.tree();
    engine.drop();
    engine.expectSpendingAsRead(NodeId{1});
}

// --- a model that makes every mistake

TEST_F(ModelLoop, EveryFaultInTurnEndsNothingAndTheGoodKernelsStay)
{
    struct Fault {
        std::string name, answer;
    };
    std::vector<Fault> faults;
    for (const char* kind :
         {"build=failed", "outcome=incorrect", "outcome=suspicious", "outcome=runtime_failed", "outcome=timed_out"}) {
        faults.push_back({kind, kernelAnswer(fmt::format("fake {} \n", kind))});
    }
    faults.push_back({"words alone", "I would use registers."});
    faults.push_back({"a refusal", "I'm sorry, but I can't help with that."});
    faults.push_back({"an empty block", "```cuda\n```\n"});
    faults.push_back({"a diff", "```diff\n@@ -1 +1 @@\n-root\n+fake\n```\n"});
    faults.push_back({"a cut answer", "```cuda\n#include <cstdint>\nextern \"C\" int fake(float* y) {"});
    faults.push_back({"the parent itself", kernelAnswer("root time=100 \n")});
    faults.push_back({"another entry", kernelAnswer("other time=10 \n")});
    std::vector<std::string> titles, good;
    for (std::size_t i = 0; i < faults.size(); ++i) {
        // Titles that share no word; between the faults stand good kernels.
        titles.push_back(fmt::format("fault{} {}", i, faults[i].name));
        good.push_back(fmt::format("good{}", i));
        titles.push_back(good.back());
    }
    settings.ideas = static_cast<int>(titles.size());
    settings.repairs = 1;
    world.say("idea fake: root", ideasAnswer(titles));
    for (std::size_t i = 0; i < faults.size(); ++i) {
        const std::string subject = fmt::format("fake: {} #0", titles[2 * i]);
        for (const char* form :
             {"implement {}", "implement {} again", "repair {} repair 1", "repair {} repair 1 again"}) {
            world.say(fmt::format(fmt::runtime(form), subject), faults[i].answer);
        }
        world.say(fmt::format("implement fake: {} #0", good[i]),
                  kernelAnswer(fmt::format("fake good{} time={} \n", i, 95 - i)));
    }
    std::vector<std::string> parents = good;
    silentUnder(parents);
    constexpr std::int64_t budget = 5 + 10; // five faults are judged; a repair that mends nothing is none
    engine.options.budget = Budget{.evaluations = budget};
    open();
    engine.run();
    EXPECT_EQ(world.unknown, "");
    EXPECT_EQ(engine.status.state, RunState::Finished);
    const auto passed = std::count_if(good.begin(), good.end(), [this](const std::string& title) {
        const auto found = std::find_if(engine.nodes.begin(), engine.nodes.end(), [&title](const auto& entry) {
            return entry.second.kind == NodeKind::Candidate && entry.second.title == title;
        });
        return found != engine.nodes.end() && found->second.outcome == Outcome::Passed;
    });
    EXPECT_EQ(engine.status.evaluations, budget) << engine.status.why << "\n" << engine.tree();
    EXPECT_EQ(engine.status.passed, passed);
    EXPECT_GE(passed, 4) << engine.tree();
    ASSERT_TRUE(engine.status.best);
    EXPECT_EQ(engine.nodes.at(*engine.status.best).outcome, Outcome::Passed);
}

} // namespace
} // namespace espalier
