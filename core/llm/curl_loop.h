// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/llm/curl_library.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier::llm {

using LoopTime = std::chrono::steady_clock::time_point;

/// One HTTP request as it leaves.
struct HttpCall {
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;
    std::optional<std::string> body; ///< nullopt: GET
    std::string proxy, caBundle;     ///< empty: the environment's proxy, the system's authorities
    double connectSeconds = 15;
};

/// How a transfer ended.
struct HttpEnd {
    int code = 0;      ///< CURLcode; 0: the answer ended as HTTP says it should
    std::string error; ///< curl's words; empty when code is 0
    int status = 0;    ///< HTTP; 0: none came
    std::string contentType, retryAfter, location;
};

/// Who is told about transfers and timers. Calls come from CurlLoop::drive() only.
class LoopUser
{
public:
    virtual ~LoopUser() = default;
    /// Bytes of the body. False: end the transfer now (the end still comes, with an error).
    virtual bool transferBytes(std::uint64_t transfer, int status, std::string_view bytes) = 0;
    virtual void transferEnded(std::uint64_t transfer, const HttpEnd& end) = 0;
    virtual void timerFired(std::uint64_t timer) = 0;
};

/// All transfers of a run: one curl multi handle, its sockets and one timer behind one descriptor for the engine's
/// poll. Arrivals within a few milliseconds of each other are taken together, so that many streams at once cost little;
/// the first byte after a pause is taken at once. Thread: one; never blocks (names are resolved on curl's own threads).
/// Owns the transfers; users must outlive theirs or cancel them. Errors of create: of CurlLibrary::load, Internal.
class CurlLoop
{
public:
    static Result<std::shared_ptr<CurlLoop>> create();
    ~CurlLoop();
    CurlLoop(const CurlLoop&) = delete;
    CurlLoop& operator=(const CurlLoop&) = delete;

    int descriptor() const { return m_outer.get(); }
    /// Moves everything that can move, and tells the users.
    void drive();
    /// Bytes leave within drive(). Errors: InvalidInput (a header or URL that curl refuses).
    Result<std::uint64_t> start(const HttpCall& call, LoopUser& user);
    /// No further calls about it. Unknown numbers are ignored.
    void cancel(std::uint64_t transfer);
    std::uint64_t setTimer(LoopTime due, LoopUser& user);
    void cancelTimer(std::uint64_t timer);

private:
    struct Transfer;
    CurlLoop() = default;
    static int socketChanged(CURL*, curl_socket_t socket, int what, void* self, void* known);
    static int timerChanged(CURLM*, long milliseconds, void* self);
    static std::size_t bodyBytes(char* bytes, std::size_t size, std::size_t count, void* transfer);
    static std::size_t headerBytes(char* bytes, std::size_t size, std::size_t count, void* transfer);
    Result<void> prepare(Transfer& transfer, const HttpCall& call);
    void driveSockets();
    void finishEnded();
    void fireTimers();
    void pauseSockets(bool pause);
    void armTimer();

    const CurlLibrary* m_curl = nullptr;
    CURLM* m_multi = nullptr;
    UniqueFd m_outer, m_sockets, m_clock; ///< epoll of the other two; epoll of curl's sockets; timerfd
    bool m_paused = false;
    LoopTime m_pauseUntil{};
    std::optional<LoopTime> m_curlDue, m_armed;
    std::uint64_t m_last = 0;
    std::map<std::uint64_t, std::unique_ptr<Transfer>> m_transfers;
    std::multimap<LoopTime, std::pair<std::uint64_t, LoopUser*>> m_timers;
};

} // namespace espalier::llm
