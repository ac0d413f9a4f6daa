// SPDX-License-Identifier: Apache-2.0
// The providers command and manual.
#include "core/llm/manual_client.h"
#include "tests/llm/http_fixture.h"

#include <csignal>
#include <cstdlib>
#include <fstream>

using namespace espalier;
using namespace espalier::tests;

namespace {

llm::ModelProfile commandProfile(std::vector<std::string> command)
{
    llm::ModelProfile profile;
    profile.provider = "command";
    profile.command = std::move(command);
    return profile;
}

Outcome runCommand(const std::string& script, const llm::ChatRequest& request = question())
{
    const auto client = makeTestClient(commandProfile({"/bin/sh", "-c", script}), {});
    return askOnce(*client, request);
}

} // namespace

TEST(Command, PromptInAnswerOut)
{
    const auto outcome = runCommand("cat; echo \"[$ESPALIER_PURPOSE|$ESPALIER_SUBJECT]\"");
    EXPECT_EQ(outcome.text(), "You are terse.\n\nSay hello.\n[idea|]");
    EXPECT_NE(outcome.deltas.find("Say hello."), std::string::npos);
    EXPECT_EQ(outcome.answer->usage, llm::Usage()) << "unknown, not zero";
    EXPECT_EQ(outcome.wire.requestBody, "You are terse.\n\nSay hello.\n");
}

TEST(Command, ALargePromptToAProgramThatTalksFirst)
{
    const std::string large(3'000'000, 'x');
    const auto outcome = runCommand("head -c 500000 /dev/zero | tr '\\0' y; wc -c", question(large));
    ASSERT_TRUE(outcome.answer) << outcome.text();
    EXPECT_NE(outcome.text().find("3000017"), std::string::npos) << outcome.text().substr(500000);
}

TEST(Command, AProgramThatDoesNotReadItsPrompt)
{
    EXPECT_EQ(runCommand("echo deaf", question(std::string(1'000'000, 'x'))).text(), "deaf");
}

TEST(Command, ReasoningIsSplitOff)
{
    const auto outcome = runCommand("echo '<think>hm</think>yes'");
    EXPECT_EQ(outcome.text(), "yes");
    EXPECT_EQ(outcome.answer->reasoning, "hm");
}

TEST(Command, AFailureQuotesItsWords)
{
    const auto outcome = runCommand("echo partly; echo no such model >&2; exit 3");
    EXPECT_EQ(outcome.kind(), "rejected");
    EXPECT_NE(outcome.text().find("exit code 3: no such model"), std::string::npos) << outcome.text();
    EXPECT_EQ(outcome.failure->partialText, "partly\n");
}

