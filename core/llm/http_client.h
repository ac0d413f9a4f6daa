// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/answer_reader.h"
#include "core/llm/base_url.h"
#include "core/llm/chat.h"
#include "core/llm/curl_loop.h"
#include "core/llm/redact.h"
#include "core/llm/refusal.h"

#include <map>
#include <memory>
#include <random>

namespace espalier::llm {

/// What all models of a run share. A value.
struct ChatServices {
    std::shared_ptr<CurlLoop> loop;
    std::shared_ptr<ModelKnowledge> knowledge;
    double firstBackoffSeconds = 1; ///< doubled with each retry, times 0.5 to 1.5
    double longestBackoffSeconds = 30;
    std::size_t answerCap = std::size_t{32} << 20; ///< bytes of one answer
};

/// What helps where no connection came about. `curlCode`: HttpEnd::code.
std::string_view connectionRemedy(int curlCode);

/// A model behind HTTP, in any of the dialects. What a provider refuses is adjusted once per model and remembered; what
/// passes by waiting is sent again; the rest ends as one sentence with the exact URL. Thread: one; nothing blocks.
/// Owns its requests; shares the loop. Errors: as events.
class HttpClient : public ChatClient, private LoopUser
{
public:
    /// `key` may be empty; `keySource` says where it came from ("OPENAI_API_KEY"), for messages.
    /// Errors: InvalidInput (base URL), Internal.
    static Result<std::unique_ptr<ChatClient>> make(const ModelProfile& profile, const Dialect& dialect,
                                                    std::string key, std::string keySource, ChatServices services);
    ~HttpClient() override;

    std::string_view provider() const override { return m_dialect->provider(); }
    std::string_view model() const override { return m_profile.model; }
    WireRecord start(RequestId id, const ChatRequest& request) override;
    void release(RequestId id) override;
    void cancel(RequestId id) override;
    bool answering(RequestId id) const override;
    int descriptor() const override { return m_poll.get(); }
    int timeoutMilliseconds() const override { return m_events.empty() ? -1 : 0; }
    std::vector<chat::Event> receive() override;

private:
    struct Flight;
    HttpClient(const ModelProfile& profile, const Dialect& dialect, ChatServices services);

    bool transferBytes(std::uint64_t transfer, int status, std::string_view bytes) override;
    void transferEnded(std::uint64_t transfer, const HttpEnd& end) override;
    void timerFired(std::uint64_t timer) override;

    std::string endpoint() const { return m_bases.front(); }
    void prepare(Flight& flight);
    void send(Flight& flight);
    static void count(Flight& flight);
    void sendAfter(Flight& flight, double seconds);
    void watch(Flight& flight);
    void concludeLost(Flight& flight, const HttpEnd& end);
    bool adjustAndSend(Flight& flight, const Refusal& refusal);
    void concludeRefused(Flight& flight, Refusal refusal);
    void concludeRead(Flight& flight, const HttpEnd& end);
    void concludeCut(Flight& flight, const std::string& how);
    void answer(Flight& flight, Finish finish);
    bool raiseBudget(Flight& flight);
    void fail(Flight& flight, ChatFailure::Kind kind, const std::string& what, std::optional<double> retryAfter = {});
    void end(Flight& flight, std::optional<ChatAnswer> answer, ChatFailure failure);
    double backoff(int retries);
    Flight* byTransfer(std::uint64_t transfer);
    void wake();
    void tell(chat::Event event);
    void tellNews(Flight& flight);

    const Dialect* m_dialect;
    ModelProfile m_profile;
    ChatServices m_services;
    std::vector<std::string> m_bases;
    std::vector<std::pair<std::string, std::string>> m_headers;
    std::string m_keySource;
    Redactor m_redactor;
    UniqueFd m_poll, m_wake; ///< epoll of the loop's descriptor and of m_wake; eventfd
    std::map<RequestId, std::unique_ptr<Flight>> m_flights;
    std::map<std::uint64_t, RequestId> m_transfers, m_timers;
    std::vector<RequestId> m_released, m_news;
    std::vector<chat::Event> m_events;
    bool m_receiving = false; ///< receive() is at work and will hand out what is told
    std::minstd_rand m_random{std::random_device{}()};
};

} // namespace espalier::llm
