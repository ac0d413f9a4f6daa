// SPDX-License-Identifier: Apache-2.0
#include "core/llm/http_client.h"

#include "core/base/text.h"
#include "core/llm/http_flight.h"
#include "core/llm/profiles.h"

#include <ctime>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

namespace espalier::llm {

namespace {

constexpr std::size_t errorBodyCap = std::size_t{64} << 10;

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

/// ?key=… of a base URL: the shape is known in records, but an answer may repeat the value alone.
void addQuerySecrets(std::string_view url, Redactor& redactor)
{
    const auto query = url.find('?');
    for (const std::string_view field : splitOn(query == std::string_view::npos ? "" : url.substr(query + 1), '&')) {
        if (const auto equals = field.find('=');
            equals != std::string_view::npos && isSecretName(field.substr(0, equals))) {
            redactor.add(field.substr(equals + 1));
        }
    }
}

} // namespace

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
    for (const std::string& base : client->m_bases) {
        addQuerySecrets(base, client->m_redactor);
    }
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

bool HttpClient::answering(RequestId id) const
{
    const auto found = m_flights.find(id);
    return found != m_flights.end() && found->second->state == Flight::State::Sending && found->second->reader &&
           found->second->reader->bytes() > 0;
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
    flight.timer = m_services.loop->setTimer(FlightClock::now() + flightSpan(seconds), *this);
    m_timers.emplace(flight.timer, flight.id);
}

/// Sets the timer for the next deadline of a request under way. It is set again only when it fires: bytes come often.
void HttpClient::watch(Flight& flight)
{
    const LoopTime quiet = flight.firstToken ? flight.lastByte + flightSpan(m_profile.stallSeconds)
                                             : flight.sent + flightSpan(m_profile.firstTokenSeconds);
    const LoopTime due = std::min(quiet, flight.begun + flightSpan(m_profile.totalSeconds));
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
    if (now >= flight.begun + flightSpan(m_profile.totalSeconds)) {
        fail(flight, ChatFailure::Kind::Deadline,
             fmt::format("no whole answer within {:g} s; raise totalSeconds in its profile or ask for less",
                         m_profile.totalSeconds));
    } else if (!flight.firstToken && now >= flight.sent + flightSpan(m_profile.firstTokenSeconds)) {
        fail(flight, ChatFailure::Kind::Deadline,
             fmt::format("no first token within {:g} s; raise firstTokenSeconds in its profile or look at the server",
                         m_profile.firstTokenSeconds));
    } else if (flight.firstToken && now >= flight.lastByte + flightSpan(m_profile.stallSeconds)) {
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

} // namespace espalier::llm
