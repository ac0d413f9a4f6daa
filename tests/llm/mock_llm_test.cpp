// SPDX-License-Identifier: Apache-2.0
// Against a public OpenAI-compatible server that is none of ours: the npm package @dwmkerr/mock-llm. packaging/test
// fetches it into the build folder where npm and a network are; elsewhere these tests are skipped and say so.
#include "core/base/subprocess.h"
#include "core/llm/endpoint_check.h"
#include "tests/llm/http_fixture.h"

#include <cstdlib>
#include <thread>

using namespace espalier;
using namespace espalier::tests;

namespace {

constexpr const char* rules = R"yaml(streaming:
  chunkSize: 3
  chunkIntervalMs: 1
rules:
  - path: "/v1/chat/completions"
    match: "@"
    response:
      status: 200
      content: |
        {"id": "chatcmpl-1", "object": "chat.completion", "model": "{{jmes request body.model}}",
         "choices": [{"message": {"role": "assistant", "content": "{{jmes request body.messages[-1].content}}"}, "finish_reason": "stop"}],
         "usage": {"prompt_tokens": 11, "completion_tokens": 22}}
  - path: "/v1/chat/completions"
    match: "contains(body.messages[-1].content, 'refuse')"
    response:
      status: 401
      content: |
        {"error": {"message": "Incorrect API key provided.", "type": "invalid_request_error", "param": null, "code": "invalid_api_key"}}
  - path: "/v1/chat/completions"
    match: "contains(body.messages[-1].content, 'spent')"
    response:
      status: 429
      content: |
        {"error": {"message": "You exceeded your current quota.", "type": "insufficient_quota", "code": "insufficient_quota"}}
  - path: "/v1/models"
    method: "GET"
    response:
      status: 200
      content: |
        {"object": "list", "data": [{"id": "mock-model"}, {"id": "test-model"}]}
)yaml";

std::string mockProgram()
{
    const char* named = std::getenv("ESPALIER_MOCK_LLM");
    return named && *named ? named : ESPALIER_MOCK_LLM_MAIN;
}

/// A port that was free a moment ago.
int freePort()
{
    const ScriptedServer probe(std::vector{Reply{}});
    return std::atoi(probe.url().substr(probe.url().rfind(':') + 1).c_str());
}

} // namespace

class MockLlm : public testing::Test
{
protected:
    ScratchFolder folder = std::move(*ScratchFolder::create("espalier-mock-llm"));
    std::optional<Subprocess> server;
    std::string url;

    void SetUp() override
    {
        const std::string program = mockProgram();
        if (findProgram("node").empty() || !std::filesystem::exists(program)) {
            GTEST_SKIP() << "node or " << program
                         << " is not there: packaging/test fetches it with npm where there is a network";
        }
        const auto config = folder.path() / "mock-llm.yaml";
        ASSERT_TRUE(writeFileAtomically(config, rules));
        const int port = freePort();
        ProcessSpec spec;
        spec.argv = {"env",      "HOST=127.0.0.1", "PORT=" + std::to_string(port), "node", program,
                     "--config", config.string()};
        spec.standardOutput = spec.standardError = ProcessSpec::Stream::Null;
        auto started = Subprocess::start(spec);
        ASSERT_TRUE(started) << started.error().message;
        server.emplace(std::move(*started));
        url = "http://127.0.0.1:" + std::to_string(port);
        for (int tries = 0; tries < 300 && !llm::checkEndpoint(testProfile("openai", url)).good; ++tries) {
            ASSERT_FALSE(server->poll()) << "the server ended at once";
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }
};

TEST_F(MockLlm, StreamsAnEcho)
{
    const auto outcome =
        askServer(testProfile("openai", url), question("Keep the row in registers, then write it once."));
    EXPECT_EQ(outcome.text(), "Keep the row in registers, then write it once.");
    EXPECT_EQ(outcome.deltas, outcome.text());
    EXPECT_EQ(outcome.answer->finish, llm::Finish::Complete);
    EXPECT_EQ(outcome.answer->model, "test-model");
    EXPECT_EQ(outcome.answer->usage, llm::Usage()) << "this server streams no usage: unknown, not zero";
}

TEST_F(MockLlm, AnswersInOnePiece)
{
    const auto services = testServices();
    llm::ModelLimits limits;
    limits.stream = false;
    services.knowledge->learn(url + "/v1", "test-model", limits);
    const auto client = makeTestClient(testProfile("openai", url), services);
    const auto outcome = askOnce(*client);
    EXPECT_EQ(outcome.text(), "Say hello.");
    EXPECT_EQ(outcome.answer->usage.input, 11);
    EXPECT_EQ(outcome.answer->usage.output, 22);
}

TEST_F(MockLlm, RefusalsInItsStream)
{
    const auto refusedKey = askServer(testProfile("openai", url), question("please refuse"));
    EXPECT_EQ(refusedKey.kind(), "rejected");
    EXPECT_NE(refusedKey.text().find("Incorrect API key provided."), std::string::npos) << refusedKey.text();
    EXPECT_EQ(askServer(testProfile("openai", url), question("all spent")).kind(), "quota");
}

TEST_F(MockLlm, ListsItsModels)
{
    const auto report = llm::checkEndpoint(testProfile("openai", url));
    EXPECT_EQ(report.models, (std::vector<std::string>{"mock-model", "test-model"}));
    EXPECT_EQ(report.offered, true);
}

TEST_F(MockLlm, ManyAtOnce)
{
    const auto client = makeTestClient(testProfile("openai", url), testServices());
    for (std::int64_t id = 1; id <= 32; ++id) {
        client->start(RequestId{id}, question("number " + std::to_string(id)));
        client->release(RequestId{id});
    }
    const auto outcomes = collect(*client, 32);
    ASSERT_EQ(outcomes.size(), 32u);
    for (const auto& [id, outcome] : outcomes) {
        EXPECT_EQ(outcome.text(), "number " + std::to_string(id));
    }
}
