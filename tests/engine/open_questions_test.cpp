// SPDX-License-Identifier: Apache-2.0
// A pause waits for nobody: what was asked stays open as it was asked, and is answered when the run goes on.
#include "core/store/database.h"
#include "tests/engine/model_search_harness.h"

#include <chrono>
#include <thread>

namespace espalier {
namespace {

class OpenQuestion : public ModelSearch
{
protected:
    /// Runs until something is asked that nobody answers.
    void runUntilAsked()
    {
        world.silent = true;
        open();
        engine.post(command::Run{});
        for (int i = 0; i < 200 && world.left.empty(); ++i) {
            engine.turn();
        }
        ASSERT_EQ(world.left.size(), 1u);
    }

    void pause()
    {
        engine.post(command::Pause{});
        engine.settle(50);
    }
};

TEST_F(OpenQuestion, BeforeAByteOfItsAnswerIsTakenBackAndMayHaveBeenBilled)
{
    script();
    runUntilAsked();
    pause();
    EXPECT_EQ(engine.status.state, RunState::Paused);
    EXPECT_FALSE(engine.status.readsOn);
    EXPECT_EQ(engine.status.asking, 0);
    EXPECT_EQ(engine.status.spending.lost, 1);
    EXPECT_GT(engine.status.spending.possibleUsd, 0.1);
    const auto all = stored(); // while the session is open: nothing waits for the next start
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].state, Exchange::State::Lost);
    EXPECT_NE(all[0].reason.find("before anything of the answer had come; the provider may have billed"),
              std::string::npos)
        << all[0].reason;
    world.silent = false;
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(world.counts["idea fake: root"], 2);
}

TEST_F(OpenQuestion, WhoseAnswerIsComingIsReadToItsEnd)
{
    script();
    world.coming = true;
    runUntilAsked();
    engine.post(command::Pause{});
    for (int i = 0; i < 30; ++i) {
        engine.turn();
    }
    EXPECT_EQ(engine.status.state, RunState::Pausing);
    ASSERT_TRUE(engine.status.readsOn);
    EXPECT_GT(*engine.status.readsOn, 50);
    EXPECT_LE(*engine.status.readsOn, 60);
    EXPECT_NE(engine.log.back().find("it is read for at most 60 s"), std::string::npos) << engine.log.back();
    world.silent = world.coming = false;
    engine.settle(50);
    EXPECT_EQ(engine.status.state, RunState::Paused);
    EXPECT_EQ(stored().at(0).state, Exchange::State::Answered);
    EXPECT_EQ(world.left.size(), 1u) << "nothing leaves while the run pauses";
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(world.counts["idea fake: root"], 1);
}

TEST_F(OpenQuestion, WhoseAnswerDoesNotEndIsKeptBroken)
{
    script();
    world.coming = true;
    world.pause = QuestionPause(std::chrono::milliseconds(30));
    runUntilAsked();
    engine.post(command::Pause{});
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    engine.settle(50);
    EXPECT_EQ(engine.status.state, RunState::Paused);
    const Exchange kept = stored().at(0);
    EXPECT_EQ(kept.state, Exchange::State::Lost);
    EXPECT_EQ(kept.answer, "Here is the beg");
    EXPECT_NE(kept.reason.find("before the answer had ended; the provider may have billed"), std::string::npos);
    world.silent = world.coming = false;
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
}

TEST_F(OpenQuestion, AStopWaitsForNothing)
{
    script();
    world.coming = true;
    runUntilAsked();
    engine.post(command::Pause{});
    engine.turn();
    EXPECT_EQ(engine.status.state, RunState::Pausing);
    engine.post(command::Stop{});
    EXPECT_EQ(engine.status.state, RunState::Paused);
    engine.drop();
    EXPECT_EQ(stored().at(0).state, Exchange::State::Lost);
    EXPECT_EQ(stored().at(0).answer, "Here is the beg");
}

