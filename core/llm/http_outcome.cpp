// SPDX-License-Identifier: Apache-2.0
// How an attempt ended and what follows: another attempt, an answer, or one sentence that says why not.
#include "core/base/text.h"
#include "core/llm/answer_text.h"
#include "core/llm/http_flight.h"

#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace espalier::llm {

namespace {

constexpr int mostAdjustments = 8;
constexpr int mostConnects = 2;    ///< further tries where nobody listens
constexpr int mostTruncations = 2; ///< further tries of a stream that was cut: each may have been billed
constexpr std::int64_t largestBudget = 131'072;

std::string clockText(double secondsFromNow)
{
    const std::time_t then = std::time(nullptr) + static_cast<std::time_t>(secondsFromNow);
    std::tm utc = {};
    ::gmtime_r(&then, &utc);
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", utc);
}

std::string remedyFor(ChatFailure::Kind kind, int status, const std::string& keySource)
{
    switch (kind) {
    case ChatFailure::Kind::Quota:
        return "the account has no money or quota left: top it up or choose another model; local work goes on";
    case ChatFailure::Kind::Overflow:
        return "the prompt is longer than the model takes: lower the context budget or leave channels out";
    case ChatFailure::Kind::RateLimited:
        return "the provider limits the rate: send fewer requests at once or wait";
    case ChatFailure::Kind::Server:
        return "the provider has trouble: try again later";
    default:
        break;
    }
    if (status == 401 || status == 403) {
        return keySource.empty() ? "no key was sent: set ESPALIER_API_KEY or the provider's own variable"
                                 : fmt::format("check the key in {} and what it may use", keySource);
    }
    return status == 404
               ? "check the base URL and the model's name (espalierctl doctor --provider lists what is offered)"
               : "check the profile of this model";
}

} // namespace

std::string_view connectionRemedy(int curlCode)
{
    const bool tls = curlCode == CURLE_PEER_FAILED_VERIFICATION || curlCode == CURLE_SSL_CONNECT_ERROR ||
                     curlCode == CURLE_SSL_CACERT_BADFILE;
    return tls ? "name the authority's certificate in the profile's ca_bundle where it is one of your own"
               : "check the address, that the server runs, and the proxy";
}

void HttpClient::concludeLost(Flight& flight, const HttpEnd& end)
{
    if (flight.tooLarge) {
        flight.adjustments.push_back(
            fmt::format("the answer is longer than {}, which no model's answer is: the rest was not read",
                        bytesText(m_services.answerCap)));
        return answer(flight, Finish::TooLong);
    }
    const bool nobody = end.code == CURLE_COULDNT_RESOLVE_HOST || end.code == CURLE_COULDNT_CONNECT ||
                        end.code == CURLE_COULDNT_RESOLVE_PROXY;
    const bool passing = end.code == CURLE_RECV_ERROR || end.code == CURLE_SEND_ERROR ||
                         end.code == CURLE_GOT_NOTHING || end.code == CURLE_PARTIAL_FILE || end.code == CURLE_HTTP2 ||
                         end.code == CURLE_HTTP2_STREAM;
    const int limit = nobody ? std::min(mostConnects, m_profile.mostRetries) : passing ? m_profile.mostRetries : 0;
    int& used = nobody ? flight.connects : flight.retries;
    if (used < limit) {
        sendAfter(flight, backoff(used++));
        return;
    }
    if (end.code == CURLE_OPERATION_TIMEDOUT) {
        fail(flight, ChatFailure::Kind::Deadline,
             fmt::format("no connection within {:g} s ({}); check the network and the proxy, or raise connectSeconds",
                         m_profile.connectSeconds, end.error));
        return;
    }
    fail(flight, ChatFailure::Kind::Unreachable, fmt::format("{}; {}", end.error, connectionRemedy(end.code)));
}

/// True when something about the request was changed and it is on its way again.
bool HttpClient::adjustAndSend(Flight& flight, const Refusal& refusal)
{
    ModelLimits limits = flight.limits;
    const ModelLimits known = m_services.knowledge->of(endpoint(), m_profile.model);
    const Json body = Json::parse(flight.body, nullptr, false);
    const Sent sent{.outputTokens = limits.mostOutput > 0 ? std::min(flight.budget, limits.mostOutput) : flight.budget,
                    .newerTokenField = body.contains("max_completion_tokens"),
                    .temperature = flight.request.temperature.has_value() && limits.temperature,
                    .effort = !flight.request.reasoningEffort.empty(),
                    .schema = !flight.request.jsonSchema.empty(),
                    .system = !flight.request.messages.empty() && flight.request.messages.front().role == "system",
                    .stream = limits.stream,
                    .streamOptions = body.contains("stream_options")};
    if (const auto changed = adjust(refusal, sent, limits, flight.budget)) {
        ++flight.adjusted;
        flight.adjustments.push_back(m_redactor.clean(*changed));
        if (known == flight.limits) { // else another request has learned meanwhile: send with what it learned
            m_services.knowledge->learn(endpoint(), m_profile.model, limits);
        }
        send(flight);
        return true;
    }
    if (limits.context != flight.limits.context && known == flight.limits) {
        m_services.knowledge->learn(endpoint(), m_profile.model, limits);
    }
    return false;
}

