// SPDX-License-Identifier: Apache-2.0
#include "core/llm/manual_client.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/llm/answer_bytes.h"
#include "core/llm/answer_text.h"
#include "core/llm/command_client.h"
#include "core/llm/exchange.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/inotify.h>

namespace espalier::llm {

namespace {

using ManualClock = std::chrono::steady_clock;

constexpr std::string_view promptEnding = ".prompt.md", answerEnding = ".answer.md";
constexpr std::size_t longestAnswer = std::size_t{8} << 20;

/// Letters, digits and - of a purpose: it becomes part of a file's name.
std::string fileWord(std::string_view text)
{
    std::string word;
    for (const char byte : text.substr(0, 32)) {
        const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
        word += plain ? byte : '-';
    }
    return word.empty() ? "prompt" : word;
}

} // namespace

struct ManualClient::Wait {
    RequestId id{0};
    std::string prompt, name;
    bool released = false, written = false;
    ManualClock::time_point begun{};
};

ManualClient::~ManualClient() = default;

std::filesystem::path ManualClient::promptPath(const Wait& wait) const
{
    return m_folder / (wait.name + std::string(promptEnding));
}

Result<std::unique_ptr<ManualClient>> ManualClient::make(const ModelProfile& profile)
{
    if (profile.folder.empty()) {
        return espalier::fail(ErrorCode::InvalidInput, "the provider manual needs a folder for prompts and answers: "
                                                       "name it in the profile's field folder, or with --folder");
    }
    ESPALIER_CHECK(makeDirectories(profile.folder));
    std::unique_ptr<ManualClient> client(new ManualClient);
    client->m_folder = profile.folder;
    client->m_model = profile.model.empty() ? "by hand" : profile.model;
    client->m_notices.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!client->m_notices ||
        ::inotify_add_watch(client->m_notices.get(), profile.folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
        return espalier::fail(ErrorCode::Internal,
                              fmt::format("cannot watch {} for answers: {}", profile.folder, std::strerror(errno)));
    }
    return client;
}

WireRecord ManualClient::start(RequestId id, const ChatRequest& request)
{
    auto wait = std::make_unique<Wait>();
    wait->id = id;
    wait->prompt = m_redactor.clean(promptText(request));
    wait->name = nameFor(request);
    m_names.insert(wait->name);
    WireRecord wire{"manual:" + promptPath(*wait).string(), wait->prompt, ""};
    m_waits.insert_or_assign(id, std::move(wait));
    return wire;
}

std::string ManualClient::nameFor(const ChatRequest& request) const
{
    const std::string file = std::filesystem::path(request.askedAt).filename().string();
    if (request.askedAt.starts_with("manual:") && file.ends_with(promptEnding)) {
        return file.substr(0, file.size() - promptEnding.size());
    }
    const std::string base = fileWord(request.purpose) + "-" + exchangeKey(request).substr(0, 10);
    std::string name = base;
    for (int number = 2; m_names.contains(name); ++number) {
        name = fmt::format("{}-{}", base, number);
    }
    return name;
}

void ManualClient::release(RequestId id)
{
    if (const auto found = m_waits.find(id); found != m_waits.end()) {
        found->second->released = true;
        m_due = true;
    }
}

void ManualClient::cancel(RequestId id)
{
    if (const auto found = m_waits.find(id); found != m_waits.end()) {
        m_names.erase(found->second->name);
        fail(id, ChatFailure::Kind::Cancelled, "the request was cancelled");
    }
}

std::filesystem::path ManualClient::promptFile(RequestId id) const
{
    const auto found = m_waits.find(id);
    return found == m_waits.end() || !found->second->written ? std::filesystem::path() : promptPath(*found->second);
}

std::vector<chat::Event> ManualClient::receive()
{
    alignas(inotify_event) char notices[16384];
    bool look = std::exchange(m_due, false);
    while (::read(m_notices.get(), notices, sizeof notices) > 0) {
        look = true; // which file it was does not matter: few requests wait at a time
    }
    std::vector<RequestId> ids;
    for (const auto& [id, wait] : m_waits) {
        if (look && wait->released) {
            ids.push_back(id);
        }
    }
    for (const RequestId id : ids) {
        Wait& wait = *m_waits.at(id);
        if (!wait.written) {
            write(wait);
        }
        if (m_waits.contains(id)) {
            lookFor(wait);
        }
    }
    return std::exchange(m_events, {});
}

void ManualClient::write(Wait& wait)
{
    const auto path = promptPath(wait);
    m_events.push_back(chat::Sent{wait.id, {"manual:" + path.string(), wait.prompt, ""}});
    wait.begun = ManualClock::now();
    if (const auto written = writeFileAtomically(path, wait.prompt); !written) {
        fail(wait.id, ChatFailure::Kind::Unreachable, written.error().message);
        return;
    }
    wait.written = true;
}

void ManualClient::lookFor(Wait& wait)
{
    const auto path = m_folder / (wait.name + std::string(answerEnding));
    std::error_code error;
    if (const auto bytes = std::filesystem::file_size(path, error); !error && bytes > longestAnswer) {
        return tooLong(wait);
    }
    const auto text = readFile(path, longestAnswer);
    if (text) {
        answer(wait.id, *text);
    } else if (text.error().code != ErrorCode::NotFound) {
        fail(wait.id, ChatFailure::Kind::Unusable, text.error().message);
    }
}

/// A file that is no answer of anybody's ends its question, and no more.
void ManualClient::tooLong(const Wait& wait)
{
    ChatAnswer given;
    given.finish = Finish::TooLong;
    given.model = m_model;
    given.adjustments.push_back(
        fmt::format("{}{} is longer than {}: it was not read", wait.name, answerEnding, bytesText(longestAnswer)));
    const RequestId id = wait.id;
    WireRecord wire{"manual:" + promptPath(wait).string(), wait.prompt, ""};
    m_waits.erase(id);
    m_events.push_back(chat::Answered{id, std::move(given), std::move(wire)});
}

bool ManualClient::answer(RequestId id, std::string_view bytes)
{
    const std::string text = answerTextOf(bytes);
    const auto found = m_waits.find(id);
    if (found == m_waits.end() || !found->second->released || trimmed(text).empty()) {
        return false;
    }
    const Wait& wait = *found->second;
    const SplitAnswer split = splitReasoning(text);
    ChatAnswer given;
    given.text = split.text.empty() ? text : split.text;
    given.reasoning = split.reasoning;
    given.model = m_model;
    given.seconds = wait.written ? std::chrono::duration<double>(ManualClock::now() - wait.begun).count() : 0;
    WireRecord wire{"manual:" + promptPath(wait).string(), wait.prompt, m_redactor.clean(text)};
    m_waits.erase(found);
    m_events.push_back(chat::Answered{id, std::move(given), std::move(wire)});
    return true;
}

void ManualClient::fail(RequestId id, ChatFailure::Kind kind, std::string message)
{
    const Wait& wait = *m_waits.at(id);
    ChatFailure failure;
    failure.kind = kind;
    failure.message = std::move(message);
    WireRecord wire{"manual:" + promptPath(wait).string(), wait.prompt, ""};
    m_waits.erase(id);
    m_events.push_back(chat::Failed{id, std::move(failure), std::move(wire)});
}

} // namespace espalier::llm
