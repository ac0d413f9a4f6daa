// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/llm/chat.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::llm {

/// USD for a million tokens.
struct TokenRates {
    double input = 0, output = 0; ///< output includes reasoning
    double cachedInput = 0;       ///< the input's where the table names none
};

/// What one model costs, and who says so.
struct Price {
    std::string model;
    TokenRates rates;
    std::int64_t longPrompt = 0; ///< input tokens above which all of a request has longRates; 0: never
    TokenRates longRates;
    std::string source, date; ///< where the figures are from and of which day they are
};

/// Prices by model. A value; thread: any. A model is found by its name, whatever service's name stands before it
/// ("anthropic/claude-opus-5"), dots written as dashes, and a date or "latest" behind it.
class PriceTable
{
public:
    /// The table that ships with Espalier, with the user's ($XDG_CONFIG_HOME/espalier/prices.json) before it. Errors:
    /// InvalidInput naming the file and the field; a file that is missing is none.
    static Result<PriceTable> load();
    /// {"prices": [{"model", "input", "output", "cached_input"?, "above"?: {"tokens", "input", "output",
    /// "cached_input"?}, "source", "date"}]}, USD for a million tokens.
    static Result<PriceTable> parse(std::string_view json, const std::string& name);

    /// Null: no price is known.
    const Price* find(std::string_view model) const;
    /// USD. nullopt, which is not 0: the model's price or the tokens are not known.
    std::optional<double> costOf(const Usage& usage, std::string_view model) const;
    const std::vector<Price>& prices() const { return m_prices; }

private:
    std::vector<Price> m_prices; ///< earlier ones win
};

} // namespace espalier::llm
