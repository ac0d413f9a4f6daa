// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/strategy.h"

#include <map>
#include <string>

namespace espalier {

/// "beam:width=3,tries=1", read against what the strategy says of itself. A value.
class StrategyWords
{
public:
    /// Errors: InvalidInput naming what does not exist, is no number or lies outside its range.
    static Result<StrategyWords> read(std::string_view words);

    const std::string& name() const { return m_name; }
    double number(std::string_view parameter) const; ///< given or default; the parameter must be one of the strategy's
    int whole(std::string_view parameter) const { return static_cast<int>(number(parameter)); }

private:
    std::string m_name;
    std::map<std::string, double, std::less<>> m_values;
};

} // namespace espalier
