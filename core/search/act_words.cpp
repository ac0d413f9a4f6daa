// SPDX-License-Identifier: Apache-2.0
#include "core/search/act_words.h"

#include "core/base/json.h"
#include "core/base/text.h"

#include <array>
#include <fmt/format.h>
#include <utility>

namespace espalier {

std::string actInWords(std::string_view what)
{
    constexpr std::size_t longest = 300;
    const Json act = Json::parse(what, nullptr, false);
    if (!act.is_object() || !act.contains("act") || !act["act"].is_string()) {
        return printable(what, longest);
    }
    const auto text = [&](const char* field) {
        return act.contains(field) && act[field].is_string() ? act[field].get<std::string>() : std::string();
    };
    const auto number = [&](const char* field) {
        return act.contains(field) && act[field].is_number() ? fmt::format("{:g}", act[field].get<double>()) : std::string();
    };
    std::string words = text("act");
    if (const std::string of = text("of"); !of.empty()) {
        words += " of " + of;
    }
    for (const auto& [field, name] : {std::pair{"node", "node"}, std::pair{"second", "and node"}, std::pair{"new", "as node"}}) {
        if (const std::string value = number(field); !value.empty()) {
            words += fmt::format(" {} {}", name, value);
        }
    }
    for (const char* field : {"text", "title", "name", "words", "strategy", "what", "as", "reason"}) {
        if (const std::string value = text(field); !value.empty()) {
            words += ": " + value;
        }
    }
    if (const std::string predicate = text("predicate"); !predicate.empty()) {
        words += fmt::format(" ({})", predicate);
    }
    for (const char* field : {"evaluations", "tokens", "usd", "seconds"}) {
        if (const std::string value = number(field); !value.empty()) {
            words += fmt::format(", {} {}", value, field);
        }
    }
    if (words.starts_with("boost") && !number("boost").empty()) {
        words += fmt::format(", factor {}", number("boost"));
    }
    return printable(words, longest);
}

} // namespace espalier
