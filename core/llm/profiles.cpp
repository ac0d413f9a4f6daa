// SPDX-License-Identifier: Apache-2.0
#include "core/llm/profiles.h"

#include "core/base/file.h"
#include "core/llm/redact.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace espalier::llm {

namespace {

struct TextField {
    const char* name;
    std::string ModelProfile::* member;
};
constexpr TextField textFields[] = {
    {"name", &ModelProfile::name},          {"provider", &ModelProfile::provider},
    {"base_url", &ModelProfile::baseUrl},   {"model", &ModelProfile::model},
    {"folder", &ModelProfile::folder},      {"proxy", &ModelProfile::proxy},
    {"ca_bundle", &ModelProfile::caBundle}, {"key_variable", &ModelProfile::keyVariable}};

struct NumberField {
    const char* name;
    double ModelProfile::* member;
    double least; ///< and not less
};
constexpr NumberField numberFields[] = {{"connect_seconds", &ModelProfile::connectSeconds, 0.001},
                                        {"first_token_seconds", &ModelProfile::firstTokenSeconds, 0.001},
                                        {"stall_seconds", &ModelProfile::stallSeconds, 0.001},
                                        {"total_seconds", &ModelProfile::totalSeconds, 0.001},
                                        {"retry_after_cap_seconds", &ModelProfile::retryAfterCapSeconds, 0},
                                        {"weight", &ModelProfile::weight, 0}};

struct ListField {
    const char* name;
    std::vector<std::string> ModelProfile::* member;
};
constexpr ListField listFields[] = {{"command", &ModelProfile::command}, {"channels", &ModelProfile::channels}};

Result<void> readTexts(const JsonReader& reader, ModelProfile& profile)
{
    for (const TextField& field : textFields) {
        if (reader.has(field.name)) {
            ESPALIER_TRY(const JsonReader value, reader.at(field.name));
            ESPALIER_TRY(profile.*field.member, value.string());
        }
    }
    for (const ListField& field : listFields) {
        if (reader.has(field.name)) {
            ESPALIER_TRY(const JsonReader list, reader.at(field.name));
            ESPALIER_TRY(const auto items, list.items());
            for (const JsonReader& item : items) {
                ESPALIER_TRY(std::string text, item.string());
                (profile.*field.member).push_back(std::move(text));
            }
        }
    }
    if (reader.has("headers")) {
        ESPALIER_TRY(const JsonReader headers, reader.at("headers"));
        ESPALIER_TRY(const auto members, headers.members());
        for (const auto& [name, value] : members) {
            ESPALIER_TRY(std::string text, value.string());
            profile.headers.emplace_back(name, std::move(text));
        }
    }
    return {};
}

Result<void> readNumbers(const JsonReader& reader, ModelProfile& profile)
{
    for (const NumberField& field : numberFields) {
        if (reader.has(field.name)) {
            ESPALIER_TRY(const JsonReader value, reader.at(field.name));
            ESPALIER_TRY(const double number, value.number());
            if (!(number >= field.least && number <= 1e9)) {
                return value.complain(fmt::format("a number of at least {:g}", field.least));
            }
            profile.*field.member = number;
        }
    }
    if (reader.has("most_retries")) {
        ESPALIER_TRY(const JsonReader value, reader.at("most_retries"));
        ESPALIER_TRY(const std::int64_t retries, value.integer());
        profile.mostRetries = static_cast<int>(std::clamp<std::int64_t>(retries, 0, 100));
    }
    if (reader.has("context_tokens")) {
        ESPALIER_TRY(const JsonReader value, reader.at("context_tokens"));
        ESPALIER_TRY(profile.contextTokens, value.integer());
    }
    return {};
}

/// Something that the file must not hold: named in the sentence.
Result<void> checkSecrets(const ModelProfile& profile)
{
    for (const auto& [name, value] : profile.headers) {
        if (!value.starts_with('$') && isSecretName(name)) {
            return fail(
                ErrorCode::InvalidInput,
                fmt::format("model {}: the header {} looks like a secret and is not saved: put its value into an "
                            "environment variable and write \"$NAME\"",
                            profile.name, name));
        }
    }
    for (const std::string* url : {&profile.proxy, &profile.baseUrl}) {
        if (Redactor().clean(*url) != *url) {
            return fail(
                ErrorCode::InvalidInput,
                fmt::format("model {}: its address holds a password or a key and is not saved: put the key into an "
                            "environment variable, the proxy into https_proxy",
                            profile.name));
        }
    }
    return {};
}

} // namespace

