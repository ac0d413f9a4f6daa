// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/llm/replay_client.h"

#include <gtest/gtest.h>

using namespace espalier;
using namespace espalier::llm;

namespace {

ChatRequest asking(std::string purpose, std::string subject, std::string text)
{
    ChatRequest request;
    request.purpose = std::move(purpose);
    request.subject = std::move(subject);
    request.messages = {{"user", std::move(text)}};
    return request;
}

/// The outcome as one line of text.
std::string ask(ChatClient& client, std::int64_t id, const ChatRequest& request)
{
    client.start(RequestId{id}, request);
    client.release(RequestId{id});
    std::string said;
    for (const chat::Event& event : client.receive()) {
        if (const auto* answered = std::get_if<chat::Answered>(&event)) {
            said += answered->answer.text;
        } else if (const auto* failed = std::get_if<chat::Failed>(&event)) {
            said += std::string(nameOf(failed->failure.kind)) + ": " + failed->failure.message;
        }
    }
    return said;
}

} // namespace

class Replay : public testing::Test
{
protected:
    ScratchFolder folder = std::move(*ScratchFolder::create("espalier-replay"));
    ModelProfile profile;

    void SetUp() override
    {
        profile.provider = "replay";
        profile.folder = folder.path().string();
    }
    void write(const std::string& name, const std::string& text)
    {
        ASSERT_TRUE(writeFileAtomically(folder.path() / name, text));
    }
};

TEST_F(Replay, AnswersByPurposeAndSubjectInOrder)
{
    write("one.md", "from a file\n");
    write("a.jsonl",
          "# written by hand\n"
          R"({"purpose":"idea","subject":"op: root","answer":{"text_file":"one.md"}})"
          "\n"
          R"({"purpose":"idea","subject":"op: root","answer":{"text":"second","usage":{"input":5,"output":7}}})"
          "\n"
          R"({"purpose":"implement","subject":"op: root","failure":{"kind":"overflow","message":"too long"}})"
          "\n");
    auto client = makeClient(profile);
    ASSERT_TRUE(client) << client.error().message;
    EXPECT_EQ(ask(**client, 1, asking("idea", "op: root", "whatever 1.82 us")), "from a file\n");
    EXPECT_EQ(ask(**client, 2, asking("idea", "op: root", "whatever 1.79 us")), "second");
    EXPECT_EQ(ask(**client, 3, asking("implement", "op: root", "x")), "overflow: too long");
    const std::string missing = ask(**client, 4, asking("idea", "op: root", "x"));
    EXPECT_TRUE(missing.starts_with("not_recorded: ")) << missing;
    EXPECT_NE(missing.find("purpose \"idea\", subject \"op: root\" (request 3"), std::string::npos) << missing;
}

TEST_F(Replay, RecordsWhatItCanReplay)
{
    write("a.jsonl", R"({"purpose":"idea","subject":"s","answer":{"text":"first"}})"
                     "\n"
                     R"({"purpose":"idea","subject":"s","answer":{"text":"second"}})"
                     "\n");
    auto inner = makeClient(profile);
    ASSERT_TRUE(inner);
    const ScratchFolder target = std::move(*ScratchFolder::create("espalier-record"));
    auto recorder = RecordingClient::open(std::move(*inner), target.path());
    ASSERT_TRUE(recorder) << recorder.error().message;
    const ChatRequest same = asking("idea", "s", "the same question with Authorization: Bearer sk-abcdefgh12345678");
    EXPECT_EQ(ask(**recorder, 1, same), "first");
    EXPECT_EQ(ask(**recorder, 2, same), "second");
    EXPECT_EQ((*recorder)->trouble(), "");
    const auto text = readFile(target.path() / "recorded.jsonl");
    ASSERT_TRUE(text);
    EXPECT_EQ(text->find("sk-abcdefgh"), std::string::npos);

    profile.folder = (target.path() / "recorded.jsonl").string();
    auto again = makeClient(profile);
    ASSERT_TRUE(again) << again.error().message;
    ChatRequest unnamed = same;
    unnamed.subject.clear(); // found by its key
    EXPECT_EQ(ask(**again, 1, unnamed), "first");
    EXPECT_EQ(ask(**again, 2, unnamed), "second");
}

TEST_F(Replay, SendsNothingBeforeItIsReleased)
{
    write("a.jsonl", R"({"purpose":"idea","subject":"s","answer":{"text":"first"}})"
                     "\n");
    auto client = makeClient(profile);
    ASSERT_TRUE(client);
    EXPECT_NE((*client)->start(RequestId{1}, asking("idea", "s", "question")).requestBody.find("question"),
              std::string::npos);
    EXPECT_TRUE((*client)->receive().empty());
    EXPECT_EQ((*client)->timeoutMilliseconds(), -1);
    (*client)->cancel(RequestId{1});
    const auto events = (*client)->receive();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(std::get<chat::Failed>(events[0]).failure.kind, ChatFailure::Kind::Cancelled);
}

TEST_F(Replay, AMistakeInAFileIsNamedWithItsLine)
{
    write("a.jsonl", "\n"
                     R"({"purpose":"idea","subject":"s","answer":{"txt":"first"}})"
                     "\n");
    const auto client = makeClient(profile);
    ASSERT_FALSE(client);
    EXPECT_NE(client.error().message.find("a.jsonl, line 2: answer"), std::string::npos) << client.error().message;
    profile.folder += "/nowhere";
    EXPECT_EQ(makeClient(profile).error().code, ErrorCode::NotFound);
}
