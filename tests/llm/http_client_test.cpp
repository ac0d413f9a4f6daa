// SPDX-License-Identifier: Apache-2.0
// The client against a server of ours on the loopback: real bytes, deadlines, lost connections, one loop for many.
#include "tests/llm/dialect_samples.h"
#include "tests/llm/http_fixture.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <sys/socket.h>

using namespace espalier;
using namespace espalier::tests;

TEST(Http, EveryDialectByteByByteInChunks)
{
    for (const DialectSample& sample : dialectSamples()) {
        const ScriptedServer server(std::vector{Reply{.body = sample.stream, .everyByte = true}});
        const auto outcome = askServer(testProfile(sample.provider, server.url()));
        EXPECT_EQ(outcome.text(), "Héllo\nworld ✓") << sample.provider;
        EXPECT_EQ(outcome.deltas, "Héllo\nworld ✓") << sample.provider;
        ASSERT_TRUE(outcome.answer);
        EXPECT_EQ(outcome.answer->reasoning, "hm ✓");
        EXPECT_EQ(outcome.answer->usage.input, 12);
        EXPECT_EQ(outcome.answer->usage.output, 7);
        EXPECT_EQ(outcome.answer->attempts, 1);
        EXPECT_EQ(outcome.wire.responseBody, sample.stream);
    }
}

// Every boundary of the bytes is in dialect_test.cpp, and all of them at once above; here each of these is a request.
TEST(Http, EveryDialectSplitInTwoChunks)
{
    constexpr std::size_t stride = 11;
    for (const DialectSample& sample : dialectSamples()) {
        const ScriptedServer server([&](const ServedRequest&, std::size_t ordinal) {
            return Reply{.body = sample.stream, .cuts = {ordinal * stride % sample.stream.size()}};
        });
        const auto services = testServices();
        const auto client = makeTestClient(testProfile(sample.provider, server.url()), services);
        const std::size_t count = sample.stream.size() / stride;
        for (std::size_t begun = 0; begun < count;) {
            const std::size_t batch = std::min<std::size_t>(64, count - begun);
            for (std::size_t i = 0; i < batch; ++i) {
                const RequestId id{static_cast<std::int64_t>(begun + i)};
                client->start(id, question());
                client->release(id);
            }
            const auto outcomes = collect(*client, batch);
            ASSERT_EQ(outcomes.size(), batch) << sample.provider;
            for (const auto& [id, outcome] : outcomes) {
                ASSERT_EQ(outcome.text(), "Héllo\nworld ✓") << sample.provider << " " << id;
            }
            begun += batch;
        }
        EXPECT_EQ(server.requests().size(), count);
    }
}

TEST(Http, AServerThatIgnoresStream)
{
    for (const DialectSample& sample : dialectSamples()) {
        const ScriptedServer server(std::vector{Reply{.body = sample.whole, .contentType = "application/json"}});
        EXPECT_EQ(askServer(testProfile(sample.provider, server.url())).text(), "Héllo\nworld ✓") << sample.provider;
    }
}

TEST(Http, NothingLeavesBeforeRelease)
{
    const ScriptedServer server(std::vector{events(chatEvents("hi"))});
    const auto client = makeTestClient(testProfile("openai", server.url()), testServices());
    const auto wire = client->start(RequestId{1}, question("the question"));
    EXPECT_EQ(wire.url, server.url() + "/v1/chat/completions");
    EXPECT_NE(wire.requestBody.find("the question"), std::string::npos);
    EXPECT_TRUE(collect(*client, 1, 0.05).empty());
    EXPECT_TRUE(server.requests().empty());
    client->release(RequestId{1});
    const auto outcome = collect(*client, 1)[1];
    EXPECT_EQ(outcome.text(), "hi");
    ASSERT_EQ(outcome.sent.size(), 1u);
    EXPECT_EQ(outcome.sent[0].requestBody, wire.requestBody);
    EXPECT_EQ(outcome.answer->model, "served-model");
    EXPECT_FALSE(server.requests()[0].headers.contains("expect")) << "some servers refuse it";
}

