// SPDX-License-Identifier: Apache-2.0
#include "core/search/act_words.h"

#include "core/base/json.h"
#include "core/base/text.h"

#include <cstdint>
#include <fmt/format.h>
#include <tuple>
#include <utility>

namespace espalier {
namespace {

std::string limitsInWords(const Json& limits)
{
    std::string words;
    for (const auto& [field, before, after] :
         {std::tuple{"evaluations", "", " evaluations"}, std::tuple{"tokens", "", " tokens"},
          std::tuple{"usd", "", " usd"}, std::tuple{"seconds", "", " seconds"}, std::tuple{"target", "target ", "x"},
          std::tuple{"roof", "roof ", " %"}, std::tuple{"plateau", "plateau ", ""}}) {
        if (limits.is_object() && limits.contains(field) && limits[field].is_number()) {
            words += fmt::format(", {}{}{}", before,
                                 limits[field].is_number_integer() ? fmt::to_string(limits[field].get<std::int64_t>())
                                                                   : fmt::format("{:g}", limits[field].get<double>()),
                                 after);
        }
    }
    return words;
}

/// "run with evolution islands=3, up to 12 evaluations"; of an older session "run" alone.
std::string controlInWords(const std::string& act, std::string strategy, const Json& limits)
{
    if (const std::size_t colon = strategy.find(':'); colon != std::string::npos) {
        strategy[colon] = ' ';
    }
    const std::string most = limitsInWords(limits);
    return act + (strategy.empty() ? "" : " with " + strategy) + (most.empty() ? "" : ", up to" + most.substr(1));
}

} // namespace

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
        return act.contains(field) && act[field].is_number() ? fmt::format("{:g}", act[field].get<double>())
                                                             : std::string();
    };
    if (text("act") == "undo" && !text("what").empty()) {
        return printable("undo: " + text("what"), longest);
    }
    std::string words = text("act");
    if (words == "run" || words == "step") {
        return printable(controlInWords(words, text("strategy"), act.contains("budget") ? act["budget"] : Json()),
                         longest);
    }
    if (const std::string of = text("of"); !of.empty()) {
        words += " of " + of;
    }
    for (const auto& [field, name] :
         {std::pair{"node", "node"}, std::pair{"second", "and node"}, std::pair{"new", "as node"}}) {
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
    words += limitsInWords(act); // of a branch
    if (act.contains("budget")) {
        words += limitsInWords(act["budget"]); // of the session
    }
    for (const auto& [field, verb] : // of proposers
         {std::pair{"add", "add"}, std::pair{"remove", "remove"}, std::pair{"models", "model"}}) {
        for (const Json& name : act.contains(field) ? act[field] : Json::array()) {
            words += name.is_string() ? fmt::format(", {} {}", verb, name.get<std::string>()) : std::string();
        }
    }
    for (const Json& name : act.contains("lift") ? act["lift"] : Json::array()) {
        words += name.is_string() ? fmt::format(", no limit of {}", name.get<std::string>()) : std::string();
    }
    if (words.starts_with("boost") && !number("boost").empty()) {
        words += fmt::format(", factor {}", number("boost"));
    }
    return printable(words, longest);
}

} // namespace espalier
