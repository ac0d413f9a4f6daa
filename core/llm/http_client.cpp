// SPDX-License-Identifier: Apache-2.0
#include "core/llm/http_client.h"

#include "core/base/text.h"
#include "core/llm/answer_text.h"
#include "core/llm/profiles.h"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

namespace espalier::llm {

namespace {

using FlightClock = std::chrono::steady_clock;

constexpr int mostAdjustments = 8;
constexpr int mostConnects = 2;    ///< further tries where nobody listens
constexpr int mostTruncations = 2; ///< further tries of a stream that was cut: each may have been billed
constexpr std::int64_t largestBudget = 131'072;
constexpr std::size_t errorBodyCap = std::size_t{64} << 10;

std::chrono::nanoseconds span(double seconds)
{
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e8) * 1e9));
}

double secondsSince(LoopTime time)
{
    return std::chrono::duration<double>(FlightClock::now() - time).count();
}

void addCount(std::int64_t& sum, std::int64_t more)
{
    sum = more < 0 ? sum : std::max<std::int64_t>(sum, 0) + more;
}

void addUsage(Usage& sum, const Usage& more)
{
    addCount(sum.input, more.input);
    addCount(sum.output, more.output);
    addCount(sum.cachedInput, more.cachedInput);
    addCount(sum.reasoning, more.reasoning);
}

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

/// One request on its way, over all its attempts.
struct HttpClient::Flight {
    enum class State { Held, Released, Sending, Waiting };
    RequestId id{0};
    ChatRequest request;
    State state = State::Held;
    std::string body;   ///< as it is sent
    std::string url;    ///< the last one tried
    ModelLimits limits; ///< what the body was made with
    std::size_t urlChoice = 0;
    std::vector<std::string> urlsTried;
    std::int64_t budget = 0; ///< tokens asked for, before the model's limit
    bool budgetRaised = false, tooLarge = false;
    int attempts = 0, retries = 0, connects = 0, truncations = 0, adjusted = 0;
    std::vector<std::string> adjustments;
    Usage billed;        ///< all attempts so far
    bool counted = true; ///< the present attempt's tokens are in it
    std::optional<AnswerReader> reader;
    std::string errorBody;
    std::size_t told = 0; ///< bytes of the text that were told as deltas
    bool news = false;    ///< there is text that was not told
    LoopTime begun{}, sent{}, lastByte{};
    std::optional<LoopTime> firstToken;
    std::uint64_t transfer = 0, timer = 0;
    int status = 0;
};

HttpClient::HttpClient(const ModelProfile& profile, const Dialect& dialect, ChatServices services)
    : m_dialect(&dialect), m_profile(profile), m_services(std::move(services))
{
}

