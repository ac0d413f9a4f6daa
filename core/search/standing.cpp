// SPDX-License-Identifier: Apache-2.0
#include "core/search/standing.h"

#include "core/search/bans.h"

namespace espalier {
namespace {

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

} // namespace espalier
