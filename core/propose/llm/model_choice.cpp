// SPDX-License-Identifier: Apache-2.0
#include "core/propose/llm/model_choice.h"

#include "core/base/hash.h"
#include "core/base/json.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

struct Tally {
    int tries = 0;
    double gain = 0, usd = 0;
    std::int64_t tokens = 0;
    bool priced = true;
};

double gainOf(const KnownTry& one)
{
    if (one.outcome != Outcome::Passed || !one.score) {
        return 0;
    }
    const double before = one.parentScore.value_or(1);
    return before > 0 && *one.score > before ? std::log(*one.score / before) : 0;
}

std::vector<Tally> tallies(const std::vector<ModelShare>& models, const std::vector<KnownTry>& tried)
{
    std::vector<Tally> counted(models.size());
    for (const KnownTry& one : tried) {
        const std::string model = modelOf(one.payload);
        for (std::size_t i = 0; i < models.size() && !model.empty(); ++i) {
            if (models[i].name == model) {
                ++counted[i].tries;
                counted[i].gain += gainOf(one);
                counted[i].tokens += one.tokens;
                counted[i].usd += one.usd.value_or(0);
                counted[i].priced = counted[i].priced && one.usd.has_value();
            }
        }
    }
    return counted;
}

/// In [0, 1), the same on every machine.
double drawOf(std::uint64_t seed, std::string_view question)
{
    const std::string digest = sha256Of({"model", std::to_string(seed), question});
    return static_cast<double>(std::stoull(digest.substr(0, 12), nullptr, 16)) / static_cast<double>(1ull << 48);
}

double weightOf(const std::vector<ModelShare>& models, std::size_t index)
{
    const bool any = std::any_of(models.begin(), models.end(), [](const ModelShare& m) { return m.weight > 0; });
    return any ? std::max(0.0, models[index].weight) : 1;
}

std::size_t byWeight(const std::vector<ModelShare>& models, const std::vector<std::size_t>& among, double draw)
{
    double sum = 0;
    for (const std::size_t i : among) {
        sum += weightOf(models, i);
    }
    double at = draw * sum;
    for (const std::size_t i : among) {
        at -= weightOf(models, i);
        if (at < 0) {
            return i;
        }
    }
    return among.back();
}

} // namespace

std::string modelPayload(std::string_view model, std::int64_t exchange)
{
    return Json{{"model", model}, {"exchange", exchange}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string modelOf(std::string_view payload)
{
    const auto json = parseJson(payload, "payload");
    const bool named = json && json->is_object() && json->contains("model") && (*json)["model"].is_string();
    return named ? (*json)["model"].get<std::string>() : std::string();
}

std::int64_t exchangeOf(std::string_view payload)
{
    const auto json = parseJson(payload, "payload");
    const bool named =
        json && json->is_object() && json->contains("exchange") && (*json)["exchange"].is_number_integer();
    return named ? (*json)["exchange"].get<std::int64_t>() : 0;
}

std::size_t chooseModel(const std::vector<ModelShare>& models, const std::vector<KnownTry>& tried, std::uint64_t seed,
                        std::string_view question)
{
    std::vector<std::size_t> eligible;
    for (std::size_t i = 0; i < models.size(); ++i) {
        if (weightOf(models, i) > 0) {
            eligible.push_back(i);
        }
    }
    if (eligible.size() == 1) {
        return eligible.front();
    }
    const std::vector<Tally> counted = tallies(models, tried);
    std::vector<std::size_t> cold;
    int tries = 0;
    std::int64_t tokens = 0;
    double usd = 0;
    bool priced = true;
    for (const std::size_t i : eligible) {
        if (counted[i].tries < warmUp) {
            cold.push_back(i);
        }
        tries += counted[i].tries;
        tokens += counted[i].tokens;
        usd += counted[i].usd;
        priced = priced && counted[i].priced;
    }
    if (!cold.empty()) {
        return byWeight(models, cold, drawOf(seed, question));
    }
    priced = priced && usd > 0;
    double largest = 0;
    std::vector<double> rates(models.size(), 0);
    for (const std::size_t i : eligible) {
        const double own = priced ? counted[i].usd : static_cast<double>(counted[i].tokens);
        const double mean = (priced ? usd : static_cast<double>(tokens)) / tries; // of one candidate
        const double cost = mean > 0 ? own / mean : counted[i].tries;
        rates[i] = counted[i].gain / std::max(cost, 1e-3);
        largest = std::max(largest, rates[i]);
    }
    std::size_t best = eligible.front();
    double bestBound = -1;
    for (const std::size_t i : eligible) {
        const double rate = largest > 0 ? rates[i] / largest : 0;
        const double bound = weightOf(models, i) * (rate + std::sqrt(2 * std::log(tries) / counted[i].tries) / 2);
        if (bound > bestBound) {
            bestBound = bound;
            best = i;
        }
    }
    return best;
}

} // namespace espalier
