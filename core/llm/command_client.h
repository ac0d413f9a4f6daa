// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/subprocess.h"
#include "core/llm/chat.h"
#include "core/llm/redact.h"

#include <chrono>
#include <map>

namespace espalier::llm {

/// Any program as a model: the prompt on its standard input, its standard output is the answer; a coding agent's
/// command line or a script. The program is run once a request, without a shell, in a process group of its own; a
/// deadline or a cancel kills the whole group. It finds the purpose in ESPALIER_PURPOSE, the subject in
/// ESPALIER_SUBJECT and, where one is wanted, the JSON schema in ESPALIER_SCHEMA. An exit code other than 0 is a
/// failure that quotes its last words; no words at all are an answer, if an empty one. Thread: one; nothing blocks.
/// Owns the processes. Errors: as events.
class CommandClient : public ChatClient
{
public:
    /// Errors: InvalidInput (no command), NotFound (not installed), Internal.
    static Result<std::unique_ptr<ChatClient>> make(const ModelProfile& profile);
    ~CommandClient() override;

    std::string_view provider() const override { return "command"; }
    std::string_view model() const override { return m_model; }
    WireRecord start(RequestId id, const ChatRequest& request) override;
    void release(RequestId id) override;
    void cancel(RequestId id) override;
    int descriptor() const override { return m_poll.get(); }
    int timeoutMilliseconds() const override;
    std::vector<chat::Event> receive() override;

private:
    using Clock = std::chrono::steady_clock;
    struct Run;
    explicit CommandClient(const ModelProfile& profile);
    void launch(Run& run);
    bool advance(Run& run); ///< false: it has ended and was told
    void readInto(Run& run, UniqueFd& fd, std::string& into);
    void watch(Run& run, const UniqueFd& fd, std::uint32_t events);
    bool checkDeadline(Run& run);
    void conclude(Run& run, const ExitStatus& status);
    void answer(Run& run, Finish finish, const std::string& words = {});
    void fail(Run& run, ChatFailure::Kind kind, const std::string& what);
    WireRecord wireOf(const Run& run) const;

    ModelProfile m_profile;
    std::string m_model, m_line;
    Redactor m_redactor;
    UniqueFd m_poll;
    std::map<RequestId, std::unique_ptr<Run>> m_runs;
    std::vector<chat::Event> m_events;
};

/// The messages as one text: how a program or a person reads them.
std::string promptText(const ChatRequest& request);

} // namespace espalier::llm
