// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/llm/chat.h"
#include "core/propose/llm/answer_reading.h"
#include "core/propose/llm/llm_settings.h"
#include "core/propose/llm/model_choice.h"
#include "core/propose/llm/question_pause.h"
#include "core/propose/prompt/prompt_assembly.h"
#include "core/propose/proposer.h"

#include <functional>
#include <map>
#include <set>

namespace espalier {

/// One model that a run may ask.
struct LlmModel {
    llm::ModelProfile profile;
    std::unique_ptr<llm::ChatClient> client;
    std::int64_t contextTokens = 128'000;
    /// USD for these tokens; nullopt where no price is known. Never empty.
    std::function<std::optional<double>(const TokenCounts&)> price = [](const TokenCounts&) { return std::nullopt; };
};

/// Language models as a proposer: ideas in one question, each kernel in one of its own, repairs in further ones.
///
/// Every question and every answer goes into the exchange log before it counts; a question that was answered in an
/// earlier run of the session is not asked again. Nothing of an answer has an effect but its ideas (text) and one
/// source, which runs as any candidate. Answers that were cut off are never compiled; an answer without a kernel, with
/// the parent's kernel, or that changes locked lines is asked for once more, with what was wrong with it. Under a
/// parent that is far from the best known (below `worthFactor` of its speed-up), no ideas are asked for.
/// A question that was asked before and has no answer is asked again as it was, of the same model.
///
/// A program (provider command) that has answered before and fails three times at one question, or does not end in
/// time, ends that one; it holds the proposer when the next one goes the same way.
///
/// Thread: the engine's. Owns its clients; the log outlives it. Errors: what a person must mend (quota, key, model,
/// network, a cap, the session's disk) holds the proposer; what is the answer's fault is a reason.
class LlmProposer final : public Proposer
{
public:
    static constexpr double worthFactor = 0.8;

    /// `prompts`: one of each name. `models`: at least one. `pause`: how long a pause waits for answers.
    LlmProposer(std::string name, std::vector<LlmModel> models, std::vector<PromptTemplate> prompts,
                LlmSettings settings, QuestionPause pause = QuestionPause());

    std::string_view name() const override { return m_name; }
    void ideas(RequestId id, const IdeaContext& context) override;
    void implement(RequestId id, const ImplementContext& context) override;
    void cancel(RequestId id) override;
    std::optional<ProposedIdea> crossing(const CrossingContext& context) const override;
    bool readsBackground() const override { return true; }
    int repairs() const override { return m_settings.repairs; }
    std::optional<Held> held() const override { return m_held; }
    void goOn() override;
    void pause(bool readOn) override;
    void resume() override;
    std::optional<double> readsOn() const override;
    void keepExchanges(ExchangeLog& log) override { m_log = &log; }
    bool askLessons(const LessonsContext& context) override;
    std::optional<proposer::Lessons> takeLessons() override;
    void cancelLessons() override;
    int descriptor() const override { return m_poll.get(); }
    int timeoutMilliseconds() const override;
    std::vector<proposer::Answer> receive() override;

private:
    struct Question {
        RequestId id{0};
        std::optional<IdeaContext> ideas;          ///< this one
        std::optional<ImplementContext> implement; ///< or this one
        int attempt = 0;                           ///< answers before this one that were of no use
        int failures = 0;                          ///< requests before this one that ended without an answer
        std::string mismatch;                      ///< what was wrong with the answer before
        double room = 1;                           ///< share of the context; less after an overflow
        std::int64_t output = 0;                   ///< tokens; more after an answer that needed them
        std::size_t model = 0;
        Exchange exchange;
    };

    struct LessonsQuestion {
        RequestId request{0}; ///< 0: none is under way
        std::size_t model = 0;
        Exchange exchange;
        std::optional<proposer::Lessons> answer;
    };

    void onLessonsEvent(llm::chat::Event& event);
    static void noteAnswer(Exchange& exchange, const LlmModel& model, llm::chat::Answered& answered);
    static void noteFailure(Exchange& exchange, const LlmModel& model, llm::chat::Failed& failed);
    void submit(Question question);
    bool compose(Question& question, const std::string& key);
    using Lookup = Result<std::optional<Exchange>> (ExchangeLog::*)(const std::string& key);
    Result<std::optional<Exchange>> onRecord(Lookup lookup, const Question& question, const std::string& key) const;
    std::vector<LlmModel>::const_iterator modelOf(const Exchange& asked) const;
    bool takeUp(Question& question, Exchange asked) const;
    void takeEvents();
    void letGo();
    void rest(Question question, std::string partialText);
    Result<AssembledPrompt> promptFor(const Question& question, const PromptTemplate& prompt) const;
    const PromptTemplate& templateFor(const Question& question) const;
    llm::ChatRequest requestFor(const Question& question) const;
    void onEvent(llm::chat::Event& event);
    void onAnswered(Question question, llm::chat::Answered& answered);
    void onFailed(Question question, llm::chat::Failed& failed);
    void conclude(Question question, bool onRecord);
    void postpone(const Question& question);
    void refuse(const Question& question, const std::string& reason);
    void easeHold();
    void hold(bool spent, std::string sentence);

    std::string m_name;
    std::vector<LlmModel> m_models;
    std::map<std::string, PromptTemplate> m_prompts;
    LlmSettings m_settings;
    ExchangeLog* m_log = nullptr;
    UniqueFd m_poll;                       ///< epoll over the clients' descriptors
    std::map<RequestId, Question> m_asked; ///< by the client's request
    std::vector<Question> m_unwritten;     ///< answered, but the log could not take it yet
    std::vector<proposer::Answer> m_answers;
    std::int64_t m_nextRequest = 1;
    std::optional<Held> m_held;
    QuestionPause m_pause;
    std::vector<Question> m_resting;  ///< taken back by a pause
    std::set<std::size_t> m_stumbled; ///< programs one of whose questions was given up, and that answered none since
    std::optional<LessonsQuestion> m_lessons;
};

} // namespace espalier
