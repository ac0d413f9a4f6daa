// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/chat.h"
#include "core/propose/llm/llm_proposer.h"
#include "tests/support/fakes.h"

#include <functional>
#include <map>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace espalier {

/// What a model behind a network saw and says, over all restarts of a session.
struct ModelWorld {
    using Reply = std::variant<llm::ChatAnswer, llm::ChatFailure>;
    /// By "purpose subject": the replies of the 1st, 2nd, … request; the last one again for any further.
    std::map<std::string, std::vector<Reply>> replies;
    std::vector<llm::ChatRequest> left; ///< requests that left, in order
    std::map<std::string, int> counts;  ///< of those, by "purpose subject"
    std::string unknown;                ///< the first request without a reply
    std::optional<unsigned> late;       ///< answers come in any order, after some turns
    bool silent = false;                ///< nothing is answered
    std::string silentPurpose;          ///< nor, in any case, questions of this purpose
    bool coming = false;                ///< with `silent`: the begin of each answer has come
    std::string provider = "scripted";
    QuestionPause pause; ///< of proposers made from now on
    llm::Usage usage{1000, 200, 0, 50};

    void say(const std::string& name, const std::string& text, llm::Finish finish = llm::Finish::Complete);
    void fail(const std::string& name, llm::ChatFailure::Kind kind, const std::string& message);
    const llm::ChatRequest* request(const std::string& name) const; ///< the last one of that name
};

/// A client that answers from the world; it passes every event a real one does.
class ScriptedModel final : public llm::ChatClient
{
public:
    ScriptedModel(ModelWorld& world, std::string model);
    std::string_view provider() const override { return m_world.provider; }
    std::string_view model() const override { return m_model; }
    llm::WireRecord start(RequestId id, const llm::ChatRequest& request) override;
    void release(RequestId id) override;
    void cancel(RequestId id) override;
    bool answering(RequestId id) const override { return m_world.coming && m_left.contains(id); }
    int descriptor() const override { return m_signal.fd(); }
    int timeoutMilliseconds() const override { return -1; }
    std::vector<llm::chat::Event> receive() override;

private:
    llm::chat::Event answerTo(RequestId id, const llm::ChatRequest& request);

    ModelWorld& m_world;
    std::string m_model;
    std::mt19937 m_random;
    std::map<RequestId, llm::ChatRequest> m_started, m_released, m_left;
    std::vector<llm::chat::Event> m_ended; ///< cancelled
    Signal m_signal;
};

/// A proposer with one scripted model per name; a dollar for a million tokens in, ten for a million out.
std::unique_ptr<LlmProposer> scriptedProposer(ModelWorld& world, LlmSettings settings = {},
                                              const std::vector<std::string>& models = {"alpha"},
                                              const std::string& proposer = "llm");

/// "{"ideas": …}" of titles; the text says the title at more length.
std::string ideasAnswer(const std::vector<std::string>& titles);
/// A sentence and a fenced kernel.
std::string kernelAnswer(const std::string& source);

} // namespace espalier
