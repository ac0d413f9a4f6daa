// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/background.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

struct ModelShare {
    std::string name; ///< of the profile: what candidates carry in their payload
    double weight = 1;
};

/// The payload of a candidate that a model wrote.
std::string modelPayload(std::string_view model, std::int64_t exchange);
/// The model that a payload names; empty: none.
std::string modelOf(std::string_view payload);
/// The exchange that a payload names; 0: none.
std::int64_t exchangeOf(std::string_view payload);

/// Which model answers a question. Until each has `warmUp` candidates with a known outcome, by weight at random; then
/// by upper confidence bound on gain per cost, times weight. Gain: the logarithm of a candidate's speed-up over its
/// parent, 0 for one that is slower or failed. Cost: USD where every candidate has a price, else tokens; on average 1.
/// A function of its arguments (`seed` and `question` draw), so that a resumed session chooses alike. `models` is not
/// empty; with no weight above 0 all count the same.
std::size_t chooseModel(const std::vector<ModelShare>& models, const std::vector<KnownTry>& tried, std::uint64_t seed,
                        std::string_view question);
constexpr int warmUp = 2;

} // namespace espalier