/// Of a person or a program, who bill nothing: one exchange, open over pauses and restarts.
TEST_F(OpenQuestion, OfAPersonStaysOpenAsItWasAsked)
{
    for (const bool restart : {false, true}) {
        for (const std::string provider : {"manual", "command"}) {
            EngineHarness own;
            own.options.proposers = {"llm"};
            own.makeProposers = engine.makeProposers;
            world = ModelWorld();
            script();
            world.provider = provider;
            world.silent = world.coming = true; // a program that prints is not waited for either
            ASSERT_TRUE(own.open());
            own.post(command::Run{});
            for (int i = 0; i < 200 && world.left.empty(); ++i) {
                own.turn();
            }
            own.post(command::Pause{});
            own.settle(50);
            ASSERT_EQ(own.status.state, RunState::Paused);
            EXPECT_EQ(own.status.spending.requests, 0);
            // What is known changes meanwhile: the next question will say so, this one does not.
            own.post(command::AddHint{"Mind the tail of the rows."});
            if (restart) {
                ASSERT_TRUE(own.open());
            }
            world.silent = world.coming = false;
            own.run();
            ASSERT_EQ(own.status.state, RunState::Finished) << own.status.why << world.unknown;
            ASSERT_EQ(world.counts["idea fake: root"], 2);
            const auto asked = [&](std::size_t n) { return world.left.at(n).messages.back().text; };
            EXPECT_EQ(asked(1), asked(0));
            EXPECT_EQ(world.left.at(1).askedAt, "https://model.example/v1/chat/completions");
            EXPECT_NE(asked(2).find("Mind the tail"), std::string::npos);
            EXPECT_EQ(own.status.spending.lost, 0);
            EXPECT_EQ(own.status.spending.requests, static_cast<std::int64_t>(world.left.size()) - 1);
            own.drop();
            auto store = Store::open(own.options.session, Store::Mode::ReadOnly).value();
            int ideas = 0;
            const auto all = store->exchanges().value();
            for (const Exchange& one : all) {
                ideas += one.key == "ideas/1/of llm/0" ? 1 : 0;
                EXPECT_EQ(one.state, Exchange::State::Answered) << one.key;
            }
            EXPECT_EQ(ideas, 1);
        }
    }
}

/// A killed candidate's question is nobody's any more.
TEST_F(OpenQuestion, OfAKilledCandidateIsClosed)
{
    script();
    world.provider = "manual";
    world.silentPurpose = "implement";
    open();
    engine.post(command::Run{});
    for (int i = 0; i < 200 && world.left.size() < 3; ++i) {
        engine.turn();
    }
    ASSERT_EQ(world.left.size(), 3u);
    pause();
    ASSERT_EQ(engine.status.state, RunState::Paused);
    EXPECT_EQ(engine.nodes.at(NodeId{4}).state, NodeState::Queued);
    EXPECT_EQ(stored().at(1).state, Exchange::State::Sent);
    engine.post(command::Kill{NodeId{4}});
    EXPECT_EQ(engine.nodes.at(NodeId{4}).cause, NotRunCause::Cancelled);
    EXPECT_EQ(stored().at(1).state, Exchange::State::Failed);
    world.silentPurpose.clear();
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(world.counts["implement fake: keep rows in registers #0"], 1);
}

/// Nor is it after a restart, when nobody has asked it again yet.
TEST_F(OpenQuestion, OfAKilledCandidateIsClosedInALaterProcess)
{
    script();
    world.provider = "manual";
    world.silentPurpose = "implement";
    open();
    engine.post(command::Run{});
    for (int i = 0; i < 200 && world.left.size() < 3; ++i) {
        engine.turn();
    }
    ASSERT_EQ(world.left.size(), 3u);
    open();
    ASSERT_EQ(stored().at(1).state, Exchange::State::Sent);
    engine.post(command::Kill{NodeId{4}});
    EXPECT_EQ(engine.nodes.at(NodeId{4}).cause, NotRunCause::Cancelled);
    EXPECT_EQ(stored().at(1).state, Exchange::State::Failed);
    EXPECT_EQ(stored().at(2).state, Exchange::State::Sent) << "of another candidate";
}

/// A session of an older version did not write down who was asked for ideas.
TEST_F(OpenQuestion, OfAnOlderSessionIsTakenUp)
{
    script();
    world.provider = "manual";
    runUntilAsked();
    pause();
    engine.drop();
    {
        auto database = Database::open(engine.options.session, Database::Mode::ReadWrite).value();
        ASSERT_TRUE(database.execute("UPDATE exchanges SET key = 'ideas/1/0'"));
    }
    world.silent = false;
    open();
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(stored().at(0).state, Exchange::State::Answered);
    EXPECT_EQ(stored().at(0).key, "ideas/1/0");
    EXPECT_EQ(engine.status.spending.requests, static_cast<std::int64_t>(world.left.size()) - 1);
}

