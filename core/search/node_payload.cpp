// SPDX-License-Identifier: Apache-2.0
#include "core/search/node_payload.h"

#include "core/base/json.h"

#include <algorithm>

namespace espalier {

std::string NodePayload::text() const
{
    Json json = Json::object();
    if (!key.empty()) {
        json["key"] = key;
        json["planned"] = planned;
    }
    if (!own.empty()) {
        json["own"] = own;
    }
    if (tokens != 0 || usd != 0) {
        json["tokens"] = tokens;
        json["usd"] = usd;
    }
    if (byHand) {
        json["hand"] = true;
    }
    if (edited) {
        json["edited"] = *edited;
    }
    if (!why.empty()) {
        json["why"] = why;
    }
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return ended ? withEnded(text, *ended) : text;
}

std::string NodePayload::withEnded(const std::string& text, const EndedRecord& ended)
{
    return text.substr(0, text.find('\n')) + '\n' + ended.text();
}

NodePayload NodePayload::parse(const std::string& text)
{
    NodePayload payload;
    const std::string_view whole = text;
    const std::size_t lineEnd = std::min(whole.find('\n'), whole.size());
    if (lineEnd < whole.size()) {
        payload.ended = EndedRecord::parse(whole.substr(lineEnd + 1));
    }
    const auto json = parseJson(whole.substr(0, lineEnd), "payload");
    if (!json || !json->is_object()) {
        return payload;
    }
    const auto field = [&json](const char* name) -> const Json& {
        static const Json none;
        const auto found = json->find(name);
        return found == json->end() ? none : *found;
    };
    if (const Json& key = field("key"); key.is_string()) {
        payload.key = key.get<std::string>();
    }
    if (const Json& own = field("own"); own.is_string()) {
        payload.own = own.get<std::string>();
    }
    if (const Json& hand = field("hand"); hand.is_boolean()) {
        payload.byHand = hand.get<bool>();
    }
    if (const Json& edited = field("edited"); edited.is_string()) {
        payload.edited = edited.get<std::string>();
    }
    if (const Json& why = field("why"); why.is_string()) {
        payload.why = why.get<std::string>();
    }
    if (const Json& planned = field("planned"); planned.is_number_integer()) {
        payload.planned = static_cast<int>(std::clamp<std::int64_t>(planned.get<std::int64_t>(), 1, 1'000'000));
    }
    if (const Json& tokens = field("tokens"); tokens.is_number_integer()) {
        payload.tokens = tokens.get<std::int64_t>();
    }
    if (const Json& usd = field("usd"); usd.is_number()) {
        payload.usd = usd.get<double>();
    }
    return payload;
}

} // namespace espalier