void HttpClient::concludeRefused(Flight& flight, Refusal refusal)
{
    refusal.retryAfterSeconds = refusal.retryAfterSeconds ? refusal.retryAfterSeconds : refusal.error.retryAfterSeconds;
    refusal.retryAfterSeconds =
        refusal.retryAfterSeconds ? refusal.retryAfterSeconds : retryAfterInWords(refusal.error.message);
    if (isWrongPath(refusal) && flight.urlChoice + 1 < m_bases.size()) {
        ++flight.urlChoice;
        send(flight);
        return;
    }
    if (flight.adjusted < mostAdjustments && adjustAndSend(flight, refusal)) {
        return;
    }
    const std::string words = refusal.status > 0 ? fmt::format("answered {}: {}", refusal.status, refusal.error.message)
                                                 : fmt::format("answered {} with an error in its stream: {}",
                                                               flight.status, refusal.error.message);
    if (!worthRetrying(refusal)) {
        const auto kind = kindOf(refusal);
        const auto facts = overflowOf(refusal);
        fail(flight, kind,
             fmt::format("{}; {}{}", words,
                         facts && facts->contextTokens > 0
                             ? fmt::format("the model takes {} tokens: ", facts->contextTokens)
                             : "",
                         remedyFor(kind, refusal.status, m_keySource)),
             kind == ChatFailure::Kind::Quota ? refusal.retryAfterSeconds : std::nullopt);
        return;
    }
    const auto kind = kindOf(refusal);
    const double wait = refusal.retryAfterSeconds.value_or(0);
    if (wait > m_profile.retryAfterCapSeconds) {
        fail(flight, kind,
             fmt::format("{}; it asks to wait until {}, longer than the cap of {:g} s", words, clockText(wait),
                         m_profile.retryAfterCapSeconds),
             wait);
    } else if (flight.retries >= m_profile.mostRetries) {
        fail(flight, kind,
             fmt::format("{} ({} tries); {}", words, flight.attempts, remedyFor(kind, refusal.status, m_keySource)));
    } else {
        const double pause = backoff(flight.retries++);
        sendAfter(flight, std::max(wait, pause));
    }
}

void HttpClient::concludeRead(Flight& flight, const HttpEnd& end)
{
    flight.reader->finish();
    const Reading& reading = flight.reader->reading();
    if (reading.error) {
        concludeRefused(flight, Refusal{reading.error->status, *reading.error, {}});
    } else if (reading.ended) {
        answer(flight, reading.finish.value_or(Finish::Complete));
    } else if (end.code != 0 || flight.reader->usable()) {
        concludeCut(flight, end.code != 0 ? end.error : "the connection was closed");
    } else if (flight.urlChoice + 1 < m_bases.size()) {
        ++flight.urlChoice; // a web page where the API was expected
        send(flight);
    } else {
        const std::string begin = flight.reader->raw().substr(0, 200);
        fail(flight, ChatFailure::Kind::Unusable,
             fmt::format("answered {} ({}) with what is no answer of the provider {}: \"{}\"; check the base URL and "
                         "the provider",
                         end.status, end.contentType.empty() ? "no content type" : end.contentType,
                         m_dialect->provider(), printable(begin, 200)));
    }
}

void HttpClient::concludeCut(Flight& flight, const std::string& how)
{
    const Reading& reading = flight.reader->reading();
    flight.adjustments.push_back(m_redactor.clean(fmt::format(
        "the stream ended without its terminal marker after {} bytes of answer ({})", reading.text.size(), how)));
    if (flight.truncations >= std::min(mostTruncations, m_profile.mostRetries)) {
        answer(flight, Finish::Truncated);
        return;
    }
    sendAfter(flight, backoff(flight.truncations++));
}

