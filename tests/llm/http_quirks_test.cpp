// SPDX-License-Identifier: Apache-2.0
// Every quirk of the field by its number, replayed by a server of ours.
#include "tests/llm/dialect_samples.h"
#include "tests/llm/http_fixture.h"

#include <cstdlib>

using namespace espalier;
using namespace espalier::tests;
using llm::Finish;

// --- B17, B18: what is refused is learned once

TEST(B17_Unsupported, MaxTokensAndTemperatureAreLearnedOnce)
{
    ScriptedServer server([](const ServedRequest& request, std::size_t) {
        const Json body = Json::parse(request.body, nullptr, false);
        if (body.contains("max_tokens")) {
            return refused(400,
                           "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                           "'max_completion_tokens' instead.",
                           "unsupported_parameter", "max_tokens");
        }
        if (body.contains("temperature")) {
            return refused(400,
                           "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default "
                           "(1) value is supported.",
                           "unsupported_value", "temperature");
        }
        return events(chatEvents("ok"));
    });
    auto request = question();
    request.temperature = 0.7;
    const auto services = testServices();
    const auto client = makeTestClient(testProfile("openai", server.url()), services);
    const auto first = askOnce(*client, request);
    EXPECT_EQ(first.text(), "ok");
    EXPECT_EQ(first.answer->attempts, 3);
    EXPECT_NE(linesOf(first.answer->adjustments).find("max_tokens is sent as max_completion_tokens"), std::string::npos)
        << linesOf(first.answer->adjustments);
    EXPECT_NE(linesOf(first.answer->adjustments).find("temperature is left out"), std::string::npos);
    EXPECT_EQ(bodyOf(server, 2)["max_completion_tokens"], 16384);
    const auto second = askOnce(*client, request, 2);
    EXPECT_EQ(second.answer->attempts, 1) << "learned, not asked again";
    const auto other = makeTestClient(testProfile("openai", server.url()), services);
    EXPECT_EQ(askOnce(*other, request).answer->attempts, 1) << "for all clients of the run";
}

TEST(B17_Unsupported, ManyAtOnceLearnTogether)
{
    ScriptedServer server([](const ServedRequest& request, std::size_t) {
        const Json body = Json::parse(request.body, nullptr, false);
        for (const char* field : {"temperature", "reasoning_effort", "response_format", "stream_options"}) {
            if (body.contains(field)) {
                return refused(400, std::string("Unrecognized request argument supplied: ") + field);
            }
        }
        return events(chatEvents("ok"));
    });
    auto request = question();
    request.temperature = 1;
    request.reasoningEffort = "low";
    request.jsonSchema = R"({"type":"object"})";
    const auto client = makeTestClient(testProfile("openai", server.url()), testServices());
    for (std::int64_t id = 1; id <= 16; ++id) {
        client->start(RequestId{id}, request);
        client->release(RequestId{id});
    }
    for (const auto& [id, outcome] : collect(*client, 16)) {
        EXPECT_EQ(outcome.text(), "ok");
    }
    EXPECT_EQ(askOnce(*client, request, 99).answer->attempts, 1);
    EXPECT_NE(server.requests().back().body.find("JSON schema"), std::string::npos) << "the schema is sent in words";
}

TEST(B17_Unsupported, EveryDialectsWordsForAField)
{
    struct Case {
        std::string provider, message, field;
    };
    for (const auto& [provider, message, field] :
         std::vector<Case>{{"anthropic", "output_config.format: Extra inputs are not permitted", "format"},
                           {"anthropic", "adaptive thinking is not supported on this model", "adaptive"},
                           {"anthropic", "`temperature` is deprecated for this model.", "temperature"},
                           {"gemini",
                            "Invalid JSON payload received. Unknown name \"responseSchema\" at 'generation_config': "
                            "Cannot find field.",
                            "responseSchema"},
                           {"gemini", "Thinking level is not supported for this model.", "thinkingLevel"},
                           {"openai-responses",
                            "Unsupported parameter: 'reasoning.effort' is not supported with this model.", "effort"},
                           {"openai", "json_schema response_format is not supported by this model", "response_format"},
                           {"openai", "System role not supported", "\"system\""},
                           {"openai", "Your organization must be verified to stream this model.", "\"stream\":true"}}) {
        ScriptedServer server([&](const ServedRequest& served, std::size_t) {
            const auto& body = served.body;
            if (body.find(field) != std::string::npos) {
                return refused(400, message);
            }
            for (const DialectSample& sample : dialectSamples()) {
                if (sample.provider == provider) {
                    return events(sample.stream);
                }
            }
            return Reply{};
        });
        auto request = question();
        request.reasoningEffort = field == "temperature" ? "" : "low";
        request.temperature = 0.3;
        request.jsonSchema = R"({"type":"object"})";
        EXPECT_EQ(askServer(testProfile(provider, server.url()), request).text(), "Héllo\nworld ✓") << message;
    }
}

