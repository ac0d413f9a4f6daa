// SPDX-License-Identifier: Apache-2.0
#include "core/llm/model_limits.h"

#include "core/base/file.h"
#include "core/base/json.h"

#include <algorithm>

namespace espalier::llm {

namespace {

constexpr const char* tokenFieldNames[] = {"", "max_tokens", "max_completion_tokens", "none"};

Json limitsJson(const ModelLimits& limits)
{
    return {{"token_field", tokenFieldNames[static_cast<int>(limits.tokenField)]},
            {"most_output", limits.mostOutput},
            {"context", limits.context},
            {"temperature", limits.temperature},
            {"stream_options", limits.streamOptions},
            {"stream", limits.stream},
            {"system_role", limits.systemRole},
            {"effort", limits.effort},
            {"schema", limits.schema},
            {"url_choice", limits.urlChoice}};
}

/// Field by field, so that one that is damaged or new leaves the others alone.
template <typename T>
void readField(const Json& json, const char* field, T& into)
{
    const auto found = json.find(field);
    if constexpr (std::is_same_v<T, bool>) {
        into = found != json.end() && found->is_boolean() ? found->get<bool>() : into;
    } else {
        into = found != json.end() && found->is_number_integer() ? static_cast<T>(found->get<std::int64_t>()) : into;
    }
}

ModelLimits limitsFrom(const Json& json)
{
    ModelLimits limits;
    readField(json, "most_output", limits.mostOutput);
    readField(json, "context", limits.context);
    readField(json, "temperature", limits.temperature);
    readField(json, "stream_options", limits.streamOptions);
    readField(json, "stream", limits.stream);
    readField(json, "system_role", limits.systemRole);
    readField(json, "effort", limits.effort);
    readField(json, "schema", limits.schema);
    readField(json, "url_choice", limits.urlChoice);
    limits.mostOutput = std::max<std::int64_t>(limits.mostOutput, 0);
    limits.context = std::max<std::int64_t>(limits.context, 0);
    limits.effort = std::clamp(limits.effort, 0, 2);
    limits.schema = std::clamp(limits.schema, 0, 1);
    limits.urlChoice = std::clamp(limits.urlChoice, 0, 1);
    if (const auto field = json.find("token_field"); field != json.end() && field->is_string()) {
        const auto* end = std::end(tokenFieldNames);
        const auto* name = std::find(std::begin(tokenFieldNames), end, field->get<std::string>());
        limits.tokenField = name == end ? ModelLimits::TokenField::Usual
                                        : static_cast<ModelLimits::TokenField>(name - std::begin(tokenFieldNames));
    }
    return limits;
}

} // namespace

std::filesystem::path ModelKnowledge::usualFile()
{
    return cacheFolder() / "model_limits.json";
}

ModelKnowledge::ModelKnowledge(std::filesystem::path file) : m_file(std::move(file))
{
    const auto text = readFile(m_file, std::size_t{4} << 20);
    const auto json = text ? parseJson(*text, m_file.string()) : Result<Json>(Json::object());
    if (!json || !json->is_object()) {
        return;
    }
    for (const auto& [name, limits] : json->items()) {
        if (limits.is_object()) {
            m_limits[name] = limitsFrom(limits);
        }
    }
}

ModelLimits ModelKnowledge::of(const std::string& endpoint, const std::string& model) const
{
    const auto found = m_limits.find(endpoint + " " + model);
    return found == m_limits.end() ? ModelLimits() : found->second;
}

void ModelKnowledge::learn(const std::string& endpoint, const std::string& model, const ModelLimits& limits)
{
    ModelLimits& known = m_limits[endpoint + " " + model];
    if (known == limits) {
        return;
    }
    known = limits;
    if (!m_file.empty()) {
        save();
    }
}

void ModelKnowledge::save() const
{
    Json json = Json::object();
    for (const auto& [name, limits] : m_limits) {
        json[name] = limitsJson(limits);
    }
    if (makeDirectories(m_file.parent_path())) {
        static_cast<void>(writeFileAtomically(m_file, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
    }
}

} // namespace espalier::llm