std::filesystem::path profilesFile()
{
    return configFolder() / "models.json";
}

std::string fromEnvironment(const std::string& value)
{
    if (!value.starts_with('$') || value.size() < 2) {
        return value;
    }
    const char* found = std::getenv(value.c_str() + 1);
    return found ? found : "";
}

Json toJson(const ModelProfile& profile)
{
    const ModelProfile usual;
    Json json = Json::object();
    for (const TextField& field : textFields) {
        if (!(profile.*field.member).empty()) {
            json[field.name] = profile.*field.member;
        }
    }
    for (const NumberField& field : numberFields) {
        if (profile.*field.member != usual.*field.member) {
            json[field.name] = profile.*field.member;
        }
    }
    for (const ListField& field : listFields) {
        if (!(profile.*field.member).empty()) {
            json[field.name] = profile.*field.member;
        }
    }
    for (const auto& [name, value] : profile.headers) {
        json["headers"][name] = value;
    }
    if (profile.mostRetries != usual.mostRetries) {
        json["most_retries"] = profile.mostRetries;
    }
    if (profile.contextTokens != 0) {
        json["context_tokens"] = profile.contextTokens;
    }
    return json;
}

Result<ModelProfile> profileFrom(const JsonReader& reader)
{
    std::vector<std::string> known = {"headers", "most_retries", "context_tokens"};
    for (const TextField& field : textFields) {
        known.emplace_back(field.name);
    }
    for (const NumberField& field : numberFields) {
        known.emplace_back(field.name);
    }
    for (const ListField& field : listFields) {
        known.emplace_back(field.name);
    }
    ESPALIER_CHECK(reader.onlyFields(known));
    ModelProfile profile;
    ESPALIER_CHECK(readTexts(reader, profile));
    ESPALIER_CHECK(readNumbers(reader, profile));
    if (profile.provider.empty()) {
        return reader.complain("a provider (openai, openai-responses, anthropic, gemini, command, manual or replay)");
    }
    return profile;
}

Result<std::vector<ModelProfile>> loadProfiles(const std::filesystem::path& file)
{
    std::vector<ModelProfile> profiles;
    const auto text = readFile(file, std::size_t{4} << 20);
    if (!text && text.error().code == ErrorCode::NotFound) {
        return profiles;
    }
    if (!text) {
        return std::unexpected(text.error());
    }
    ESPALIER_TRY(const Json json, parseJson(*text, file.string()));
    const JsonReader reader(json, file.string());
    ESPALIER_TRY(const JsonReader list, reader.at("models"));
    ESPALIER_TRY(const auto items, list.items());
    for (const JsonReader& item : items) {
        ESPALIER_TRY(ModelProfile profile, profileFrom(item));
        profiles.push_back(std::move(profile));
    }
    return profiles;
}

Result<void> saveProfiles(const std::vector<ModelProfile>& profiles, const std::filesystem::path& file)
{
    Json json = {{"models", Json::array()}};
    for (const ModelProfile& profile : profiles) {
        ESPALIER_CHECK(checkSecrets(profile));
        json["models"].push_back(toJson(profile));
    }
    ESPALIER_CHECK(makeDirectories(file.parent_path()));
    return writeFileAtomically(file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

} // namespace espalier::llm