/// Same answers, same tree: paused and gone on with after any turn, in one process or in the next.
TEST_F(OpenQuestion, PausesChangeNoTree)
{
    script();
    open();
    engine.run();
    const std::string expected = engine.tree();
    for (const bool restart : {false, true}) {
        for (const std::string provider : {"scripted", "manual"}) {
            for (unsigned every = 1; every <= 4; every += 3) {
                EngineHarness other;
                other.options.proposers = {"llm"};
                other.makeProposers = engine.makeProposers;
                other.shuffle = every;
                world.counts.clear();
                world.provider = provider;
                world.late = every;
                ASSERT_TRUE(other.open());
                other.post(command::Run{});
                for (int pauses = 0; other.status.state != RunState::Finished; ++pauses) {
                    ASSERT_LT(pauses, 3000);
                    for (unsigned i = 0; i < every + static_cast<unsigned>(pauses) / 20; ++i) {
                        other.turn(); // ever longer: what is asked must be answered at last
                    }
                    if (other.status.state == RunState::Finished) {
                        break;
                    }
                    other.post(command::Pause{});
                    other.settle(200);
                    if (restart && other.status.state != RunState::Finished) {
                        ASSERT_TRUE(other.open());
                    }
                    other.post(command::Run{});
                }
                ASSERT_EQ(other.tree(), expected) << provider << " every " << every << (restart ? " restarted" : "");
            }
        }
    }
}

/// A rule that ends the run ends it although a person was asked something.
TEST_F(OpenQuestion, DoesNotKeepARunFromItsEnd)
{
    script();
    world.provider = "manual";
    engine.options.budget = Budget{};
    engine.options.budget->seconds = 20;
    runUntilAsked();
    engine.now += 30;
    engine.settle(50);
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.why, "the budget of 20 seconds is used up");
    world.silent = false;
    Budget more;
    more.seconds = 1000;
    engine.run(more);
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.summary("read wide vectors").outcome, Outcome::Passed);
}

/// What is judged by hand while paused asks nobody.
TEST_F(OpenQuestion, RestsWhileAKernelIsJudgedAgain)
{
    script();
    world.provider = "manual";
    runUntilAsked();
    pause();
    engine.post(command::JudgeAgain{NodeId{1}, Again::Verify});
    engine.settle(200);
    EXPECT_EQ(engine.status.state, RunState::Paused);
    EXPECT_EQ(world.left.size(), 1u);
}

// --- bad answers --------------------------------------------------------------------------------------------------

TEST_F(OpenQuestion, ABadAnswerEndsItsIdeaOnly)
{
    world.say("idea fake: root", ideasAnswer({"stay silent", "talk for ever", "work"}));
    world.say("implement fake: stay silent #0", "");
    world.say("implement fake: stay silent #0 again", "");
    world.say("implement fake: talk for ever #0", std::string(1000, 'x'), llm::Finish::TooLong);
    world.say("implement fake: talk for ever #0 again", kernelAnswer("fake late time=1 \n"), llm::Finish::TooLong);
    world.say("implement fake: work #0", kernelAnswer("fake good time=50 \n"));
    world.say("idea fake: work", "");
    world.say("idea fake: work again", "");
    open();
    engine.run();
    EXPECT_EQ(world.unknown, "");
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(engine.summary("stay silent").cause, NotRunCause::NoSource);
    EXPECT_NE(engine.summary("stay silent").reason.find("It is empty."), std::string::npos);
    EXPECT_EQ(engine.summary("talk for ever").cause, NotRunCause::NoSource);
    const auto* ideas = world.request("idea fake: work again");
    ASSERT_NE(ideas, nullptr);
    EXPECT_NE(ideas->messages.back().text.find("It is empty."), std::string::npos);
    EXPECT_NE(engine.summary("talk for ever").reason.find("longer than any kernel"), std::string::npos);
    EXPECT_EQ(engine.summary("work").outcome, Outcome::Passed);
    const auto* again = world.request("implement fake: talk for ever #0 again");
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->maxOutputTokens, settings.maxOutputTokens) << "that needs no more room";
}

