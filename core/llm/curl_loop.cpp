// SPDX-License-Identifier: Apache-2.0
#include "core/llm/curl_loop.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

namespace espalier::llm {

namespace {

using LoopClock = std::chrono::steady_clock;

/// For how long arrivals are gathered after `count` sockets had some: the more streams run, the longer, so that many
/// tokens of one stream are read at once. A reader of a live answer sees no difference.
std::chrono::milliseconds gatheringAfter(int count)
{
    return std::chrono::milliseconds(5 + 2 * std::min(count, 28));
}

bool addToEpoll(int epoll, int fd, std::uint32_t events)
{
    epoll_event event = {};
    event.events = events;
    event.data.fd = fd;
    return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

std::string lowerName(std::string_view name)
{
    std::string lower(trimmed(name));
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte; });
    return lower;
}

} // namespace

struct CurlLoop::Transfer {
    std::uint64_t number = 0;
    CurlLoop* loop = nullptr;
    LoopUser* user = nullptr;
    CURL* easy = nullptr;
    curl_slist* headers = nullptr;
    std::string body;
    std::array<char, CURL_ERROR_SIZE> words{};
    HttpEnd end;

    ~Transfer()
    {
        if (easy) {
            loop->m_curl->multiRemove(loop->m_multi, easy);
            loop->m_curl->easyCleanup(easy);
        }
        loop->m_curl->slistFreeAll(headers);
    }
};

Result<std::shared_ptr<CurlLoop>> CurlLoop::create()
{
    ESPALIER_TRY(const CurlLibrary* curl, CurlLibrary::load());
    std::shared_ptr<CurlLoop> loop(new CurlLoop);
    loop->m_curl = curl;
    loop->m_multi = curl->multiInit();
    loop->m_outer.reset(::epoll_create1(EPOLL_CLOEXEC));
    loop->m_sockets.reset(::epoll_create1(EPOLL_CLOEXEC));
    loop->m_clock.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!loop->m_multi || !loop->m_outer || !loop->m_sockets || !loop->m_clock ||
        !addToEpoll(loop->m_outer.get(), loop->m_sockets.get(), EPOLLIN) ||
        !addToEpoll(loop->m_outer.get(), loop->m_clock.get(), EPOLLIN)) {
        return fail(ErrorCode::Internal,
                    fmt::format("cannot prepare for requests to language models: {}", std::strerror(errno)));
    }
    curl->multiSetopt(loop->m_multi, CURLMOPT_SOCKETFUNCTION, &CurlLoop::socketChanged);
    curl->multiSetopt(loop->m_multi, CURLMOPT_SOCKETDATA, loop.get());
    curl->multiSetopt(loop->m_multi, CURLMOPT_TIMERFUNCTION, &CurlLoop::timerChanged);
    curl->multiSetopt(loop->m_multi, CURLMOPT_TIMERDATA, loop.get());
    return loop;
}

CurlLoop::~CurlLoop()
{
    m_transfers.clear();
    if (m_multi) {
        m_curl->multiCleanup(m_multi);
    }
}

int CurlLoop::socketChanged(CURL*, curl_socket_t socket, int what, void* self, void*)
{
    const int epoll = static_cast<CurlLoop*>(self)->m_sockets.get();
    if (what == CURL_POLL_REMOVE) {
        ::epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nullptr);
        return 0;
    }
    epoll_event event = {};
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    event.data.fd = socket;
    if (::epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) != 0 && errno == ENOENT) {
        ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
    }
    return 0;
}

int CurlLoop::timerChanged(CURLM*, long milliseconds, void* self)
{
    auto& due = static_cast<CurlLoop*>(self)->m_curlDue;
    due.reset();
    if (milliseconds >= 0) {
        due = LoopClock::now() + std::chrono::milliseconds(milliseconds);
    }
    return 0;
}