Result<std::unique_ptr<ChatClient>> HttpClient::make(const ModelProfile& profile, const Dialect& dialect,
                                                     std::string key, std::string keySource, ChatServices services)
{
    std::unique_ptr<HttpClient> client(new HttpClient(profile, dialect, std::move(services)));
    ESPALIER_TRY(client->m_bases,
                 baseUrls(profile.baseUrl.empty() ? dialect.usualBaseUrl() : profile.baseUrl, dialect.version()));
    client->m_headers = {{"Content-Type", "application/json"},
                         {"Accept", "text/event-stream, application/json"},
                         {"User-Agent", "espalier"},
                         {"Expect", ""}};
    for (auto& header : dialect.headers(key)) {
        client->m_headers.push_back(std::move(header));
    }
    for (const auto& [name, written] : profile.headers) {
        const std::string value = fromEnvironment(written);
        client->m_headers.emplace_back(name, value);
        if (isSecretName(name) || value != written) {
            client->m_redactor.add(value);
        }
    }
    client->m_redactor.add(key);
    client->m_keySource = key.empty() ? "" : std::move(keySource);
    client->m_poll.reset(::epoll_create1(EPOLL_CLOEXEC));
    client->m_wake.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    for (const int fd : {client->m_services.loop->descriptor(), client->m_wake.get()}) {
        epoll_event event = {};
        event.events = EPOLLIN;
        event.data.fd = fd;
        if (::epoll_ctl(client->m_poll.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
            return espalier::fail(ErrorCode::Internal,
                                  "cannot prepare for requests to a language model: out of descriptors");
        }
    }
    return client;
}

HttpClient::~HttpClient()
{
    for (const auto& [number, id] : m_transfers) {
        m_services.loop->cancel(number);
    }
    for (const auto& [number, id] : m_timers) {
        m_services.loop->cancelTimer(number);
    }
}

void HttpClient::prepare(Flight& flight)
{
    flight.limits = m_services.knowledge->of(endpoint(), m_profile.model);
    flight.urlChoice =
        std::max(flight.urlChoice, std::min(static_cast<std::size_t>(flight.limits.urlChoice), m_bases.size() - 1));
    ChatRequest request = flight.request;
    request.maxOutputTokens = flight.budget;
    const std::string& base = m_bases[flight.urlChoice];
    flight.body = m_dialect->body(request, flight.limits, m_profile.model, hostOf(base))
                      .dump(-1, ' ', false, Json::error_handler_t::replace);
    flight.url = joinUrl(base, m_dialect->chatPath(m_profile.model, flight.limits.stream));
}

WireRecord HttpClient::start(RequestId id, const ChatRequest& request)
{
    auto flight = std::make_unique<Flight>();
    flight->id = id;
    flight->request = request;
    flight->budget = request.maxOutputTokens;
    prepare(*flight);
    WireRecord wire{m_redactor.clean(flight->url), m_redactor.clean(flight->body), ""};
    m_flights.insert_or_assign(id, std::move(flight));
    return wire;
}

void HttpClient::release(RequestId id)
{
    const auto found = m_flights.find(id);
    if (found == m_flights.end() || found->second->state != Flight::State::Held) {
        return;
    }
    found->second->state = Flight::State::Released;
    m_released.push_back(id);
    wake();
}

void HttpClient::cancel(RequestId id)
{
    if (const auto found = m_flights.find(id); found != m_flights.end()) {
        fail(*found->second, ChatFailure::Kind::Cancelled, "the request was cancelled");
    }
}

std::vector<chat::Event> HttpClient::receive()
{
    std::uint64_t count = 0;
    static_cast<void>(::read(m_wake.get(), &count, sizeof count));
    m_receiving = true;
    for (const RequestId id : std::exchange(m_released, {})) {
        if (const auto found = m_flights.find(id); found != m_flights.end()) {
            found->second->begun = FlightClock::now();
            send(*found->second);
        }
    }
    m_services.loop->drive();
    for (const RequestId id : std::exchange(m_news, {})) {
        if (const auto found = m_flights.find(id); found != m_flights.end()) {
            tellNews(*found->second);
        }
    }
    m_receiving = false;
    return std::exchange(m_events, {});
}

/// One delta for all that has come since the last one.
void HttpClient::tellNews(Flight& flight)
{
    flight.news = false;
    const std::string_view text = flight.reader->reading().text;
    if (text.size() > flight.told) {
        tell(chat::Delta{flight.id, m_redactor.cleanAnswer(text.substr(flight.told))});
        flight.told = text.size();
    }
}

/// Makes the descriptor readable: another client of the same loop is driving it, and nothing else would.
void HttpClient::wake()
{
    const std::uint64_t one = 1;
    if (!m_receiving) {
        static_cast<void>(::write(m_wake.get(), &one, sizeof one));
    }
}

void HttpClient::tell(chat::Event event)
{
    if (m_events.empty()) {
        wake();
    }
    m_events.push_back(std::move(event));
}

/// Adds what the provider billed for the present attempt, once.
void HttpClient::count(Flight& flight)
{
    if (!std::exchange(flight.counted, true)) {
        addUsage(flight.billed, flight.reader->reading().usage);
    }
}

void HttpClient::send(Flight& flight)
{
    count(flight);
    prepare(flight);
    tell(chat::Sent{flight.id, {m_redactor.clean(flight.url), m_redactor.clean(flight.body), ""}});
    flight.reader.emplace(*m_dialect);
    flight.counted = false;
    flight.errorBody.clear();
    flight.firstToken.reset();
    flight.told = 0;
    flight.status = 0;
    flight.sent = flight.lastByte = FlightClock::now();
    ++flight.attempts;
    if (std::find(flight.urlsTried.begin(), flight.urlsTried.end(), flight.url) == flight.urlsTried.end()) {
        flight.urlsTried.push_back(flight.url);
    }
    const HttpCall call{flight.url,      m_headers,          flight.body,
                        m_profile.proxy, m_profile.caBundle, m_profile.connectSeconds};
    const auto started = m_services.loop->start(call, *this);
    if (!started) {
        fail(flight, ChatFailure::Kind::Rejected, started.error().message);
        return;
    }
    flight.state = Flight::State::Sending;
    flight.transfer = *started;
    m_transfers.emplace(*started, flight.id);
    watch(flight);
}

void HttpClient::sendAfter(Flight& flight, double seconds)
{
    if (secondsSince(flight.begun) + seconds > m_profile.totalSeconds) {
        fail(flight, ChatFailure::Kind::Deadline,
             fmt::format("the total time of {:g} s would pass before the next try; raise totalSeconds in its profile",
                         m_profile.totalSeconds));
        return;
    }
    flight.state = Flight::State::Waiting;
    flight.timer = m_services.loop->setTimer(FlightClock::now() + span(seconds), *this);
    m_timers.emplace(flight.timer, flight.id);
}

/// Sets the timer for the next deadline of a request under way. It is set again only when it fires: bytes come often.
void HttpClient::watch(Flight& flight)
{
    const LoopTime quiet = flight.firstToken ? flight.lastByte + span(m_profile.stallSeconds)
                                             : flight.sent + span(m_profile.firstTokenSeconds);
    const LoopTime due = std::min(quiet, flight.begun + span(m_profile.totalSeconds));
    flight.timer = m_services.loop->setTimer(due, *this);
    m_timers.emplace(flight.timer, flight.id);
}

void HttpClient::timerFired(std::uint64_t timer)
{
    const auto known = m_timers.find(timer);
    const auto found = known == m_timers.end() ? m_flights.end() : m_flights.find(known->second);
    if (known != m_timers.end()) {
        m_timers.erase(known);
    }
    if (found == m_flights.end()) {
        return;
    }
    Flight& flight = *found->second;
    flight.timer = 0;
    if (flight.state == Flight::State::Waiting) {
        send(flight);
        return;
    }
    const LoopTime now = FlightClock::now();
    if (now >= flight.begun + span(m_profile.totalSeconds)) {
        fail(flight, ChatFailure::Kind::Deadline,
             fmt::format("no whole answer within {:g} s; raise totalSeconds in its profile or ask for less",
                         m_profile.totalSeconds));
    } else if (!flight.firstToken && now >= flight.sent + span(m_profile.firstTokenSeconds)) {
        fail(flight, ChatFailure::Kind::Deadline,
             fmt::format("no first token within {:g} s; raise firstTokenSeconds in its profile or look at the server",
                         m_profile.firstTokenSeconds));
    } else if (flight.firstToken && now >= flight.lastByte + span(m_profile.stallSeconds)) {
        fail(flight, ChatFailure::Kind::Deadline,
             fmt::format(
                 "the answer stopped in the middle for {:g} s; raise stallSeconds in its profile or look at the server",
                 m_profile.stallSeconds));
    } else {
        watch(flight);
    }
}

HttpClient::Flight* HttpClient::byTransfer(std::uint64_t transfer)
{
    const auto known = m_transfers.find(transfer);
    const auto found = known == m_transfers.end() ? m_flights.end() : m_flights.find(known->second);
    return found == m_flights.end() ? nullptr : found->second.get();
}

bool HttpClient::transferBytes(std::uint64_t transfer, int status, std::string_view bytes)
{
    Flight* const flight = byTransfer(transfer);
    if (!flight) {
        return false;
    }
    flight->lastByte = FlightClock::now();
    flight->status = status;
    if (status >= 300) {
        flight->errorBody += bytes.substr(0, errorBodyCap - std::min(errorBodyCap, flight->errorBody.size()));
        return true;
    }
    flight->reader->feed(bytes);
    flight->tooLarge = flight->reader->bytes() > m_services.answerCap;
    const Reading& reading = flight->reader->reading();
    if (!flight->firstToken && (!reading.text.empty() || !reading.reasoning.empty() || reading.ended)) {
        flight->firstToken = flight->lastByte;
        m_services.loop->cancelTimer(flight->timer); // the stall's deadline may come before the first token's
        m_timers.erase(flight->timer);
        watch(*flight);
    }
    if (reading.text.size() > flight->told && !std::exchange(flight->news, true)) {
        m_news.push_back(flight->id);
        wake();
    }
    return !flight->tooLarge;
}

void HttpClient::transferEnded(std::uint64_t transfer, const HttpEnd& end)
{
    Flight* const flight = byTransfer(transfer);
    m_transfers.erase(transfer);
    if (!flight) {
        return;
    }
    flight->transfer = 0;
    flight->status = end.status;
    m_services.loop->cancelTimer(flight->timer);
    m_timers.erase(flight->timer);
    flight->timer = 0;
    if (end.status >= 400) {
        Refusal refusal{end.status, providerErrorOf(std::string_view(flight->errorBody)), {}};
        refusal.retryAfterSeconds = retryAfterOf(end.retryAfter, std::time(nullptr));
        concludeRefused(*flight, std::move(refusal));
    } else if (end.status >= 300) {
        fail(*flight, ChatFailure::Kind::Rejected,
             fmt::format("answered {} and points to {}; a key is never sent after a redirect, so write the final "
                         "address into the profile",
                         end.status, end.location.empty() ? "nowhere" : end.location));
    } else if (end.status == 0 || flight->tooLarge) {
        concludeLost(*flight, end);
    } else {
        concludeRead(*flight, end);
    }
}

void HttpClient::concludeLost(Flight& flight, const HttpEnd& end)
{
    if (flight.tooLarge) {
        fail(flight, ChatFailure::Kind::Unusable,
             fmt::format("the answer is longer than {}, which no model's answer is", bytesText(m_services.answerCap)));
        return;
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
    const bool tls = end.code == CURLE_PEER_FAILED_VERIFICATION || end.code == CURLE_SSL_CONNECT_ERROR ||
                     end.code == CURLE_SSL_CACERT_BADFILE;
    fail(flight, ChatFailure::Kind::Unreachable,
         fmt::format("{}; {}", end.error,
                     tls ? "set caBundle in the profile where the server's authority is your own"
                         : "check the address, that the server runs, and the proxy"));
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
    if (flight.adjusted < mostAdjustments) {
        ModelLimits limits = flight.limits;
        const ModelLimits known = m_services.knowledge->of(endpoint(), m_profile.model);
        const Json body = Json::parse(flight.body, nullptr, false);
        const Sent sent{.outputTokens =
                            limits.mostOutput > 0 ? std::min(flight.budget, limits.mostOutput) : flight.budget,
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
            return;
        }
        if (limits.context != flight.limits.context && known == flight.limits) {
            m_services.knowledge->learn(endpoint(), m_profile.model, limits);
        }
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
    SplitAnswer split = splitReasoning(reading.text);
    const bool onlyReasoning = split.text.empty() && !(split.reasoning.empty() && reading.reasoning.empty());
    if (finish == Finish::Length && split.text.empty() && raiseBudget(flight)) {
        return;
    }
    ChatAnswer answer;
    answer.text = split.text;
    answer.reasoning =
        reading.reasoning + (reading.reasoning.empty() || split.reasoning.empty() ? "" : "\n") + split.reasoning;
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
