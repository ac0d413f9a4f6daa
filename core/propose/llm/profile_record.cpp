// SPDX-License-Identifier: Apache-2.0
#include "core/propose/llm/profile_record.h"

#include "core/base/json.h"

#include <algorithm>

namespace espalier {
namespace {

std::string textField(const Json& json, const char* name)
{
    return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : std::string();
}

std::vector<std::string> textsField(const Json& json, const char* name)
{
    std::vector<std::string> texts;
    const Json list = json.value(name, Json::array());
    for (const Json& one : list.is_array() ? list : Json::array()) {
        if (one.is_string()) {
            texts.push_back(one.get<std::string>());
        }
    }
    return texts;
}

template <typename Number>
void readNumber(const Json& json, const char* name, Number& number, Number least, Number most)
{
    if (json.contains(name) && json[name].is_number()) {
        number = std::clamp(json[name].get<Number>(), least, most);
    }
}

} // namespace

std::string recordOf(const llm::ModelProfile& profile)
{
    const Json json = {{"name", profile.name},
                       {"provider", profile.provider},
                       {"base_url", profile.baseUrl},
                       {"model", profile.model},
                       {"command", profile.command},
                       {"folder", profile.folder},
                       {"key_variable", profile.keyVariable},
                       {"context_tokens", profile.contextTokens},
                       {"weight", profile.weight},
                       {"channels", profile.channels}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<llm::ModelProfile> profileFrom(const std::string& record)
{
    ESPALIER_TRY(const Json json, parseJson(record, "the session's model"));
    if (!json.is_object()) {
        return fail(ErrorCode::InvalidInput, "The session's record of a model is no JSON object.");
    }
    llm::ModelProfile profile;
    profile.name = textField(json, "name");
    profile.provider = textField(json, "provider");
    profile.baseUrl = textField(json, "base_url");
    profile.model = textField(json, "model");
    profile.command = textsField(json, "command");
    profile.folder = textField(json, "folder");
    profile.keyVariable = textField(json, "key_variable");
    profile.channels = textsField(json, "channels");
    readNumber<std::int64_t>(json, "context_tokens", profile.contextTokens, 0, 1'000'000'000);
    readNumber<double>(json, "weight", profile.weight, 0, 1e6);
    return profile;
}

std::string recordOf(const LlmSettings& settings)
{
    const Json json = {{"ideas", settings.ideas},
                       {"implementations", settings.implementations},
                       {"repairs", settings.repairs},
                       {"max_output_tokens", settings.maxOutputTokens},
                       {"reasoning_effort", settings.reasoningEffort}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

LlmSettings settingsFrom(const std::string& record)
{
    LlmSettings settings;
    const auto json = parseJson(record, "settings");
    if (!json || !json->is_object()) {
        return settings;
    }
    readNumber(*json, "ideas", settings.ideas, 1, 64);
    readNumber(*json, "implementations", settings.implementations, 1, 64);
    readNumber(*json, "repairs", settings.repairs, 0, 16);
    readNumber<std::int64_t>(*json, "max_output_tokens", settings.maxOutputTokens, 256, 1'000'000);
    settings.reasoningEffort = textField(*json, "reasoning_effort");
    return settings;
}

} // namespace espalier