TEST(HttpDeadlines, FirstTokenStallAndTotal)
{
    auto profile = testProfile("openai", "");
    profile.firstTokenSeconds = 0.1;
    const ScriptedServer silent(std::vector{Reply{.silent = true, .end = Reply::End::Hang}});
    profile.baseUrl = silent.url();
    auto outcome = askServer(profile);
    EXPECT_EQ(outcome.kind(), "deadline");
    EXPECT_NE(outcome.text().find("no first token within 0.1 s"), std::string::npos) << outcome.text();

    profile.firstTokenSeconds = 20;
    profile.stallSeconds = 0.1;
    const ScriptedServer stalls(std::vector{
        Reply{.body = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n", .end = Reply::End::Hang}});
    profile.baseUrl = stalls.url();
    outcome = askServer(profile);
    EXPECT_EQ(outcome.kind(), "deadline");
    EXPECT_NE(outcome.text().find("stopped in the middle"), std::string::npos) << outcome.text();
    EXPECT_EQ(outcome.failure->partialText, "half");

    profile.stallSeconds = 20;
    profile.totalSeconds = 0.15;
    profile.baseUrl = stalls.url();
    outcome = askServer(profile);
    EXPECT_NE(outcome.text().find("no whole answer within 0.15 s"), std::string::npos) << outcome.text();
}

TEST(HttpDeadlines, KeepAlivesAreNoToken)
{
    auto profile = testProfile("openai", "");
    profile.firstTokenSeconds = 0.1;
    const ScriptedServer server(std::vector{Reply{.body = ": keep\n: keep\n: keep\n: keep\n",
                                                  .cuts = {7, 14, 21},
                                                  .pauseMilliseconds = 40,
                                                  .end = Reply::End::Hang}});
    profile.baseUrl = server.url();
    EXPECT_NE(askServer(profile).text().find("no first token"), std::string::npos);
}

TEST(HttpCancel, AtAnyMoment)
{
    const ScriptedServer server(std::vector{
        Reply{.body = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n", .end = Reply::End::Hang}});
    const auto client = makeTestClient(testProfile("openai", server.url()), testServices());
    client->start(RequestId{1}, question()); // held
    client->start(RequestId{2}, question());
    client->release(RequestId{2}); // released, not sent
    client->cancel(RequestId{1});
    client->cancel(RequestId{2});
    client->cancel(RequestId{77});
    auto outcomes = collect(*client, 2, 2);
    EXPECT_EQ(outcomes[1].kind(), "cancelled");
    EXPECT_EQ(outcomes[2].kind(), "cancelled");
    EXPECT_TRUE(server.requests().empty());
    client->start(RequestId{3}, question()); // in the middle of its stream
    client->release(RequestId{3});
    while (collect(*client, 1, 0.02)[3].deltas.empty()) {
    }
    client->cancel(RequestId{3});
    outcomes = collect(*client, 1, 2);
    EXPECT_EQ(outcomes[3].kind(), "cancelled");
    EXPECT_EQ(outcomes[3].failure->partialText, "half");
    EXPECT_TRUE(collect(*client, 1, 0.05).empty()) << "nothing is heard of them again";
}

TEST(HttpLost, AResetBeforeTheAnswerIsTriedAgain)
{
    const ScriptedServer server(std::vector{Reply{.silent = true}, Reply{.silent = true}, events(chatEvents("third"))});
    const auto outcome = askChat(server);
    EXPECT_EQ(outcome.text(), "third");
    EXPECT_EQ(outcome.answer->attempts, 3);
}

TEST(HttpLost, NobodyThere)
{
    std::string url;
    {
        const ScriptedServer gone(std::vector{Reply{}});
        url = gone.url();
    }
    const auto outcome = askServer(testProfile("openai", url));
    EXPECT_EQ(outcome.kind(), "unreachable");
    EXPECT_NE(outcome.text().find("POST " + url + "/v1/chat/completions"), std::string::npos) << outcome.text();
}

TEST(HttpLost, ARedirectIsNotFollowedWithAKey)
{
    const ScriptedServer other(std::vector{events(chatEvents("no"))});
    const ScriptedServer server(std::vector{
        Reply{.status = 307, .body = "", .headers = {"Location: " + other.url() + "/v1/chat/completions"}}});
    const auto outcome = askChat(server);
    EXPECT_EQ(outcome.kind(), "rejected");
    EXPECT_NE(outcome.text().find(other.url()), std::string::npos) << outcome.text();
    EXPECT_TRUE(other.requests().empty());
}

TEST(HttpLost, AnEndlessAnswerIsStopped)
{
    const ScriptedServer server(std::vector{events(std::string(300'000, 'x'))});
    auto services = testServices();
    services.answerCap = 100'000;
    const auto client = makeTestClient(testProfile("openai", server.url()), services);
    const auto outcome = askOnce(*client);
    ASSERT_TRUE(outcome.answer) << outcome.text();
    EXPECT_EQ(outcome.answer->finish, llm::Finish::TooLong);
    EXPECT_NE(outcome.answer->adjustments.at(0).find("the rest was not read"), std::string::npos);
}

TEST(HttpLost, WhetherItsAnswerIsComingIsKnown)
{
    Reply silent, begun;
    silent.silent = true;
    silent.end = begun.end = Reply::End::Hang;
    begun.body = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n";
    for (const bool coming : {false, true}) {
        const ScriptedServer server(std::vector{coming ? begun : silent});
        const auto client = makeTestClient(testProfile("openai", server.url()), testServices());
        EXPECT_FALSE(client->answering(RequestId{1}));
        client->start(RequestId{1}, question());
        EXPECT_FALSE(client->answering(RequestId{1}));
        client->release(RequestId{1});
        for (int tries = 0; tries < 2000 && (server.requests().empty() || (coming && !client->answering(RequestId{1})));
             ++tries) {
            (void)client->receive();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        EXPECT_EQ(client->answering(RequestId{1}), coming);
        client->cancel(RequestId{1});
        const auto outcome = collect(*client, 1)[1];
        EXPECT_EQ(outcome.kind(), "cancelled");
        EXPECT_EQ(outcome.failure->partialText, coming ? "Hel" : "");
        EXPECT_FALSE(client->answering(RequestId{1}));
    }
}

TEST(Http, HeadersOfTheProfileAndOfTheDialect)
{
    ::setenv("ESPALIER_TEST_KEY", "k-123456", 1);
    for (const auto& [provider, header] : std::vector<std::pair<std::string, std::string>>{
             {"openai", "authorization"}, {"anthropic", "x-api-key"}, {"gemini", "x-goog-api-key"}}) {
        ScriptedServer server(std::vector{refused(400, "no")});
        auto profile = testProfile(provider, server.url());
        profile.headers = {{"HTTP-Referer", "https://example.com"}};
        askServer(profile);
        const auto requests = server.requests();
        ASSERT_FALSE(requests.empty());
        EXPECT_NE(requests[0].headers.at(header).find("k-123456"), std::string::npos);
        EXPECT_EQ(requests[0].headers.at("http-referer"), "https://example.com");
        EXPECT_EQ(requests[0].target.find("k-123456"), std::string::npos);
    }
    ::unsetenv("ESPALIER_TEST_KEY");
}

TEST(Http, AProxyIsAskedForTheWholeUrl)
{
    const ScriptedServer proxy(std::vector{events(chatEvents("through"))});
    auto profile = testProfile("openai", "http://model.invalid/v1");
    profile.proxy = proxy.url();
    EXPECT_EQ(askServer(profile).text(), "through");
    EXPECT_EQ(proxy.requests()[0].target, "http://model.invalid/v1/chat/completions");
}

TEST(Http, TwoModelsShareOneLoop)
{
    const ScriptedServer a(std::vector{events(chatEvents("from a"))}),
        b(std::vector{events(dialectSamples()[2].stream)});
    const auto services = testServices();
    const auto first = makeTestClient(testProfile("openai", a.url()), services),
               second = makeTestClient(testProfile("anthropic", b.url()), services);
    for (auto* client : {first.get(), second.get()}) {
        client->start(RequestId{1}, question());
        client->release(RequestId{1});
    }
    first->receive();
    second->receive();
    // Driving the one must wake the other: its descriptor has to become readable by itself.
    EXPECT_EQ(collect(*first, 1)[1].text(), "from a");
    EXPECT_EQ(collect(*second, 1)[1].text(), "Héllo\nworld ✓");
}

TEST(Http, TokensThatAnotherModelsReceiveBroughtInWakeTheirOwn)
{
    const Reply half{.body = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n", .end = Reply::End::Hang};
    const ScriptedServer a(std::vector{half}), b(std::vector{half});
    const auto services = testServices();
    const auto first = makeTestClient(testProfile("openai", a.url()), services),
               second = makeTestClient(testProfile("openai", b.url()), services);
    for (auto* client : {first.get(), second.get()}) {
        client->start(RequestId{1}, question());
        client->release(RequestId{1});
        client->receive();
    }
    const auto readable = [](const llm::ChatClient& client) {
        pollfd polled{client.descriptor(), POLLIN, 0};
        return ::poll(&polled, 1, 0) > 0;
    };
    std::string deltas;
    for (int tries = 0; tries < 100 && (deltas.empty() || readable(*first)); ++tries) {
        deltas += collect(*first, 1, 0.02)[1].deltas;
    }
    EXPECT_EQ(deltas, "half");
    collect(*first, 1, 0.1); // by now the other's token is in, too
    EXPECT_FALSE(readable(*first));
    EXPECT_TRUE(readable(*second));
    EXPECT_EQ(collect(*second, 1, 0.05)[1].deltas, "half");
}

TEST(HttpDeadlines, Connect)
{
    // A listener whose queue is full: the system answers no further connection.
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(listener.get(), generic, length), 0);
    ASSERT_EQ(::listen(listener.get(), 0), 0);
    ASSERT_EQ(::getsockname(listener.get(), generic, &length), 0);
    std::vector<UniqueFd> queue;
    for (int i = 0; i < 4; ++i) {
        queue.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
        static_cast<void>(::connect(queue.back().get(), generic, length));
    }
    auto profile = testProfile("openai", "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
    profile.connectSeconds = 0.2;
    const auto outcome = askServer(profile);
    EXPECT_EQ(outcome.kind(), "deadline");
    EXPECT_NE(outcome.text().find("no connection within 0.2 s"), std::string::npos) << outcome.text();
}

TEST(MakeClient, SaysWhatIsMissing)
{
    llm::ModelProfile profile;
    profile.provider = "nobody";
    EXPECT_NE(llm::makeClient(profile).error().message.find("no provider \"nobody\""), std::string::npos);
    profile.provider = "openai";
    EXPECT_NE(llm::makeClient(profile).error().message.find("--model"), std::string::npos);
    profile.model = "m";
    profile.keyVariable = "ESPALIER_TEST_UNSET";
    const auto keyless = llm::makeClient(profile);
    EXPECT_EQ(keyless.error().code, ErrorCode::NotFound);
    EXPECT_NE(keyless.error().message.find("ESPALIER_TEST_UNSET"), std::string::npos);
    profile.baseUrl = "gopher://x";
    EXPECT_EQ(llm::makeClient(profile).error().code, ErrorCode::InvalidInput);
}