std::size_t CurlLoop::bodyBytes(char* bytes, std::size_t size, std::size_t count, void* transfer)
{
    auto& self = *static_cast<Transfer*>(transfer);
    if (self.end.status == 0) {
        long status = 0;
        self.loop->m_curl->easyGetinfo(self.easy, CURLINFO_RESPONSE_CODE, &status);
        self.end.status = static_cast<int>(status);
    }
    return self.user->transferBytes(self.number, self.end.status, {bytes, size * count}) ? size * count : 0;
}

std::size_t CurlLoop::headerBytes(char* bytes, std::size_t size, std::size_t count, void* transfer)
{
    auto& end = static_cast<Transfer*>(transfer)->end;
    const std::string_view line(bytes, size * count);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || line.size() > 4096) {
        return size * count;
    }
    const std::string name = lowerName(line.substr(0, colon));
    const std::string value(trimmed(line.substr(colon + 1)));
    if (name == "content-type") {
        end.contentType = value;
    } else if (name == "retry-after") {
        end.retryAfter = value;
    } else if (name == "location") {
        end.location = value;
    }
    return size * count;
}

Result<void> CurlLoop::prepare(Transfer& transfer, const HttpCall& call)
{
    transfer.easy = m_curl->easyInit();
    if (!transfer.easy) {
        return fail(ErrorCode::OutOfMemory, "there is no memory for another request to a language model");
    }
    const auto set = [&](CURLoption option, auto value) { return m_curl->easySetopt(transfer.easy, option, value); };
    bool good = set(CURLOPT_URL, call.url.c_str()) == CURLE_OK;
    for (const auto& [name, value] : call.headers) {
        const std::string line = name + (value.empty() ? ":" : ": " + value); // without a value: curl's own is left out
        curl_slist* const longer = line.find_first_of("\r\n") == std::string::npos
                                       ? m_curl->slistAppend(transfer.headers, line.c_str())
                                       : nullptr;
        good = good && longer;
        transfer.headers = longer ? longer : transfer.headers;
    }
    good = good && set(CURLOPT_HTTPHEADER, transfer.headers) == CURLE_OK;
    if (call.body) {
        transfer.body = *call.body;
        set(CURLOPT_POST, 1L);
        set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.body.size()));
        set(CURLOPT_POSTFIELDS, transfer.body.data());
    }
    if (!call.proxy.empty()) {
        good = good && set(CURLOPT_PROXY, call.proxy.c_str()) == CURLE_OK;
    }
    if (!call.caBundle.empty()) {
        good = good && set(CURLOPT_CAINFO, call.caBundle.c_str()) == CURLE_OK;
    }
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::clamp(call.connectSeconds, 0.001, 86400.0) * 1000));
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L); // a key must not travel to an address that an answer names
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_QUICK_EXIT, 1L); // a cancel does not wait for a resolver's thread
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_ERRORBUFFER, transfer.words.data());
    set(CURLOPT_PRIVATE, static_cast<void*>(&transfer));
    set(CURLOPT_WRITEFUNCTION, &CurlLoop::bodyBytes);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
    set(CURLOPT_HEADERFUNCTION, &CurlLoop::headerBytes);
    set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
    if (!good) {
        return fail(ErrorCode::InvalidInput, "the URL, a header, the proxy or the CA bundle of a model cannot be used: "
                                             "check its profile");
    }
    return {};
}

Result<std::uint64_t> CurlLoop::start(const HttpCall& call, LoopUser& user)
{
    auto transfer = std::make_unique<Transfer>();
    transfer->number = ++m_last;
    transfer->loop = this;
    transfer->user = &user;
    ESPALIER_CHECK(prepare(*transfer, call));
    if (const CURLMcode code = m_curl->multiAdd(m_multi, transfer->easy); code != CURLM_OK) {
        return fail(ErrorCode::Internal,
                    fmt::format("libcurl did not take a request (code {})", static_cast<int>(code)));
    }
    m_transfers.emplace(transfer->number, std::move(transfer));
    m_curlDue = LoopClock::now();
    armTimer();
    return m_last;
}

void CurlLoop::cancel(std::uint64_t transfer)
{
    m_transfers.erase(transfer);
    armTimer();
}

