// SPDX-License-Identifier: Apache-2.0
#include "core/llm/replay_client.h"

#include "core/base/fd.h"
#include "core/base/file.h"
#include "core/llm/redact.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>

namespace espalier::llm {

namespace {

template <typename Map>
void sortByOrdinal(Map& lists)
{
    for (auto& [name, list] : lists) {
        std::stable_sort(list.begin(), list.end(),
                         [](const auto& a, const auto& b) { return a->ordinal < b->ordinal; });
    }
}

template <typename Map, typename Key>
std::shared_ptr<const Exchange> nth(const Map& lists, const Key& key, std::size_t n)
{
    const auto found = lists.find(key);
    return found == lists.end() || n >= found->second.size() ? nullptr : found->second[n];
}

std::string requestText(const ChatRequest& request)
{
    Json json = {{"purpose", request.purpose}, {"subject", request.subject}, {"messages", Json::array()}};
    for (const Message& message : request.messages) {
        json["messages"].push_back({{"role", message.role}, {"text", message.text}});
    }
    return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

Result<std::unique_ptr<ChatClient>> ReplayClient::open(const ModelProfile& profile)
{
    if (profile.folder.empty()) {
        return fail(ErrorCode::InvalidInput, "the provider replay needs the folder with the recorded exchanges: name "
                                             "it in the profile's field folder, or with --folder");
    }
    ESPALIER_TRY(std::vector<Exchange> exchanges, readExchanges(profile.folder));
    std::unique_ptr<ReplayClient> client(new ReplayClient);
    client->m_model = profile.model.empty() ? "recorded" : profile.model;
    client->m_source = profile.folder;
    for (Exchange& each : exchanges) {
        const auto exchange = std::make_shared<const Exchange>(std::move(each));
        if (!exchange->key.empty()) {
            client->m_byKey[exchange->key].push_back(exchange);
        }
        if (!exchange->subject.empty()) {
            client->m_byName[{exchange->purpose, exchange->subject}].push_back(exchange);
        }
    }
    sortByOrdinal(client->m_byKey);
    sortByOrdinal(client->m_byName);
    return client;
}

ReplayClient::Found ReplayClient::find(const ChatRequest& request)
{
    const std::string key = exchangeKey(request);
    const Name name{request.purpose, request.subject};
    const std::size_t ofKey = m_keysAsked[key]++, ofName = m_namesAsked[name]++;
    Found found;
    found.exchange = nth(m_byKey, key, ofKey);
    if (!found.exchange && !request.subject.empty()) {
        found.exchange = nth(m_byName, name, ofName);
    }
    found.wire = {"replay:" + m_source, Redactor().clean(requestText(request)), ""};
    if (found.exchange) {
        found.wire.responseBody =
            Redactor().clean(toJson(*found.exchange).dump(-1, ' ', false, Json::error_handler_t::replace));
    } else {
        found.missing = fmt::format("{} holds no exchange for purpose \"{}\", subject \"{}\" (request {} of that name; "
                                    "key {}): record or write it, and run again",
                                    m_source, request.purpose, request.subject, ofName + 1, key.substr(0, 16));
    }
    return found;
}

WireRecord ReplayClient::start(RequestId id, const ChatRequest& request)
{
    Found found = find(request);
    const WireRecord sent{found.wire.url, found.wire.requestBody, ""};
    m_started.insert_or_assign(id, std::move(found));
    return sent;
}

void ReplayClient::release(RequestId id)
{
    const auto started = m_started.find(id);
    if (started == m_started.end()) {
        return;
    }
    Found found = std::move(started->second);
    m_started.erase(started);
    m_events.push_back(chat::Sent{id, {found.wire.url, found.wire.requestBody, ""}});
    if (!found.exchange) {
        ChatFailure failure;
        failure.kind = ChatFailure::Kind::NotRecorded;
        failure.message = found.missing;
        m_events.push_back(chat::Failed{id, std::move(failure), std::move(found.wire)});
    } else if (const auto* answer = std::get_if<ChatAnswer>(&found.exchange->outcome)) {
        m_events.push_back(chat::Delta{id, answer->text});
        ChatAnswer given = *answer;
        given.model = given.model.empty() ? m_model : given.model;
        m_events.push_back(chat::Answered{id, std::move(given), std::move(found.wire)});
    } else {
        m_events.push_back(chat::Failed{id, std::get<ChatFailure>(found.exchange->outcome), std::move(found.wire)});
    }
}

void ReplayClient::cancel(RequestId id)
{
    const auto isOfRequest = [id](const chat::Event& event) {
        return std::visit([id](const auto& each) { return each.id == id; }, event);
    };
    const bool known = m_started.erase(id) > 0 || std::any_of(m_events.begin(), m_events.end(), isOfRequest);
    std::erase_if(m_events, isOfRequest);
    if (known) {
        ChatFailure failure;
        failure.kind = ChatFailure::Kind::Cancelled;
        failure.message = "the request was cancelled";
        m_events.push_back(chat::Failed{id, std::move(failure), {"replay:" + m_source, "", ""}});
    }
}

std::vector<chat::Event> ReplayClient::receive()
{
    return std::exchange(m_events, {});
}

Result<std::unique_ptr<RecordingClient>> RecordingClient::open(std::unique_ptr<ChatClient> inner,
                                                               const std::filesystem::path& folder)
{
    ESPALIER_CHECK(makeDirectories(folder));
    std::unique_ptr<RecordingClient> client(new RecordingClient);
    client->m_inner = std::move(inner);
    client->m_file = folder / "recorded.jsonl";
    return client;
}

WireRecord RecordingClient::start(RequestId id, const ChatRequest& request)
{
    Exchange exchange;
    exchange.key = exchangeKey(request);
    exchange.purpose = request.purpose;
    exchange.subject = request.subject;
    exchange.ordinal = m_ordinals[exchange.key]++;
    exchange.origin = "recorded";
    for (const Message& message : request.messages) {
        exchange.messages.push_back({message.role, Redactor().clean(message.text)});
    }
    m_open.insert_or_assign(id, std::move(exchange));
    return m_inner->start(id, request);
}

std::vector<chat::Event> RecordingClient::receive()
{
    std::vector<chat::Event> events = m_inner->receive();
    for (const chat::Event& event : events) {
        if (const auto* answered = std::get_if<chat::Answered>(&event)) {
            append(answered->id, answered->answer);
        } else if (const auto* failed = std::get_if<chat::Failed>(&event)) {
            append(failed->id, failed->failure);
        }
    }
    return events;
}

void RecordingClient::append(RequestId id, std::variant<ChatAnswer, ChatFailure> outcome)
{
    const auto open = m_open.find(id);
    if (open == m_open.end()) {
        return;
    }
    open->second.outcome = std::move(outcome);
    const std::string line = toJson(open->second).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    m_open.erase(open);
    const UniqueFd file(::open(m_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!file || ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        m_trouble = fmt::format("cannot record in {}: {}", m_file.string(), std::strerror(errno));
    }
}

} // namespace espalier::llm
