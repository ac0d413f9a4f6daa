// SPDX-License-Identifier: Apache-2.0
// What a session has taught: one question at its end.
#include "core/propose/llm/llm_proposer.h"
#include "core/propose/prompt/lesson_book.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace espalier {
namespace {

constexpr std::int64_t fewestJudged = 3; ///< less has nothing to teach
constexpr std::int64_t mostLessonOutput = 8192;

} // namespace

bool LlmProposer::askLessons(const LessonsContext& context)
{
    const Background& background = *context.background;
    std::int64_t judged = 0;
    NodeId last{0};
    for (const KnownTry& one : background.tried) {
        if (one.proposer == m_name && one.outcome != Outcome::NotRun) {
            ++judged;
            last = one.node;
        }
    }
    if (judged < fewestJudged || m_lessons || m_held || !m_log) {
        return false;
    }
    // A person is not kept waiting for at the end of a run; who may not read lessons is not asked for any.
    std::vector<ModelShare> shares;
    std::vector<std::size_t> models;
    for (std::size_t i = 0; i < m_models.size(); ++i) {
        const llm::ModelProfile& profile = m_models[i].profile;
        if (profile.provider != "manual" && ChannelRule{profile.channels}.allows("lessons")) {
            shares.push_back({profile.name, profile.weight});
            models.push_back(i);
        }
    }
    if (models.empty()) {
        return false;
    }
    m_lessons.emplace();
    const auto refuse = [this](std::string reason) {
        m_lessons->answer = proposer::Lessons{{}, std::move(reason)};
        return true;
    };
    const std::string key =
        fmt::format("lessons/{}", last.value); // a session that learned nothing since is not asked again
    auto before = m_log->answered(key);
    if (!before) {
        return refuse(before.error().message);
    }
    if (*before) {
        m_lessons->answer = proposer::Lessons{
            (*before)->finish == "complete" ? readLessons((*before)->answer) : std::vector<std::string>(), ""};
        return true;
    }
    m_lessons->model = models[chooseModel(shares, background.tried, context.seed, key)];
    LlmModel& model = m_models[m_lessons->model];
    const std::int64_t output = std::min({m_settings.maxOutputTokens, mostLessonOutput, model.contextTokens / 2});
    const PromptTemplate& prompt = m_prompts.at("summarise-lessons");
    const auto room = static_cast<std::int64_t>(0.95 * static_cast<double>(model.contextTokens - output));
    auto assembled =
        assemble(prompt, lessonChannels(*context.task, background), ChannelRule{model.profile.channels}, room);
    if (!assembled) {
        return refuse(assembled.error().message);
    }
    Exchange& exchange = m_lessons->exchange;
    exchange.node = context.node;
    exchange.key = key;
    exchange.purpose = prompt.name;
    exchange.subject = context.task->id;
    exchange.provider = model.client->provider();
    exchange.model = model.client->model();
    exchange.profile = model.profile.name;
    exchange.promptHash = prompt.hash;
    exchange.system = std::move(assembled->system);
    exchange.prompt = std::move(assembled->user);
    exchange.parts = std::move(assembled->parts);
    exchange.estimatedInput = assembled->tokens;
    exchange.estimatedTokens = assembled->tokens + output;
    exchange.estimatedUsd = model.price({assembled->tokens, output, -1, -1});
    if (auto refusal = m_log->refusal(exchange.estimatedTokens, exchange.estimatedUsd)) {
        return refuse(std::move(*refusal));
    }
    llm::ChatRequest request;
    if (!exchange.system.empty()) {
        request.messages.push_back({"system", exchange.system});
    }
    request.messages.push_back({"user", exchange.prompt});
    request.maxOutputTokens = output;
    request.reasoningEffort = m_settings.reasoningEffort;
    request.purpose = exchange.purpose;
    request.subject = exchange.subject;
    const RequestId id{m_nextRequest++};
    const llm::WireRecord wire = model.client->start(id, request);
    exchange.url = wire.url;
    exchange.request = wire.requestBody;
    const auto sent = m_log->sent(exchange);
    if (!sent) {
        model.client->cancel(id);
        return refuse(sent.error().message);
    }
    exchange.id = *sent;
    m_lessons->request = id;
    model.client->release(id); // on record: now it may leave
    return true;
}

void LlmProposer::onLessonsEvent(llm::chat::Event& event)
{
    Exchange& exchange = m_lessons->exchange;
    const LlmModel& model = m_models[m_lessons->model];
    proposer::Lessons result;
    if (auto* answered = std::get_if<llm::chat::Answered>(&event)) {
        noteAnswer(exchange, model, *answered);
        if (exchange.finish == "complete") {
            result.lessons = readLessons(exchange.answer);
        } else {
            result.reason = "the answer was not whole";
            exchange.notes.push_back("not used: " + result.reason);
        }
    } else if (auto* failed = std::get_if<llm::chat::Failed>(&event)) {
        noteFailure(exchange, model, *failed);
        result.reason = exchange.reason;
    } else {
        if (const auto* delta = std::get_if<llm::chat::Delta>(&event)) {
            m_log->grew(exchange, delta->text);
        }
        return;
    }
    if (const auto ended = m_log->ended(exchange); !ended) {
        result = {{}, ended.error().message}; // not on record: not used
    }
    m_lessons->request = RequestId{0};
    m_lessons->answer = std::move(result);
}

std::optional<proposer::Lessons> LlmProposer::takeLessons()
{
    if (!m_lessons || !m_lessons->answer) {
        return std::nullopt;
    }
    std::optional<proposer::Lessons> answer = std::move(m_lessons->answer);
    m_lessons.reset();
    return answer;
}

void LlmProposer::cancelLessons()
{
    if (m_lessons && m_lessons->request != RequestId{0}) {
        m_models[m_lessons->model].client->cancel(m_lessons->request);
        Exchange& exchange = m_lessons->exchange;
        if (!QuestionPause::takeBack(exchange, "", "The request was cancelled")) {
            exchange.state = Exchange::State::Failed;
            exchange.reason = "Cancelled before the answer was there.";
        }
        (void)m_log->ended(exchange); // at worst it is found as lost when the session is opened again
    }
    m_lessons.reset();
}

} // namespace espalier