/// Reasoning took the whole budget: true when the request is sent again with a larger one.
bool HttpClient::raiseBudget(Flight& flight)
{
    const std::int64_t most = flight.limits.mostOutput > 0 ? flight.limits.mostOutput : largestBudget;
    const std::int64_t used = std::min(flight.budget, most);
    const std::int64_t larger = std::min(used * 4, most);
    if (flight.budgetRaised || larger <= used) {
        flight.adjustments.push_back(fmt::format("output budget exhausted: {} tokens went by before any answer", used));
        return false;
    }
    flight.budgetRaised = true;
    flight.budget = larger;
    flight.adjustments.push_back(
        fmt::format("output budget exhausted: {} tokens went by before any answer; sent again with {}", used, larger));
    send(flight);
    return true;
}

void HttpClient::answer(Flight& flight, Finish finish)
{
    const Reading& reading = flight.reader->reading();
    SplitAnswer split = finish == Finish::TooLong ? SplitAnswer{printable(reading.text, keptOfTooLong), ""}
                                                  : splitReasoning(reading.text);
    const bool onlyReasoning = split.text.empty() && !(split.reasoning.empty() && reading.reasoning.empty());
    if (finish == Finish::Length && split.text.empty() && raiseBudget(flight)) {
        return;
    }
    ChatAnswer answer;
    answer.text = split.text;
    answer.reasoning = (finish == Finish::TooLong ? printable(reading.reasoning, keptOfTooLong) : reading.reasoning) +
                       (reading.reasoning.empty() || split.reasoning.empty() ? "" : "\n") + split.reasoning;
    if (onlyReasoning && finish == Finish::Complete) {
        // Some servers put all of an answer into the reasoning field or never close the tag: what is in it is not lost.
        answer.text = "<think>" + answer.reasoning;
        flight.adjustments.emplace_back("the whole answer stood in the reasoning");
    }
    answer.text = m_redactor.cleanAnswer(answer.text);
    answer.reasoning = m_redactor.cleanAnswer(answer.reasoning);
    answer.finish = finish;
    count(flight);
    answer.usage = flight.billed;
    answer.model = reading.model.empty() ? m_profile.model : m_redactor.clean(printable(reading.model, 200));
    answer.adjustments = flight.adjustments;
    answer.attempts = flight.attempts;
    answer.firstTokenSeconds =
        flight.firstToken ? std::chrono::duration<double>(*flight.firstToken - flight.sent).count() : 0;
    answer.seconds = secondsSince(flight.begun);
    answer.httpStatus = flight.status;
    if (flight.urlChoice != static_cast<std::size_t>(flight.limits.urlChoice)) {
        ModelLimits limits = m_services.knowledge->of(endpoint(), m_profile.model);
        limits.urlChoice = static_cast<int>(flight.urlChoice);
        m_services.knowledge->learn(endpoint(), m_profile.model, limits);
    }
    end(flight, std::move(answer), {});
}

void HttpClient::fail(Flight& flight, ChatFailure::Kind kind, const std::string& what, std::optional<double> retryAfter)
{
    ChatFailure failure;
    failure.kind = kind;
    failure.httpStatus = flight.status;
    failure.retryAfterSeconds = retryAfter;
    count(flight);
    failure.usage = flight.billed;
    if (flight.reader) {
        failure.partialText = m_redactor.cleanAnswer(flight.reader->reading().text);
    }
    std::string tried = flight.url;
    for (const std::string& url : flight.urlsTried) {
        tried += url == flight.url ? "" : ", before that " + url;
    }
    failure.message = m_redactor.clean(fmt::format("POST {}: {}", tried, what));
    end(flight, std::nullopt, std::move(failure));
}

void HttpClient::end(Flight& flight, std::optional<ChatAnswer> answer, ChatFailure failure)
{
    if (flight.reader) {
        tellNews(flight);
    }
    WireRecord wire{m_redactor.clean(flight.url), m_redactor.clean(flight.body), ""};
    wire.responseBody =
        m_redactor.clean(flight.errorBody.empty() ? flight.reader ? flight.reader->raw() : "" : flight.errorBody);
    const RequestId id = flight.id;
    if (flight.transfer != 0) {
        m_services.loop->cancel(flight.transfer);
        m_transfers.erase(flight.transfer);
    }
    if (flight.timer != 0) {
        m_services.loop->cancelTimer(flight.timer);
        m_timers.erase(flight.timer);
    }
    m_flights.erase(id);
    if (answer) {
        tell(chat::Answered{id, std::move(*answer), std::move(wire)});
    } else {
        tell(chat::Failed{id, std::move(failure), std::move(wire)});
    }
}

double HttpClient::backoff(int retries)
{
    const double base = m_services.firstBackoffSeconds * static_cast<double>(1 << std::min(retries, 16));
    std::uniform_real_distribution<double> jitter(0.5, 1.5);
    return std::min(base, m_services.longestBackoffSeconds) * jitter(m_random);
}

} // namespace espalier::llm