/// A program that fails at one question ends that idea; one that fails at all of them needs a person.
TEST_F(OpenQuestion, AProgramMayStumble)
{
    const auto failsAt = [this](const std::string& question, const std::string& how) {
        world.fail(question, llm::ChatFailure::Kind::Rejected, "command agent: it ended with " + how);
    };
    world.provider = "command";
    world.say("idea fake: root", ideasAnswer({"first", "second", "third"}));
    failsAt("implement fake: first #0", "exit code 1");
    failsAt("implement fake: second #0", "exit code 1"); // once
    world.say("implement fake: second #0", kernelAnswer("fake two time=41 \n"));
    world.say("implement fake: third #0", kernelAnswer("fake three time=40 \n"));
    failsAt("idea fake: second", "exit code 127");
    failsAt("idea fake: third", "exit code 127");
    open();
    engine.run();
    EXPECT_EQ(world.unknown, "");
    EXPECT_EQ(engine.summary("first").cause, NotRunCause::NoSource);
    EXPECT_EQ(engine.summary("first").reason, "command agent: it ended with exit code 1");
    EXPECT_EQ(world.counts["implement fake: first #0"], 3);
    EXPECT_EQ(engine.summary("second").outcome, Outcome::Passed);
    EXPECT_EQ(engine.status.state, RunState::Paused) << engine.status.why;
    EXPECT_EQ(engine.status.why, "command agent: it ended with exit code 127");
    EXPECT_EQ(world.counts["idea fake: second"] + world.counts["idea fake: third"], 6);
}

/// A prompt on which a program never ends ends its idea, in the first run and after a restart; the rest goes on.
TEST_F(OpenQuestion, AProgramMayHangOnOnePrompt)
{
    for (const bool restart : {false, true}) {
        EngineHarness own;
        own.options.proposers = {"llm"};
        own.makeProposers = engine.makeProposers;
        world = ModelWorld();
        world.provider = "command";
        world.say("idea fake: root", ideasAnswer({"first", "second"}));
        world.fail("implement fake: first #0", llm::ChatFailure::Kind::Deadline,
                   "command agent: it did not end in 600 s");
        world.say("implement fake: second #0", kernelAnswer("fake two time=41 \n"));
        world.say("idea fake: second", ideasAnswer({}));
        world.silentPurpose = restart ? "implement" : "";
        ASSERT_TRUE(own.open());
        if (restart) { // whoever asks then has seen no answer of the program's
            own.post(command::Run{});
            for (int i = 0; i < 200 && world.left.size() < 3; ++i) {
                own.turn();
            }
            ASSERT_EQ(world.left.size(), 3u);
            world.silentPurpose.clear();
            ASSERT_TRUE(own.open());
        }
        own.run();
        EXPECT_EQ(world.unknown, "");
        EXPECT_EQ(own.status.state, RunState::Finished) << own.status.why;
        EXPECT_EQ(own.summary("first").cause, NotRunCause::NoSource) << own.tree();
        EXPECT_EQ(own.summary("first").reason, "command agent: it did not end in 600 s");
        EXPECT_EQ(own.summary("second").outcome, Outcome::Passed) << own.tree();
    }
}

/// One that has never answered is not believed to take the other questions; nor does a run that goes on meet the same
/// one for ever.
TEST_F(OpenQuestion, AProgramThatNeverAnsweredIsMendedFirst)
{
    world.provider = "command";
    for (int i = 0; i < 3; ++i) {
        world.fail("idea fake: root", llm::ChatFailure::Kind::Deadline, "command agent: it did not end in 600 s");
    }
    world.say("idea fake: root", ideasAnswer({"first", "second"}));
    for (const char* name : {"implement fake: first #0", "implement fake: second #0"}) {
        world.fail(name, llm::ChatFailure::Kind::Deadline, "command agent: it did not end in 600 s");
    }
    open();
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Paused);
    EXPECT_EQ(engine.status.why, "command agent: it did not end in 600 s");
    EXPECT_EQ(world.counts["idea fake: root"], 3);
    engine.run(); // both questions of now go wrong: the first ends, and the second holds it
    EXPECT_EQ(engine.status.state, RunState::Paused);
    const auto ended = [this] {
        return (engine.summary("first").cause == NotRunCause::NoSource ? 1 : 0) +
               (engine.summary("second").cause == NotRunCause::NoSource ? 1 : 0);
    };
    EXPECT_EQ(ended(), 1) << engine.tree();
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(ended(), 2) << engine.tree();
}

} // namespace
} // namespace espalier
