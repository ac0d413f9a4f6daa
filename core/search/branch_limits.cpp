// SPDX-License-Identifier: Apache-2.0
#include "core/search/branch_limits.h"

#include "core/base/json.h"

#include <cstdlib>
#include <fmt/format.h>

namespace espalier {
namespace {

/// Calls `one` for each limit: its name, the budget's field and the spending's.
template <typename Limits, typename One>
void eachLimit(Limits& limits, const One& one)
{
    one("evaluations", limits.budget.evaluations, limits.before.evaluations);
    one("tokens", limits.budget.tokens, limits.before.tokens);
    one("usd", limits.budget.usd, limits.before.usd);
    one("seconds", limits.budget.seconds, limits.before.seconds);
}

template <typename T>
void readLimit(const Json& json, const char* name, std::optional<T>& limit, T& before)
{
    if (!json.is_object() || !json.contains(name) || !json[name].is_object()) {
        return;
    }
    const Json& one = json[name];
    if (one.contains("limit") && one["limit"].is_number()) {
        limit = one["limit"].template get<T>();
    }
    if (one.contains("before") && one["before"].is_number()) {
        before = one["before"].template get<T>();
    }
}

Json limitsJson(const BranchLimits& limits)
{
    Json json = Json::object();
    eachLimit(limits, [&json](const char* name, const auto& limit, const auto& before) {
        if (limit) {
            json[name] = {{"limit", *limit}, {"before", before}};
        }
    });
    return json;
}

BranchLimits limitsFrom(const Json& json)
{
    BranchLimits limits;
    eachLimit(limits, [&json](const char* name, auto& limit, auto& before) { readLimit(json, name, limit, before); });
    return limits;
}

} // namespace

std::string branchLimitsKey(NodeId node)
{
    return fmt::format("{}{}", branchLimitsPrefix, node.value);
}

std::string branchLimitsText(const BranchLimits& limits)
{
    return limits.budget.none() ? std::string() : limitsJson(limits).dump();
}

BranchLimits branchLimitsFrom(const std::string& text)
{
    return limitsFrom(parseJson(text, "budget").value_or(Json()));
}

Result<std::map<NodeId, BranchLimits>> branchLimitsIn(Store& store)
{
    ESPALIER_TRY(const auto stored, store.values(branchLimitsPrefix));
    std::map<NodeId, BranchLimits> all;
    for (const auto& [number, text] : stored) {
        const BranchLimits limits = branchLimitsFrom(text);
        if (!limits.budget.none()) {
            all.emplace(NodeId{std::strtoll(number.c_str(), nullptr, 10)}, limits);
        }
    }
    return all;
}

bool countsInBranches(NodeKind kind, std::optional<bool> counts, bool gone)
{
    return kind != NodeKind::Idea && counts.value_or(!gone);
}

BranchSpending costInBranches(const Spending& asked, double deviceSeconds)
{
    return {.tokens = asked.tokens() + asked.possibleTokens,
            .usd = asked.usd + asked.possibleUsd,
            .seconds = deviceSeconds};
}

Result<BranchLimits> changedLimits(BranchLimits limits, const BranchBudget& set, const std::vector<std::string>& lift,
                                   const BranchSpending& spent)
{
    Json json = limitsJson(limits);
    for (const std::string& name : lift) {
        if (name != "evaluations" && name != "tokens" && name != "usd" && name != "seconds") {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("A branch has no limit \"{}\": it has evaluations, tokens, usd, seconds.", name));
        }
        json.erase(name);
    }
    json.update(limitsJson({set, spent}));
    return limitsFrom(json);
}

} // namespace espalier
