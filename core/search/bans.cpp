// SPDX-License-Identifier: Apache-2.0
#include "core/search/bans.h"

#include "core/base/text.h"
#include "core/build/contract_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

constexpr std::size_t longestBan = std::size_t{4} << 10;
constexpr std::size_t longestKernelName = 60; ///< it stands in the row of every candidate

std::string banWord(const Json& object, const char* name)
{
    return object.is_object() && object.contains(name) && object[name].is_string() ? object[name].get<std::string>()
                                                                                   : std::string();
}

} // namespace

Result<BannedTechnique> checkedBan(std::string text, std::string predicate)
{
    BannedTechnique ban{std::string(trimmed(text)), std::string(trimmed(predicate))};
    if (!ban.predicate.empty()) {
        const auto limit = Limit::parse(ban.predicate);
        if (!limit) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("\"{}\" is no predicate: write one such as \"fp16_instructions == 0\" over {}.",
                                    printable(ban.predicate, 100), fmt::join(Limit::metrics(), ", ")));
        }
        ban.predicate = limit->text();
        ban.text = ban.text.empty() ? ban.predicate : ban.text;
    }
    if (ban.text.empty() || ban.text.size() > longestBan) {
        return fail(ErrorCode::InvalidInput,
                    "A ban is a text of at most 4 KiB: say what is not wanted, such as \"no fp16\".");
    }
    return ban;
}

Json toJson(const std::vector<BannedTechnique>& bans)
{
    Json list = Json::array();
    for (const BannedTechnique& ban : bans) {
        list.push_back({{"text", ban.text}, {"predicate", ban.predicate}});
    }
    return list;
}

std::vector<BannedTechnique> bansFrom(const Json& json)
{
    std::vector<BannedTechnique> bans;
    for (const Json& one : json.is_array() ? json : Json::array()) {
        if (auto ban = checkedBan(banWord(one, "text"), banWord(one, "predicate"))) {
            bans.push_back(std::move(*ban));
        }
    }
    return bans;
}

std::vector<Limit> limitsOf(const std::vector<BannedTechnique>& bans)
{
    std::vector<Limit> limits;
    for (const BannedTechnique& ban : bans) {
        if (auto limit = Limit::parse(ban.predicate)) {
            limit->by = fmt::format("the engineer's ban \"{}\"", ban.text);
            limits.push_back(std::move(*limit));
        }
    }
    return limits;
}

std::shared_ptr<const Task> taskUnder(const std::vector<BannedTechnique>& bans, std::shared_ptr<const Task> task)
{
    const std::vector<Limit> limits = limitsOf(bans);
    if (limits.empty()) {
        return task;
    }
    auto held = std::make_shared<Task>(*task);
    held->contract.limits.insert(held->contract.limits.end(), limits.begin(), limits.end());
    auto json = parseJson(held->json, "task"); // what a judge in another process reads
    if (json && json->is_object() && (*json)["contract"].is_object()) {
        Json& list = (*json)["contract"]["limits"];
        for (const Limit& limit : limits) {
            list.push_back({{"limit", limit.text()}, {"by", limit.by}});
        }
        held->json = json->dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    return held;
}

std::string hintOf(const BannedTechnique& ban)
{
    return ban.predicate.empty()
               ? fmt::format("Banned: {}", ban.text)
               : fmt::format("Banned: {}. The judge rejects what breaks {}.", ban.text, ban.predicate);
}

std::vector<KernelResources> heldBy(const BuildRecord& build)
{
    std::vector<KernelResources> kernels = build.kernels;
    for (KernelResources& kernel : kernels) {
        kernel.kernel = printable(kernel.kernel, longestKernelName);
    }
    return kernels;
}

std::optional<std::string> brokenBan(const std::vector<Limit>& limits, const std::vector<KernelResources>& kernels)
{
    if (limits.empty() || kernels.empty()) {
        return std::nullopt;
    }
    std::vector<Limit> known = limits;
    std::erase_if(known, [](const Limit& limit) { return limit.what == "library_bytes"; });
    BuildRecord build;
    build.kernels = kernels;
    const auto broken = brokenLimit(known, build, 0);
    return broken ? std::optional(broken->sentence) : std::nullopt;
}

bool endedByBan(const Evaluation& evaluation)
{
    return std::any_of(evaluation.evidence.begin(), evaluation.evidence.end(),
                       [](const Evidence& one) { return one.check == banCheck; });
}

} // namespace espalier
