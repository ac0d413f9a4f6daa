// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/llm/make_client.h"
#include "tests/llm/scripted_server.h"

#include <chrono>
#include <gtest/gtest.h>
#include <optional>
#include <poll.h>

namespace espalier::tests {

/// What one request came to.
struct Outcome {
    std::optional<llm::ChatAnswer> answer;
    std::optional<llm::ChatFailure> failure;
    std::string deltas;
    llm::WireRecord wire;
    std::vector<llm::WireRecord> sent;

    std::string text() const
    {
        return answer ? answer->text : "failed: " + (failure ? failure->message : "nothing came");
    }
    std::string kind() const { return failure ? std::string(nameOf(failure->kind)) : "answered"; }
};

/// Services with waits that suit tests, and a memory of limits that is nobody else's.
inline llm::ChatServices testServices()
{
    auto services = llm::ChatServices{};
    auto loop = llm::CurlLoop::create();
    EXPECT_TRUE(loop) << loop.error().message;
    services.loop = *loop;
    services.knowledge = std::make_shared<llm::ModelKnowledge>();
    services.firstBackoffSeconds = 0.002;
    return services;
}

inline llm::ModelProfile testProfile(const std::string& provider, const std::string& url)
{
    llm::ModelProfile profile;
    profile.provider = provider;
    profile.baseUrl = url;
    profile.model = "test-model";
    profile.keyVariable = "ESPALIER_TEST_KEY";
    profile.firstTokenSeconds = 20;
    profile.stallSeconds = 20;
    profile.totalSeconds = 60;
    return profile;
}

inline llm::ChatRequest question(const std::string& text = "Say hello.")
{
    llm::ChatRequest request;
    request.messages = {{"system", "You are terse."}, {"user", text}};
    request.purpose = "idea";
    return request;
}

/// Waits until `client` has answered `count` requests or `seconds` have passed.
inline std::map<std::int64_t, Outcome> collect(llm::ChatClient& client, std::size_t count, double seconds = 30)
{
    std::map<std::int64_t, Outcome> outcomes;
    std::size_t ended = 0;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (ended < count && std::chrono::steady_clock::now() < limit) {
        pollfd polled{client.descriptor(), POLLIN, 0};
        const int due = client.timeoutMilliseconds();
        ::poll(&polled, 1, due < 0 ? 100 : std::min(due, 100));
        for (llm::chat::Event& event : client.receive()) {
            const std::int64_t id = std::visit([](const auto& each) { return each.id.value; }, event);
            Outcome& outcome = outcomes[id];
            if (auto* sent = std::get_if<llm::chat::Sent>(&event)) {
                outcome.sent.push_back(std::move(sent->wire));
            } else if (auto* delta = std::get_if<llm::chat::Delta>(&event)) {
                outcome.deltas += delta->text;
            } else if (auto* answered = std::get_if<llm::chat::Answered>(&event)) {
                outcome.answer = std::move(answered->answer);
                outcome.wire = std::move(answered->wire);
                ++ended;
            } else if (auto* failed = std::get_if<llm::chat::Failed>(&event)) {
                outcome.failure = std::move(failed->failure);
                outcome.wire = std::move(failed->wire);
                ++ended;
            }
        }
    }
    return outcomes;
}

inline std::unique_ptr<llm::ChatClient> makeTestClient(const llm::ModelProfile& profile,
                                                       const llm::ChatServices& services)
{
    auto client = llm::makeClient(profile, services);
    EXPECT_TRUE(client) << client.error().message;
    return client ? std::move(*client) : nullptr;
}

inline Outcome askOnce(llm::ChatClient& client, const llm::ChatRequest& request = question(), std::int64_t id = 1)
{
    client.start(RequestId{id}, request);
    client.release(RequestId{id});
    return collect(client, 1)[id];
}

inline Outcome askServer(const llm::ModelProfile& profile, const llm::ChatRequest& request = question())
{
    const auto client = makeTestClient(profile, testServices());
    return askOnce(*client, request);
}

/// The body of the n-th request that a server got.
inline Json bodyOf(const ScriptedServer& server, std::size_t n)
{
    const auto requests = server.requests();
    return n < requests.size() ? Json::parse(requests[n].body, nullptr, false) : Json();
}

/// A good answer of chat completions as events.
inline std::string chatEvents(const std::string& text, const std::string& finish = "stop")
{
    const Json delta = {{"model", "served-model"},
                        {"choices", {{{"index", 0}, {"delta", {{"content", text}}}, {"finish_reason", nullptr}}}}};
    const Json end = {{"choices", {{{"index", 0}, {"delta", Json::object()}, {"finish_reason", finish}}}}};
    const Json usage = {{"choices", Json::array()}, {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 5}}}};
    return "data: " + delta.dump() + "\n\ndata: " + end.dump() + "\n\ndata: " + usage.dump() + "\n\ndata: [DONE]\n\n";
}

inline Reply refused(int status, const std::string& message, const std::string& code = "",
                     const std::string& param = "")
{
    const Json body = {
        {"error", {{"message", message}, {"type", "invalid_request_error"}, {"code", code}, {"param", param}}}};
    return Reply{.status = status, .body = body.dump(), .contentType = "application/json"};
}

inline Reply events(std::string body)
{
    return Reply{.body = std::move(body)};
}

inline Outcome askChat(const ScriptedServer& server, const llm::ChatRequest& request = question())
{
    return askServer(testProfile("openai", server.url() + "/v1"), request);
}

inline std::string linesOf(const std::vector<std::string>& lines)
{
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

} // namespace espalier::tests
