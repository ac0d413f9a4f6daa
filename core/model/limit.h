// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// One limit on what a candidate may use: "registers <= 128". A value; thread: any.
struct Limit {
    std::string what;     ///< one of metrics()
    std::string relation; ///< <= < == != >= >
    double value = 0;
    std::string by; ///< who says so, for sentences; empty: the contract

    bool holds(double measured) const;
    std::string text() const;     ///< "registers <= 128"
    std::string sentence() const; ///< "the contract says registers <= 128"

    /// Reads text(); nullopt for an unknown metric or relation, or what is no number.
    static std::optional<Limit> parse(std::string_view text);
    static const std::vector<std::string>& metrics();
};

} // namespace espalier
