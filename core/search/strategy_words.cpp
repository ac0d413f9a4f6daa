// SPDX-License-Identifier: Apache-2.0
#include "core/search/strategy_words.h"

#include "core/base/text.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace espalier {
namespace {

std::string strategyNames()
{
    std::string names;
    for (const StrategyDescription& strategy : strategyDescriptions()) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", strategy.name);
    }
    return names;
}

} // namespace

Result<StrategyWords> StrategyWords::read(std::string_view words)
{
    const std::size_t colon = words.find(':');
    StrategyWords read;
    read.m_name = std::string(words.substr(0, colon));
    const auto all = strategyDescriptions();
    const auto strategy =
        std::find_if(all.begin(), all.end(), [&read](const auto& one) { return one.name == read.m_name; });
    if (strategy == all.end()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("There is no strategy \"{}\": choose from {}.", read.m_name, strategyNames()));
    }
    for (const StrategyParameter& parameter : strategy->parameters) {
        read.m_values.emplace(parameter.name, parameter.value);
    }
    const std::string_view rest = colon == std::string_view::npos ? std::string_view() : words.substr(colon + 1);
    for (const std::string_view part : rest.empty() ? std::vector<std::string_view>() : splitOn(rest, ',')) {
        const std::size_t equals = std::min(part.find('='), part.size());
        const std::string_view name = trimmed(part.substr(0, equals));
        const std::string_view value = trimmed(part.substr(std::min(equals + 1, part.size())));
        const auto parameter = std::find_if(strategy->parameters.begin(), strategy->parameters.end(),
                                            [name](const auto& one) { return one.name == name; });
        if (parameter == strategy->parameters.end()) {
            std::string names;
            for (const StrategyParameter& one : strategy->parameters) {
                names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
            }
            return fail(
                ErrorCode::InvalidInput,
                names.empty()
                    ? fmt::format("Strategy {} has no parameters: leave out \"{}\".", read.m_name, part)
                    : fmt::format("Strategy {} has no parameter \"{}\": choose from {}.", read.m_name, name, names));
        }
        double number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (value.empty() || error != std::errc() || end != value.data() + value.size() ||
            !(number >= parameter->low && number <= parameter->high)) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("{} of strategy {} lies between {:g} and {:g}; \"{}\" does not.", name, read.m_name,
                                    parameter->low, parameter->high, value));
        }
        read.m_values.insert_or_assign(std::string(name), number);
    }
    return read;
}

double StrategyWords::number(std::string_view parameter) const
{
    const auto found = m_values.find(parameter);
    assert(found != m_values.end());
    return found->second;
}

} // namespace espalier
