// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/chat.h"
#include "core/llm/exchange.h"

#include <map>
#include <set>

namespace espalier::llm {

/// Answers from recorded exchanges; no network. A request gets the exchange with its own key; without one, that of its
/// purpose and subject. The n-th request of the same name gets the n-th exchange of that name. One that is missing ends
/// as NotRecorded, which names it. Thread: one. Errors: as events.
class ReplayClient : public ChatClient
{
public:
    /// profile.folder: a .jsonl file or a folder of them. Errors: NotFound, InvalidInput naming file and line.
    static Result<std::unique_ptr<ChatClient>> open(const ModelProfile& profile);

    std::string_view provider() const override { return "replay"; }
    std::string_view model() const override { return m_model; }
    WireRecord start(RequestId id, const ChatRequest& request) override;
    void release(RequestId id) override;
    void cancel(RequestId id) override;
    int descriptor() const override { return -1; }
    int timeoutMilliseconds() const override { return m_events.empty() ? -1 : 0; }
    std::vector<chat::Event> receive() override;

private:
    ReplayClient() = default;
    using Name = std::pair<std::string, std::string>; ///< purpose and subject
    struct Found {
        std::shared_ptr<const Exchange> exchange; ///< null: not recorded
        std::string missing;                      ///< names what is not recorded
        WireRecord wire;
    };
    Found find(const ChatRequest& request);

    std::string m_model, m_source;
    std::map<std::string, std::vector<std::shared_ptr<const Exchange>>> m_byKey;
    std::map<Name, std::vector<std::shared_ptr<const Exchange>>> m_byName;
    std::map<std::string, std::size_t> m_keysAsked;
    std::map<Name, std::size_t> m_namesAsked;
    std::map<RequestId, Found> m_started;
    std::vector<chat::Event> m_events;
};

/// Passes everything through to another client and appends each exchange to FOLDER/recorded.jsonl, secrets removed, so
/// that ReplayClient can answer with it. Thread: as the inner client. A file that cannot be written ends the recording
/// (trouble() says why), not the run.
class RecordingClient : public ChatClient
{
public:
    static Result<std::unique_ptr<RecordingClient>> open(std::unique_ptr<ChatClient> inner,
                                                         const std::filesystem::path& folder);

    std::string_view provider() const override { return m_inner->provider(); }
    std::string_view model() const override { return m_inner->model(); }
    WireRecord start(RequestId id, const ChatRequest& request) override;
    void release(RequestId id) override { m_inner->release(id); }
    void cancel(RequestId id) override { m_inner->cancel(id); }
    bool answering(RequestId id) const override { return m_inner->answering(id); }
    int descriptor() const override { return m_inner->descriptor(); }
    int timeoutMilliseconds() const override { return m_inner->timeoutMilliseconds(); }
    std::vector<chat::Event> receive() override;
    const std::string& trouble() const { return m_trouble; }

private:
    RecordingClient() = default;
    void append(RequestId id, std::variant<ChatAnswer, ChatFailure> outcome);

    std::unique_ptr<ChatClient> m_inner;
    std::filesystem::path m_file;
    std::map<RequestId, Exchange> m_open;
    std::map<std::string, int> m_ordinals;
    std::string m_trouble;
};

} // namespace espalier::llm