TEST(B17_Unsupported, WhatWasLearnedOutlivesTheProcess)
{
    const auto folder = std::move(*ScratchFolder::create("espalier-limits"));
    const auto file = folder.path() / "deep" / "limits.json";
    {
        llm::ModelKnowledge knowledge(file);
        llm::ModelLimits limits;
        limits.temperature = false;
        limits.mostOutput = 16384;
        limits.tokenField = llm::ModelLimits::TokenField::MaxCompletionTokens;
        knowledge.learn("https://h/v1", "m", limits);
    }
    const llm::ModelKnowledge again(file);
    EXPECT_FALSE(again.of("https://h/v1", "m").temperature);
    EXPECT_EQ(again.of("https://h/v1", "m").mostOutput, 16384);
    EXPECT_EQ(again.of("https://h/v1", "m").tokenField, llm::ModelLimits::TokenField::MaxCompletionTokens);
    EXPECT_EQ(again.of("https://h/v1", "other"), llm::ModelLimits());
    ASSERT_TRUE(writeFileAtomically(file, "[[[ damaged"));
    EXPECT_EQ(llm::ModelKnowledge(file).of("https://h/v1", "m"), llm::ModelLimits());
}

TEST(B18_Clamp, TheLimitIsReadFromTheMessage)
{
    struct Case {
        std::string provider, message;
        std::int64_t limit;
    };
    for (const auto& [provider, message, limit] :
         std::vector<Case>{{"openai",
                            "max_tokens is too large: 20000. This model supports at most 16384 completion tokens, "
                            "whereas you provided 20000.",
                            16384},
                           {"openai", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192},
                           {"openai-responses",
                            "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16,384, but "
                            "got 20000 instead.",
                            16384},
                           {"anthropic",
                            "max_tokens: 20000 > 8192, which is the maximum allowed number of output tokens for "
                            "claude-3-5-sonnet-20241022",
                            8192},
                           {"gemini",
                            "Unable to submit request because it has a maxOutputTokens value of 20000 but the "
                            "supported range is from 1 (inclusive) to 8193 (exclusive).",
                            8192}}) {
        ScriptedServer server([&](const ServedRequest& served, std::size_t) {
            if (served.body.find("20000") != std::string::npos) {
                return refused(400, message);
            }
            for (const DialectSample& sample : dialectSamples()) {
                if (sample.provider == provider) {
                    return events(sample.stream);
                }
            }
            return Reply{};
        });
        auto request = question();
        request.maxOutputTokens = 20000;
        const auto outcome = askServer(testProfile(provider, server.url()), request);
        EXPECT_EQ(outcome.text(), "Héllo\nworld ✓") << message;
        EXPECT_NE(server.requests().back().body.find(std::to_string(limit)), std::string::npos)
            << server.requests().back().body;
        ASSERT_TRUE(outcome.answer);
        EXPECT_TRUE(linesOf(outcome.answer->adjustments)
                        .starts_with("max_tokens 20000 clamped to " + std::to_string(limit) + ": "))
            << linesOf(outcome.answer->adjustments);
    }
}

// --- B19: reasoning ate the budget

