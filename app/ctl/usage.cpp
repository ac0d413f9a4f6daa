// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/usage.h"

#include "app/ctl/output.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <vector>

namespace espalier::ctl {
namespace {

const CLI::App& deepest(const CLI::App& app)
{
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
    }
    return *at;
}

std::vector<std::string> choices(const CLI::App& at)
{
    std::vector<std::string> names;
    for (const CLI::App* sub : at.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(sub->get_name());
    }
    return names;
}

/// Where a verb or an act is missing; CLI11 does not say which word stands in its place.
std::optional<std::string> wrongVerb(const CLI::App& app)
{
    const CLI::App& at = deepest(app);
    if (at.get_require_subcommand_min() == 0) {
        return std::nullopt;
    }
    const char* noun = &at == &app ? "verb" : "act";
    const std::vector<std::string> words = at.remaining();
    const auto word =
        std::find_if(words.begin(), words.end(), [](const std::string& one) { return !one.starts_with("-"); });
    const std::string what = word == words.end() ? fmt::format("The {} is missing", noun)
                                                 : fmt::format("There is no {} \"{}\"", noun, *word);
    return fmt::format("{}; choose one of {}.", what, fmt::join(choices(at), ", "));
}

} // namespace

int answerUsage(const CLI::App& app, const CLI::ParseError& error)
{
    const auto sentence = error.get_name() == "RequiredError" ? wrongVerb(app) : std::nullopt;
    if (sentence) {
        note(fmt::format("espalierctl: {}", *sentence));
        return exitUsage;
    }
    return app.exit(error) == 0 ? exitOk : exitUsage;
}

} // namespace espalier::ctl