/// What is no answer is the answer's fault, and not the program's: the question ends with it, and the search goes on.
TEST(Command, NothingAndFarTooMuchAreAnswers)
{
    const auto nothing = runCommand("echo; echo I was busy >&2");
    ASSERT_TRUE(nothing.answer) << nothing.text();
    EXPECT_EQ(nothing.answer->text, "");
    ASSERT_EQ(nothing.answer->adjustments.size(), 1u);
    EXPECT_NE(nothing.answer->adjustments[0].find("printed no answer: I was busy"), std::string::npos);
    const auto endless = runCommand("head -c 80000000 /dev/zero | tr '\\0' x");
    ASSERT_TRUE(endless.answer) << endless.text();
    EXPECT_EQ(endless.answer->finish, llm::Finish::TooLong);
    EXPECT_LT(endless.answer->text.size(), 70'000u);
    EXPECT_LT(endless.wire.responseBody.size(), 70'000u);
    EXPECT_NE(endless.answer->adjustments.at(0).find("which no model's answer is"), std::string::npos);
}

TEST(Command, CancelAndDeadlineKillTheTree)
{
    const auto folder = std::move(*ScratchFolder::create("espalier-command"));
    const auto file = (folder.path() / "pid").string();
    auto profile = commandProfile({"/bin/sh", "-c", "sleep 600 & echo $! > " + file + "; echo begun; wait"});
    for (const bool cancel : {false, true}) {
        profile.stallSeconds = cancel ? 600 : 2;
        const auto client = makeTestClient(profile, {});
        client->start(RequestId{1}, question());
        client->release(RequestId{1});
        std::string begun;
        for (int tries = 0; tries < 12000 && begun.empty(); ++tries) {
            for (const auto& event : client->receive()) {
                if (const auto* delta = std::get_if<llm::chat::Delta>(&event)) {
                    begun += delta->text;
                }
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        EXPECT_EQ(begun, "begun\n");
        if (cancel) {
            client->cancel(RequestId{1});
        }
        EXPECT_EQ(collect(*client, 1, 60)[1].kind(), cancel ? "cancelled" : "deadline");
        pid_t grandchild = 0;
        std::ifstream(file) >> grandchild;
        ASSERT_GT(grandchild, 0);
        int alive = 0;
        for (int tries = 0; tries < 12000 && (alive = ::kill(grandchild, 0)) == 0; ++tries) {
            std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
            std::string pid, name, state;
            stat >> pid >> name >> state;
            if (state == "Z") { // dead; nobody has reaped it yet
                alive = -1;
                break;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        EXPECT_NE(alive, 0);
    }
}

TEST(Command, AGrandchildThatKeepsThePipeOpenDelaysNothing)
{
    const auto outcome = runCommand("sleep 600 & echo done");
    EXPECT_EQ(outcome.text(), "done");
    EXPECT_LT(outcome.answer->seconds, 300);
}

TEST(Command, ThatDoesNotExist)
{
    EXPECT_EQ(llm::makeClient(commandProfile({"no-such-program-here"})).error().code, ErrorCode::NotFound);
    EXPECT_EQ(llm::makeClient(commandProfile({})).error().code, ErrorCode::InvalidInput);
}

TEST(Manual, AFileDroppedBesideThePromptIsTheAnswer)
{
    const auto folder = std::move(*ScratchFolder::create("espalier-manual"));
    llm::ModelProfile profile;
    profile.provider = "manual";
    profile.folder = (folder.path() / "new").string();
    auto made = llm::ManualClient::make(profile);
    ASSERT_TRUE(made) << made.error().message;
    llm::ManualClient& client = **made;
    for (std::int64_t id = 1; id <= 3; ++id) {
        client.start(RequestId{id}, question()); // the same prompt three times
        EXPECT_TRUE(client.promptFile(RequestId{id}).empty());
        client.release(RequestId{id});
    }
    EXPECT_TRUE(collect(client, 1, 0.05)[1].sent.size() == 1);
    const auto prompt = client.promptFile(RequestId{1});
    const auto text = readFile(prompt);
    ASSERT_TRUE(text);
    EXPECT_EQ(*text, "You are terse.\n\nSay hello.\n");
    const auto answerBeside = [](std::filesystem::path file) {
        return std::filesystem::path(file.replace_extension().replace_extension(".answer.md"));
    };
    std::ofstream(answerBeside(prompt)).flush(); // an editor that saves an empty file first
    EXPECT_FALSE(collect(client, 1, 0.05)[1].answer);
    std::ofstream(answerBeside(prompt)) << "<think>a</think>by hand";
    EXPECT_EQ(collect(client, 1)[1].text(), "by hand");
    std::ofstream(folder.path() / "elsewhere") << "moved";
    std::filesystem::rename(folder.path() / "elsewhere", answerBeside(client.promptFile(RequestId{2})));
    EXPECT_EQ(collect(client, 1)[2].text(), "moved");
    EXPECT_FALSE(client.answer(RequestId{1}, "late"));
    EXPECT_TRUE(client.answer(RequestId{3}, "from the window"));
    EXPECT_EQ(client.timeoutMilliseconds(), 0);
    EXPECT_EQ(collect(client, 1)[3].text(), "from the window");

    std::ofstream(answerBeside(prompt)) << std::string(9'000'000, 'x'); // somebody dropped another file there
    EXPECT_EQ(askOnce(**llm::ManualClient::make(profile)).answer->finish, llm::Finish::TooLong);
    std::ofstream(answerBeside(prompt)) << "by hand";
    auto again = llm::ManualClient::make(profile); // after a restart
    EXPECT_EQ(askOnce(**again).text(), "by hand");
}

/// Two questions with one text: each keeps the name under which it was asked, over a pause and a restart.
TEST(Manual, AQuestionThatIsAskedAgainKeepsItsName)
{
    const auto folder = std::move(*ScratchFolder::create("espalier-manual"));
    llm::ModelProfile profile;
    profile.provider = "manual";
    profile.folder = folder.path().string();
    std::vector<std::string> places;
    {
        auto client = llm::ManualClient::make(profile).value();
        for (std::int64_t id = 1; id <= 2; ++id) {
            places.push_back(client->start(RequestId{id}, question()).url);
            client->release(RequestId{id});
        }
        EXPECT_NE(places[0], places[1]);
        client->receive();
        client->cancel(RequestId{2});
        client->cancel(RequestId{1});
        auto again = question("other words by now");
        again.askedAt = places[1];
        EXPECT_EQ(client->start(RequestId{3}, again).url, places[1]);
        EXPECT_EQ(client->start(RequestId{4}, question()).url, places[0]) << "its name is free again";
    }
    ASSERT_TRUE(writeFileAtomically(folder.path() / (places[1].substr(places[1].rfind('/') + 1, 15) + "-2.answer.md"),
                                    "while nothing ran"));
    auto client = llm::ManualClient::make(profile).value();
    auto again = question();
    again.askedAt = places[1];
    EXPECT_EQ(askOnce(*client, again).text(), "while nothing ran");
}