TEST(B19_Budget, AnEmptyAnswerIsAskedAgainWithMoreAndBilledInTheSum)
{
    const std::string exhausted =
        "data: "
        "{\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":10,"
        "\"completion_tokens\":1000,\"completion_tokens_details\":{\"reasoning_tokens\":1000}}}\n\ndata: [DONE]\n\n";
    const ScriptedServer server(std::vector{events(exhausted), events(chatEvents("after all"))});
    auto request = question();
    request.maxOutputTokens = 1000;
    const auto outcome = askChat(server, request);
    EXPECT_EQ(outcome.text(), "after all");
    EXPECT_EQ(outcome.answer->usage.input, 20);
    EXPECT_EQ(outcome.answer->usage.output, 1005);
    EXPECT_EQ(bodyOf(server, 1)["max_tokens"], 4000);
    EXPECT_NE(linesOf(outcome.answer->adjustments).find("output budget exhausted"), std::string::npos);
}

TEST(B19_Budget, OnlyOnceAndThenItIsSaid)
{
    const ScriptedServer server(std::vector{events("data: {\"choices\":[{\"delta\":{\"content\":\"<think>and "
                                                   "on\"},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n")});
    const auto outcome = askChat(server);
    ASSERT_TRUE(outcome.answer);
    EXPECT_EQ(outcome.answer->finish, Finish::Length);
    EXPECT_EQ(outcome.answer->text, "");
    EXPECT_EQ(outcome.answer->reasoning, "and on");
    EXPECT_EQ(outcome.answer->attempts, 2);
    EXPECT_NE(linesOf(outcome.answer->adjustments).find("output budget exhausted: 65536"), std::string::npos)
        << linesOf(outcome.answer->adjustments);
}

TEST(B20_Reasoning, CodeThatAServerPutIntoTheReasoningFieldIsNotLost)
{
    const ScriptedServer server(
        std::vector{events("data: {\"choices\":[{\"delta\":{\"reasoning\":\"so:\\n```cuda\\nint "
                           "a;\\n```\\n\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")});
    const auto outcome = askChat(server);
    EXPECT_EQ(outcome.text(), "<think>so:\n```cuda\nint a;\n```\n");
}

// --- B22: cut streams

TEST(B22_Truncated, ACutStreamIsSentAgainAndNeverPassesAsWhole)
{
    for (const DialectSample& sample : dialectSamples()) {
        for (const Reply::End end : {Reply::End::Proper, Reply::End::NoLastChunk, Reply::End::Reset}) {
            const Reply cut{.body = sample.unfinished, .end = end};
            const ScriptedServer mends(std::vector{cut, events(sample.stream)});
            const auto mended = askServer(testProfile(sample.provider, mends.url()));
            EXPECT_EQ(mended.text(), "Héllo\nworld ✓") << sample.provider;
            ASSERT_TRUE(mended.answer);
            EXPECT_EQ(mended.answer->finish, Finish::Complete);
            EXPECT_EQ(mended.answer->attempts, 2);

            const ScriptedServer never(std::vector{cut});
            const auto outcome = askServer(testProfile(sample.provider, never.url()));
            ASSERT_TRUE(outcome.answer) << outcome.text();
            EXPECT_EQ(outcome.answer->finish, Finish::Truncated) << sample.provider;
            EXPECT_EQ(outcome.answer->attempts, 3) << "bounded";
            EXPECT_TRUE(outcome.answer->text.starts_with("Héllo")) << "kept for the record";
        }
    }
}

// --- B23, B24: rates and quotas

TEST(B23_Quota, AnExhaustedQuotaIsNoRateLimit)
{
    for (const Reply& reply :
         {refused(429, "You exceeded your current quota, please check your plan and billing details.",
                  "insufficient_quota"),
          refused(402, "Payment required"), refused(400, "Your credit balance is too low to access the Anthropic API."),
          refused(429, "Error: Insufficient Balance")}) {
        const ScriptedServer server(std::vector{reply});
        const auto outcome = askChat(server);
        EXPECT_EQ(outcome.kind(), "quota") << outcome.text();
        EXPECT_EQ(server.requests().size(), 1u) << "not tried again";
        EXPECT_NE(outcome.text().find("local work goes on"), std::string::npos) << outcome.text();
    }
}

