// SPDX-License-Identifier: Apache-2.0
#include "core/search/standing.h"

#include "core/base/text.h"
#include "core/search/bans.h"

#include <cstdlib>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::size_t longestChoice = 60;

Result<Json> valueOf(Store& store, const char* key)
{
    ESPALIER_TRY(const auto text, store.value(key));
    return text ? parseJson(*text, key).value_or(Json()) : Json();
}

} // namespace

std::vector<std::string> hintsFrom(const Json& json)
{
    std::vector<std::string> hints;
    for (const Json& hint : json.is_array() ? json : Json::array()) {
        if (hint.is_string()) {
            hints.push_back(hint.get<std::string>());
        }
    }
    return hints;
}

Result<std::vector<std::string>> hintsIn(Store& store)
{
    ESPALIER_TRY(const Json json, valueOf(store, hintsKey));
    return hintsFrom(json);
}

Result<std::vector<BannedTechnique>> bansIn(Store& store)
{
    ESPALIER_TRY(const Json json, valueOf(store, bansKey));
    return bansFrom(json);
}

Result<std::vector<Attachment>> attachmentsIn(Store& store)
{
    ESPALIER_TRY(const Json json, valueOf(store, attachmentsKey));
    std::vector<Attachment> attachments;
    for (const Json& one : json.is_array() ? json : Json::array()) {
        if (one.is_object() && one.contains("name") && one["name"].is_string() && one.contains("text") &&
            one["text"].is_string()) {
            attachments.push_back({one["name"].get<std::string>(), one["text"].get<std::string>()});
        }
    }
    return attachments;
}

Result<NodeId> lastConsumed(Store& store)
{
    ESPALIER_TRY(const auto text, store.value(consumedKey));
    return NodeId{text ? std::strtoll(text->c_str(), nullptr, 10) : 0};
}

std::string numberedChoices(const std::vector<std::string>& texts)
{
    std::string words;
    int number = 0;
    for (const std::string& text : texts) {
        words += fmt::format("{}{} \"{}\"", words.empty() ? "" : ", ", ++number, printable(text, longestChoice));
    }
    return "the session has " + (words.empty() ? std::string("none") : words);
}

std::string namedChoices(const std::vector<Attachment>& attachments)
{
    std::string words;
    for (const Attachment& one : attachments) {
        words += fmt::format("{}\"{}\"", words.empty() ? "" : ", ", printable(one.name, longestChoice));
    }
    return "the session has " + (words.empty() ? std::string("none") : words);
}

} // namespace espalier
