// SPDX-License-Identifier: Apache-2.0
#include "core/llm/endpoint_check.h"

#include "core/base/text.h"
#include "core/llm/keys.h"
#include "core/llm/make_client.h"
#include "core/llm/profiles.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <poll.h>

namespace espalier::llm {

namespace {

using CheckClock = std::chrono::steady_clock;

/// One GET, waited for.
class Fetch final : public LoopUser
{
public:
    bool transferBytes(std::uint64_t, int, std::string_view bytes) override
    {
        body += bytes;
        return body.size() < (std::size_t{16} << 20);
    }
    void transferEnded(std::uint64_t, const HttpEnd& ended) override { end = ended; }
    void timerFired(std::uint64_t) override {}

    std::string body;
    std::optional<HttpEnd> end;
};

HttpEnd fetch(CurlLoop& loop, const HttpCall& call, std::string& body)
{
    Fetch fetching;
    const auto started = loop.start(call, fetching);
    if (!started) {
        return {.code = -1, .error = started.error().message};
    }
    const auto limit = CheckClock::now() + std::chrono::duration<double>(call.connectSeconds + 30);
    while (!fetching.end && CheckClock::now() < limit) {
        pollfd polled{loop.descriptor(), POLLIN, 0};
        ::poll(&polled, 1, 100);
        loop.drive();
    }
    loop.cancel(*started);
    body = std::move(fetching.body);
    return fetching.end.value_or(HttpEnd{.code = -1, .error = "no answer in time"});
}

EndpointReport checkLocal(const ModelProfile& profile)
{
    EndpointReport report;
    const auto client = makeClient(profile);
    report.good = client.has_value();
    if (!client) {
        report.error = client.error().message;
    } else {
        report.urlsTried = {std::string((*client)->provider()) + ":" +
                            (profile.command.empty() ? profile.folder : profile.command.front())};
    }
    return report;
}

/// What the answer of one address says; true: no further address needs to be tried.
bool judgeAnswer(const Dialect& dialect, const HttpEnd& end, const std::string& body, EndpointReport& report)
{
    report.status = end.status;
    if (end.status == 0) {
        report.error = end.error + "; " + std::string(connectionRemedy(end.code));
        return true;
    }
    const Json json = Json::parse(body, nullptr, false);
    if (end.status >= 200 && end.status < 300 && json.is_structured()) {
        report.models = dialect.models(json);
        std::sort(report.models.begin(), report.models.end());
        report.good = true;
        report.error.clear();
        return true;
    }
    const std::string words = providerErrorOf(std::string_view(body)).message;
    report.error = fmt::format("answered {}{}{}", end.status, words.empty() ? "" : ": ", printable(words, 600));
    if (end.status == 401 || end.status == 403) {
        report.error += report.keySource.empty()
                            ? "; no key was sent: set ESPALIER_API_KEY or the provider's own variable"
                            : fmt::format("; check the key in {}", report.keySource);
        return true;
    }
    return false;
}

} // namespace

EndpointReport checkEndpoint(const ModelProfile& profile)
{
    const Dialect* const dialect = dialectOf(profile.provider);
    if (!dialect) {
        return checkLocal(profile);
    }
    EndpointReport report;
    const auto bases =
        baseUrls(profile.baseUrl.empty() ? dialect->usualBaseUrl() : profile.baseUrl, dialect->version());
    const auto found = findKey(profile, *dialect);
    const auto loop = CurlLoop::create();
    if (!bases || !found || !loop) {
        report.error = !bases ? bases.error().message : !found ? found.error().message : loop.error().message;
        return report;
    }
    report.keySource = found->source;
    Redactor redactor;
    redactor.add(found->key);
    HttpCall call{
        "", dialect->headers(found->key), std::nullopt, profile.proxy, profile.caBundle, profile.connectSeconds};
    for (const auto& [name, written] : profile.headers) {
        call.headers.emplace_back(name, fromEnvironment(written));
        redactor.add(isSecretName(name) || written.starts_with('$') ? call.headers.back().second : "");
    }
    for (const std::string& base : *bases) {
        call.url = joinUrl(base, dialect->modelsPath());
        report.urlsTried.push_back(redactor.clean(call.url));
        std::string body;
        const HttpEnd end = fetch(**loop, call, body);
        if (judgeAnswer(*dialect, end, body, report)) {
            break;
        }
    }
    report.error = redactor.clean(report.error);
    if (report.good && !profile.model.empty() && !report.models.empty()) {
        report.offered = std::binary_search(report.models.begin(), report.models.end(), profile.model);
    }
    return report;
}

Result<std::string> askBriefly(const ModelProfile& profile, double seconds)
{
    ModelProfile brief = profile;
    brief.totalSeconds = std::min(profile.totalSeconds, seconds);
    ESPALIER_TRY(const std::unique_ptr<ChatClient> client, makeClient(brief));
    ChatRequest request;
    request.messages = {{"user", "Answer with the one word: ready"}};
    request.maxOutputTokens = 1024; // reasoning counts
    request.purpose = "test";
    client->start(RequestId{1}, request);
    client->release(RequestId{1});
    const auto limit = CheckClock::now() + std::chrono::duration<double>(seconds + 5);
    while (CheckClock::now() < limit) {
        pollfd polled{client->descriptor(), POLLIN, 0};
        const int due = client->timeoutMilliseconds();
        ::poll(&polled, 1, due < 0 ? 100 : std::min(due, 100));
        for (const chat::Event& event : client->receive()) {
            if (const auto* answered = std::get_if<chat::Answered>(&event)) {
                return printable(answered->answer.text, 200);
            }
            if (const auto* failed = std::get_if<chat::Failed>(&event)) {
                return fail(ErrorCode::Protocol, failed->failure.message);
            }
        }
    }
    return fail(ErrorCode::Protocol, fmt::format("no answer within {:g} s", seconds));
}

} // namespace espalier::llm