TEST(B23_Quota, GooglesRateLimitSpeaksOfQuotaToo)
{
    const auto google = [](const char* quota) {
        return Reply{
            .status = 429,
            .body =
                std::string(
                    R"({"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 0.01s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"q","violations":[{"quotaId":")") +
                quota + R"("}]},{"@type":"r","retryDelay":"0.01s"}]}})",
            .contentType = "application/json"};
    };
    const ScriptedServer minute(std::vector{google("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"),
                                            events(dialectSamples()[3].stream)});
    EXPECT_EQ(askServer(testProfile("gemini", minute.url())).text(), "Héllo\nworld ✓");
    const ScriptedServer day(std::vector{google("GenerateRequestsPerDayPerProjectPerModel-FreeTier")});
    EXPECT_EQ(askServer(testProfile("gemini", day.url())).kind(), "quota");
}

TEST(B24_RetryAfter, IsObeyedUpToTheCap)
{
    Reply wait = refused(429, "Rate limit reached");
    wait.headers = {"Retry-After: 0.2"};
    const ScriptedServer server(std::vector{wait, events(chatEvents("later"))});
    const auto outcome = askChat(server);
    EXPECT_EQ(outcome.text(), "later");
    EXPECT_GE(outcome.answer->seconds, 0.2);
}

TEST(B24_RetryAfter, BeyondTheCapItFailsAndSaysUntilWhen)
{
    Reply wait = refused(429, "Rate limit reached");
    wait.headers = {"Retry-After: 259200"};
    const ScriptedServer server(std::vector{wait});
    const auto outcome = askChat(server);
    EXPECT_EQ(outcome.kind(), "rate_limited");
    EXPECT_EQ(outcome.failure->retryAfterSeconds, 259200);
    EXPECT_NE(outcome.text().find("wait until 20"), std::string::npos) << outcome.text();
    EXPECT_NE(outcome.text().find(" UTC"), std::string::npos);
    EXPECT_EQ(server.requests().size(), 1u);
}

TEST(B24_RetryAfter, WordsAndDates)
{
    EXPECT_EQ(llm::retryAfterInWords("Rate limit reached for x. Please try again in 1m20.5s. Visit"), 80.5);
    EXPECT_EQ(llm::retryAfterInWords("Please try again in 20ms."), 0.02);
    EXPECT_EQ(llm::retryAfterInWords("Please retry in 30 seconds"), 30);
    EXPECT_EQ(llm::retryAfterInWords("try again in a while"), std::nullopt);
    EXPECT_EQ(llm::retryAfterOf("Sun, 06 Nov 1994 08:49:37 GMT", 784111777 - 60), 60);
    EXPECT_EQ(llm::retryAfterOf("Sun, 06 Nov 1994 08:49:37 GMT", 784111777 + 60), 0);
    EXPECT_EQ(llm::retryAfterOf("soon", 0), std::nullopt);
    EXPECT_EQ(llm::retryAfterOf("-3", 0), std::nullopt);
}

TEST(B24_RetryAfter, RetriesAreBounded)
{
    for (const int status : {429, 500, 503, 529}) {
        const ScriptedServer server(std::vector{refused(status, "busy")});
        const auto outcome = askChat(server);
        EXPECT_EQ(outcome.kind(), status == 429 ? "rate_limited" : "server");
        EXPECT_EQ(server.requests().size(), 5u) << "1 + mostRetries";
    }
}

TEST(B24_RetryAfter, OverloadedInsideAStreamIsTriedAgain)
{
    const ScriptedServer server(std::vector{
        events("event: error\ndata: "
               "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"),
        events(dialectSamples()[2].stream)});
    EXPECT_EQ(askServer(testProfile("anthropic", server.url())).text(), "Héllo\nworld ✓");
}

TEST(B23_Quota, ErrorsInsideAStreamAreToldApartToo)
{
    const auto kindOf = [](const std::string& error) {
        auto profile = testProfile("openai", "");
        profile.mostRetries = 0;
        const ScriptedServer server(std::vector{events("data: {\"error\":" + error + "}\n\n")});
        profile.baseUrl = server.url();
        return askServer(profile).kind();
    };
    EXPECT_EQ(kindOf(R"({"message":"You exceeded your current quota","code":"insufficient_quota"})"), "quota");
    EXPECT_EQ(kindOf(R"({"message":"Rate limit reached","code":"rate_limit_exceeded"})"), "rate_limited");
    EXPECT_EQ(kindOf(R"({"message":"Incorrect API key","code":"invalid_api_key"})"), "rejected");
    EXPECT_EQ(kindOf(R"({"message":"bad gateway","code":502})"), "server");
    EXPECT_EQ(kindOf(R"({"message":"maximum context length is 5 tokens"})"), "overflow");
}