std::uint64_t CurlLoop::setTimer(LoopTime due, LoopUser& user)
{
    m_timers.emplace(due, std::pair(++m_last, &user));
    armTimer();
    return m_last;
}

void CurlLoop::cancelTimer(std::uint64_t timer)
{
    std::erase_if(m_timers, [timer](const auto& entry) { return entry.second.first == timer; });
}

void CurlLoop::drive()
{
    std::uint64_t expirations = 0;
    if (::read(m_clock.get(), &expirations, sizeof expirations) == sizeof expirations) {
        m_armed.reset();
    }
    const LoopTime now = LoopClock::now();
    if (!m_paused || now >= m_pauseUntil) {
        driveSockets();
    }
    if (m_curlDue && *m_curlDue <= now) {
        m_curlDue.reset();
        int running = 0;
        m_curl->multiSocketAction(m_multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    finishEnded();
    fireTimers();
    armTimer();
}

void CurlLoop::driveSockets()
{
    std::array<epoll_event, 128> events;
    const int count = ::epoll_wait(m_sockets.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        const std::uint32_t seen = events[static_cast<std::size_t>(i)].events;
        const int mask = (seen & EPOLLIN ? CURL_CSELECT_IN : 0) | (seen & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                         (seen & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
        int running = 0;
        m_curl->multiSocketAction(m_multi, events[static_cast<std::size_t>(i)].data.fd, mask, &running);
    }
    pauseSockets(count > 0);
    if (count > 0) {
        m_pauseUntil = LoopClock::now() + gatheringAfter(count);
    }
}

void CurlLoop::pauseSockets(bool pause)
{
    if (pause == m_paused) {
        return;
    }
    epoll_event event = {};
    event.events = pause ? 0u : static_cast<std::uint32_t>(EPOLLIN);
    event.data.fd = m_sockets.get();
    if (::epoll_ctl(m_outer.get(), EPOLL_CTL_MOD, m_sockets.get(), &event) == 0) {
        m_paused = pause;
    }
}

void CurlLoop::finishEnded()
{
    int left = 0;
    while (CURLMsg* message = m_curl->multiInfoRead(m_multi, &left)) {
        if (message->msg != CURLMSG_DONE) {
            continue;
        }
        void* known = nullptr;
        const CURLcode code = message->data.result;
        m_curl->easyGetinfo(message->easy_handle, CURLINFO_PRIVATE, &known);
        Transfer& transfer = *static_cast<Transfer*>(known);
        long status = 0;
        m_curl->easyGetinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
        transfer.end.status = static_cast<int>(status);
        transfer.end.code = static_cast<int>(code);
        if (code != CURLE_OK) {
            transfer.end.error = transfer.words[0] ? transfer.words.data() : m_curl->easyStrerror(code);
        }
        const std::uint64_t number = transfer.number;
        LoopUser* const user = transfer.user;
        const HttpEnd end = transfer.end;
        m_transfers.erase(number);
        user->transferEnded(number, end);
    }
}

void CurlLoop::fireTimers()
{
    const LoopTime now = LoopClock::now();
    while (!m_timers.empty() && m_timers.begin()->first <= now) {
        const auto [number, user] = m_timers.begin()->second;
        m_timers.erase(m_timers.begin());
        user->timerFired(number);
    }
}

void CurlLoop::armTimer()
{
    std::optional<LoopTime> due = m_curlDue;
    const auto consider = [&due](LoopTime time) { due = due ? std::min(*due, time) : time; };
    if (!m_timers.empty()) {
        consider(m_timers.begin()->first);
    }
    if (m_paused) {
        consider(m_pauseUntil);
    }
    if (!due || (m_armed && *m_armed <= *due)) {
        return; // one that fires too early costs less than setting it again for every byte
    }
    const auto left = std::max<std::chrono::nanoseconds>(*due - LoopClock::now(), std::chrono::microseconds(1));
    itimerspec time = {};
    time.it_value.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
    time.it_value.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
    ::timerfd_settime(m_clock.get(), 0, &time, nullptr);
    m_armed = due;
}

} // namespace espalier::llm
