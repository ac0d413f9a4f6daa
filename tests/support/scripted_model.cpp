// SPDX-License-Identifier: Apache-2.0
#include "tests/support/scripted_model.h"

#include "core/base/json.h"

#include <stdexcept>

namespace espalier {
namespace {

std::string nameOfRequest(const llm::ChatRequest& request)
{
    return request.purpose + " " + request.subject;
}

} // namespace

void ModelWorld::say(const std::string& name, const std::string& text, llm::Finish finish)
{
    llm::ChatAnswer answer;
    answer.text = text;
    answer.finish = finish;
    replies[name].push_back(answer);
}

void ModelWorld::fail(const std::string& name, llm::ChatFailure::Kind kind, const std::string& message)
{
    llm::ChatFailure failure;
    failure.kind = kind;
    failure.message = message;
    replies[name].push_back(failure);
}

const llm::ChatRequest* ModelWorld::request(const std::string& name) const
{
    const llm::ChatRequest* last = nullptr;
    for (const llm::ChatRequest& one : left) {
        last = nameOfRequest(one) == name ? &one : last;
    }
    return last;
}

ScriptedModel::ScriptedModel(ModelWorld& world, std::string model)
    : m_world(world), m_model(std::move(model)), m_random(world.late.value_or(0))
{
}

llm::WireRecord ScriptedModel::start(RequestId id, const llm::ChatRequest& request)
{
    m_started.emplace(id, request);
    return {"https://model.example/v1/chat/completions", Json{{"model", m_model}, {"subject", request.subject}}.dump(),
            ""};
}

void ScriptedModel::release(RequestId id)
{
    auto started = m_started.extract(id);
    if (!started) {
        throw std::logic_error("released what was not started");
    }
    m_released.insert(std::move(started));
    m_signal.set(true);
}

void ScriptedModel::cancel(RequestId id)
{
    llm::ChatFailure failure;
    failure.kind = llm::ChatFailure::Kind::Cancelled;
    failure.partialText = answering(id) ? "Here is the beg" : "";
    if (m_started.erase(id) + m_released.erase(id) + m_left.erase(id) > 0) {
        m_ended.push_back(llm::chat::Failed{id, failure, {}});
        m_signal.set(true);
    }
}

llm::chat::Event ScriptedModel::answerTo(RequestId id, const llm::ChatRequest& request)
{
    const std::string name = nameOfRequest(request);
    const auto found = m_world.replies.find(name);
    if (found == m_world.replies.end()) {
        m_world.unknown = m_world.unknown.empty() ? name : m_world.unknown;
        llm::ChatFailure failure;
        failure.kind = llm::ChatFailure::Kind::NotRecorded;
        failure.message = "nothing is scripted for " + name;
        return llm::chat::Failed{id, failure, {}};
    }
    const auto index = std::min(found->second.size(), static_cast<std::size_t>(m_world.counts[name])) - 1;
    const ModelWorld::Reply& reply = found->second[index];
    if (const auto* failure = std::get_if<llm::ChatFailure>(&reply)) {
        return llm::chat::Failed{id, *failure, {}};
    }
    llm::ChatAnswer answer = std::get<llm::ChatAnswer>(reply);
    answer.model = m_model;
    answer.usage = m_world.usage;
    return llm::chat::Answered{id, answer, {}};
}

std::vector<llm::chat::Event> ScriptedModel::receive()
{
    std::vector<llm::chat::Event> events = std::exchange(m_ended, {});
    for (auto& [id, request] : std::exchange(m_released, {})) {
        m_world.left.push_back(request);
        ++m_world.counts[nameOfRequest(request)];
        events.push_back(llm::chat::Sent{id, {}});
        m_left.emplace(id, request);
    }
    for (auto at = m_left.begin(); at != m_left.end();) {
        if (m_world.silent || at->second.purpose == m_world.silentPurpose || (m_world.late && m_random() % 4 != 0)) {
            ++at;
            continue;
        }
        llm::chat::Event event = answerTo(at->first, at->second);
        if (const auto* answered = std::get_if<llm::chat::Answered>(&event)) {
            events.push_back(llm::chat::Delta{at->first, answered->answer.text});
        }
        events.push_back(std::move(event));
        at = m_left.erase(at);
    }
    m_signal.set(!m_left.empty() && !m_world.silent);
    return events;
}

std::unique_ptr<LlmProposer> scriptedProposer(ModelWorld& world, LlmSettings settings,
                                              const std::vector<std::string>& models, const std::string& proposer)
{
    std::vector<LlmModel> made;
    for (const std::string& name : models) {
        LlmModel model;
        model.profile.name = name;
        model.profile.provider = world.provider;
        model.profile.model = name;
        model.client = std::make_unique<ScriptedModel>(world, name);
        model.price = [](const TokenCounts& tokens) -> std::optional<double> {
            return 1e-6 * static_cast<double>(tokens.input) + 1e-5 * static_cast<double>(tokens.output);
        };
        made.push_back(std::move(model));
    }
    std::vector<PromptTemplate> prompts;
    for (const std::string& name : promptNames()) {
        prompts.push_back(loadPrompt(name).value());
    }
    return std::make_unique<LlmProposer>(proposer, std::move(made), std::move(prompts), settings, world.pause);
}

std::string ideasAnswer(const std::vector<std::string>& titles)
{
    Json ideas = Json::array();
    for (const std::string& title : titles) {
        ideas.push_back({{"title", title}, {"text", "We " + title + "."}, {"expected_gain", 1.5}});
    }
    return Json{{"ideas", ideas}}.dump();
}

std::string kernelAnswer(const std::string& source)
{
    return "Here it is.\n\n```cuda\n" + source + "\n```\n";
}

} // namespace espalier