// --- B26: base URLs

TEST(B26_BaseUrl, IsNormalised)
{
    const auto first = [](const char* written, const char* version = "v1") {
        return llm::baseUrls(written, version)->front();
    };
    EXPECT_EQ(first("https://api.openai.com"), "https://api.openai.com/v1");
    EXPECT_EQ(first("https://api.openai.com/v1/"), "https://api.openai.com/v1");
    EXPECT_EQ(first("https://api.openai.com/v1/v1"), "https://api.openai.com/v1");
    EXPECT_EQ(first("https://api.openai.com/v1/chat/completions"), "https://api.openai.com/v1");
    EXPECT_EQ(first(" localhost:11434 "), "http://localhost:11434/v1");
    EXPECT_EQ(first("api.deepseek.com"), "https://api.deepseek.com/v1");
    EXPECT_EQ(first("https://openrouter.ai/api"), "https://openrouter.ai/api/v1");
    EXPECT_EQ(first("https://h/v1beta/openai"), "https://h/v1beta/openai");
    EXPECT_EQ(first("https://h/v1beta/models/gemini:generateContent", "v1beta"), "https://h/v1beta");
    EXPECT_EQ(first("https://h/openai?api-version=3"), "https://h/openai/v1?api-version=3");
    EXPECT_EQ(llm::joinUrl("https://h/v1?api-version=3", "/models?limit=5"),
              "https://h/v1/models?limit=5&api-version=3");
    EXPECT_FALSE(llm::baseUrls("ftp://h", "v1"));
    EXPECT_FALSE(llm::baseUrls("https://", "v1"));
    EXPECT_FALSE(llm::baseUrls("https://a b/v1", "v1"));
}

TEST(B26_BaseUrl, AServerWithoutAVersionIsFoundAndRemembered)
{
    ScriptedServer server([](const ServedRequest& served, std::size_t) {
        return served.target == "/inference/chat/completions"
                   ? events(chatEvents("found"))
                   : Reply{.status = 404, .body = "404 page not found", .contentType = "text/plain"};
    });
    const auto client = makeTestClient(testProfile("openai", server.url() + "/inference"), testServices());
    EXPECT_EQ(askOnce(*client).text(), "found");
    EXPECT_EQ(askOnce(*client, question(), 2).answer->attempts, 1) << "remembered";
}

TEST(B26_BaseUrl, AWrongOneNamesEveryUrlThatWasTried)
{
    const ScriptedServer server(std::vector{
        Reply{.status = 404, .body = "<html><body><h1>Not Found</h1></body></html>", .contentType = "text/html"}});
    const auto outcome = askServer(testProfile("openai", server.url() + "/api"));
    EXPECT_EQ(outcome.kind(), "rejected");
    EXPECT_EQ(outcome.failure->httpStatus, 404);
    EXPECT_NE(outcome.text().find(server.url() + "/api/v1/chat/completions"), std::string::npos) << outcome.text();
    EXPECT_NE(outcome.text().find(server.url() + "/api/chat/completions"), std::string::npos) << outcome.text();
    EXPECT_NE(outcome.text().find("Not Found"), std::string::npos);
    EXPECT_EQ(outcome.text().find("<h1>"), std::string::npos);
}

TEST(B26_BaseUrl, AMissingModelIsNoWrongPath)
{
    const ScriptedServer server(std::vector{refused(404, "The model `test-model` does not exist", "model_not_found")});
    EXPECT_EQ(askChat(server).kind(), "rejected");
    EXPECT_EQ(server.requests().size(), 1u);
}

TEST(B26_BaseUrl, APageWhereTheApiWasExpected)
{
    const ScriptedServer server(
        std::vector{Reply{.body = "<!doctype html><title>Welcome</title>", .contentType = "text/html"}});
    const auto outcome = askServer(testProfile("openai", server.url()));
    EXPECT_EQ(outcome.kind(), "unusable");
    EXPECT_NE(outcome.text().find("Welcome"), std::string::npos) << outcome.text();
}

