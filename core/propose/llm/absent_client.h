// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/chat.h"

#include <utility>

namespace espalier {

/// A model that cannot be asked from here: every request fails with the reason. It lets acts on a session go through
/// where its model's key is not at hand. Thread: one. Errors: as events.
class AbsentClient final : public llm::ChatClient
{
public:
    AbsentClient(const llm::ModelProfile& profile, std::string reason)
        : m_provider(profile.provider), m_model(profile.model), m_reason(std::move(reason))
    {
    }
    std::string_view provider() const override { return m_provider; }
    std::string_view model() const override { return m_model; }
    llm::WireRecord start(RequestId, const llm::ChatRequest&) override { return {}; }
    void release(RequestId id) override
    {
        llm::ChatFailure failure;
        failure.kind = llm::ChatFailure::Kind::Rejected;
        failure.message = m_reason;
        m_events.push_back(llm::chat::Failed{id, std::move(failure), {}});
    }
    void cancel(RequestId) override {}
    int descriptor() const override { return -1; }
    int timeoutMilliseconds() const override { return m_events.empty() ? -1 : 0; }
    std::vector<llm::chat::Event> receive() override { return std::exchange(m_events, {}); }

private:
    std::string m_provider, m_model, m_reason;
    std::vector<llm::chat::Event> m_events;
};

} // namespace espalier
