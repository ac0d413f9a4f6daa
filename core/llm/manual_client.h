// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/llm/chat.h"
#include "core/llm/redact.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <set>

namespace espalier::llm {

/// A person as the transport: each prompt becomes a file NAME.prompt.md in a folder, and the answer is what is put
/// beside it as NAME.answer.md (saved, copied or moved there; an empty file is not yet an answer) or given through
/// answer(). NAME is made of purpose and prompt, and a question that was asked before keeps the name it had
/// then, so an answer that was put there while nothing ran serves after a restart. No deadline: people sleep. Thread:
/// one; nothing blocks but the writing of the prompt. Errors: as events; the folder is created where it is missing.
class ManualClient : public ChatClient
{
public:
    /// Errors: InvalidInput (no folder), Io, Internal.
    static Result<std::unique_ptr<ManualClient>> make(const ModelProfile& profile);
    ~ManualClient() override;

    std::string_view provider() const override { return "manual"; }
    std::string_view model() const override { return m_model; }
    WireRecord start(RequestId id, const ChatRequest& request) override;
    void release(RequestId id) override;
    void cancel(RequestId id) override;
    int descriptor() const override { return m_notices.get(); }
    int timeoutMilliseconds() const override { return m_due ? 0 : m_events.empty() ? -1 : 0; }
    std::vector<chat::Event> receive() override;

    /// The answer to a request that waits, as a window gives it. False: no such request waits.
    bool answer(RequestId id, std::string_view text);
    /// Where the prompt of a request that waits lies; empty: none does.
    std::filesystem::path promptFile(RequestId id) const;

private:
    struct Wait;
    ManualClient() = default;
    void write(Wait& wait);
    void lookFor(Wait& wait);
    void tooLong(const Wait& wait);
    std::filesystem::path promptPath(const Wait& wait) const;
    std::string nameFor(const ChatRequest& request) const;
    void fail(RequestId id, ChatFailure::Kind kind, std::string message);

    std::filesystem::path m_folder;
    std::string m_model;
    Redactor m_redactor;
    UniqueFd m_notices;            ///< inotify on the folder
    bool m_due = false;            ///< something was released or may lie there already
    std::set<std::string> m_names; ///< in use: of what waits or was answered
    std::map<RequestId, std::unique_ptr<Wait>> m_waits;
    std::vector<chat::Event> m_events;
};

} // namespace espalier::llm
