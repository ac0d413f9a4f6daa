// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/numbers.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <utility>

namespace espalier::ctl {
namespace {

template <typename T>
std::optional<T> parsed(const std::string& text)
{
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// `read`: the value as it is handed on; nullopt: not one that is wanted.
CLI::Option* takes(CLI::Option* option, std::string what,
                   std::function<std::optional<std::string>(const std::string&)> read)
{
    return option->transform(CLI::Validator(
        [option, what = std::move(what), read = std::move(read)](std::string& text) {
            const auto value = read(text);
            if (!value) { // a ValidationError would get another name and a colon in front
                throw CLI::ConversionError(fmt::format("{} takes {}, not \"{}\"", option->get_name(), what, text));
            }
            text = *value;
            return std::string();
        },
        ""));
}

std::string wholeInWords(std::int64_t least, std::int64_t most)
{
    if (most != anyWhole) {
        return fmt::format("a whole number from {} to {}", least, most);
    }
    return least == 1 ? std::string("a positive whole number") : fmt::format("a whole number from {} up", least);
}

} // namespace

CLI::Option* takesWhole(CLI::Option* option, std::int64_t least, std::int64_t most)
{
    return takes(
        option, wholeInWords(least, most), [least, most](const std::string& text) -> std::optional<std::string> {
            const auto value = parsed<std::int64_t>(text);
            // In plain digits: the parser would read 010 as octal.
            return value && *value >= least && *value <= most ? std::optional(fmt::to_string(*value)) : std::nullopt;
        });
}

CLI::Option* takesNumber(CLI::Option* option, double least, std::optional<double> most)
{
    const std::string what =
        most ? fmt::format("a number from {:g} to {:g}", least, *most) : fmt::format("a number from {:g} up", least);
    return takes(option, what, [least, most](const std::string& text) {
        const auto value = parsed<double>(text);
        const bool wanted = value && std::isfinite(*value) && *value >= least && (!most || *value <= *most);
        return wanted ? std::optional(text) : std::nullopt;
    });
}

CLI::Option* takesNumberAbove(CLI::Option* option, double bound, const char* example)
{
    return takes(option, fmt::format("a number above {:g} ({})", bound, example), [bound](const std::string& text) {
        const auto value = parsed<double>(text);
        return value && std::isfinite(*value) && *value > bound ? std::optional(text) : std::nullopt;
    });
}

} // namespace espalier::ctl