// --- B27: context overflow

TEST(B27_Overflow, IsRecognisedWithItsLimit)
{
    struct Case {
        std::string body;
        std::int64_t limit;
    };
    const auto message = [](const char* words) { return refused(400, words).body; };
    for (
        const auto& [body, limit] : std::vector<Case>{
            {message("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 "
                     "tokens. Please reduce the length of the messages."),
             8192},
            {message("prompt is too long: 205000 tokens > 200000 maximum"), 200000},
            {message("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
             1048576},
            {R"({"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":4096}})",
             4096},
            {message("context window exceeded"), 0}}) {
        const ScriptedServer server(std::vector{Reply{.status = 400, .body = body, .contentType = "application/json"}});
        const auto outcome = askChat(server);
        EXPECT_EQ(outcome.kind(), "overflow") << body;
        EXPECT_EQ(server.requests().size(), 1u) << body;
        if (limit > 0) {
            EXPECT_NE(outcome.text().find("takes " + std::to_string(limit) + " tokens"), std::string::npos)
                << outcome.text();
        }
    }
}

TEST(B27_Overflow, WhereOnlyTheBudgetIsTooLargeItIsClamped)
{
    for (const char* words :
         {"'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 8192 "
          "tokens and your request has 500 input tokens (16384 > 8192 - 500).",
          "This model's maximum context length is 8192 tokens. However, you requested 16884 tokens (500 in the "
          "messages, 16384 in the completion).",
          "input length and `max_tokens` exceed context limit: 500 + 16384 > 8192, decrease input length or "
          "`max_tokens` and try again"}) {
        const ScriptedServer server(std::vector{refused(400, words), events(chatEvents("fits"))});
        const auto outcome = askChat(server);
        EXPECT_EQ(outcome.text(), "fits") << words;
        EXPECT_EQ(bodyOf(server, 1)["max_tokens"], 7692) << words;
    }
}

// --- B28: secrets

TEST(B28_Secrets, APlantedKeyIsNowhere)
{
    const std::string key = "planted-secret-0123456789abcdef";
    ::setenv("ESPALIER_TEST_KEY", key.c_str(), 1);
    auto profile = testProfile("openai", "");
    profile.headers = {{"X-Proxy-Auth", "second-" + key}};
    std::vector<Reply> replies = {refused(401, "Incorrect API key provided: " + key + " (header second-" + key + ")")};
    replies.push_back(events(chatEvents("you sent " + key)));
    replies.push_back(Reply{.body = "what is Authorization: Bearer " + key, .contentType = "text/plain"});
    replies.push_back(Reply{.status = 302, .body = "", .headers = {"Location: http://elsewhere/?key=" + key}});
    replies.push_back(events("data: {\"choices\":[{\"delta\":{\"content\":\"cut " + key + "\"}}]}\n\n"));
    for (const Reply& reply : replies) {
        const ScriptedServer server(std::vector{reply});
        profile.baseUrl = server.url() + "/v1?key=" + key;
        const auto client = makeTestClient(profile, testServices());
        auto request = question("my key is " + key);
        std::string everything;
        const auto add = [&](const llm::WireRecord& wire) {
            everything += wire.url + "\n" + wire.requestBody + "\n" + wire.responseBody + "\n";
        };
        add(client->start(RequestId{1}, request));
        client->release(RequestId{1});
        const auto outcome = collect(*client, 1)[1];
        add(outcome.wire);
        for (const auto& wire : outcome.sent) {
            add(wire);
        }
        everything += outcome.deltas + "\n" + outcome.text();
        if (outcome.answer) {
            everything += linesOf(outcome.answer->adjustments) + outcome.answer->reasoning;
        } else {
            everything += outcome.failure->partialText;
        }
        EXPECT_EQ(everything.find(key), std::string::npos) << everything;
        EXPECT_NE(everything.find("[redacted]"), std::string::npos) << everything;
        ASSERT_FALSE(server.requests().empty());
        EXPECT_EQ(server.requests()[0].headers.at("authorization"), "Bearer " + key) << "but it was sent";
    }
    ::unsetenv("ESPALIER_TEST_KEY");
}
