// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/steer_command.h"

#include "app/ctl/read_session.h"
#include "app/ctl/standing_text.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/engine/model_profiles.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace espalier::ctl {
namespace {

Result<std::string> ownPrompt(const std::string& file)
{
    if (file.empty()) {
        return std::string();
    }
    if (file != "-") {
        return readFile(file, std::size_t{1} << 20);
    }
    std::string text;
    char buffer[65536];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) {
        text.append(buffer, got);
    }
    return text;
}

/// By which a run has enough; not a limit of what is spent.
bool isRule(const std::string& limit)
{
    return limit == "target" || limit == "roof" || limit == "plateau";
}

/// What is not given stays as it is.
Result<command::Command> budgetOf(const SteerVerb& options)
{
    const Budget& budget = options.budget;
    const bool rules = budget.target || budget.roofPercent || budget.plateau;
    if (budget == Budget{} && options.lift.empty() && !options.unlimited) {
        return fail(ErrorCode::InvalidInput,
                    "The budget says nothing: give a limit such as --evals 40 or --target 2, take one "
                    "away with --no-evals or --no-target, or all that is spent with --unlimited.");
    }
    std::vector<std::string> lift = options.lift;
    if (options.unlimited) {
        lift.insert(lift.end(), {"evaluations", "tokens", "usd", "seconds"});
    }
    if (options.node > 0) {
        if (rules || std::any_of(lift.begin(), lift.end(), isRule)) {
            return fail(ErrorCode::InvalidInput,
                        "A branch has the limits --evals, --tokens, --usd and --seconds: the others are "
                        "the session's, leave --node out.");
        }
        return command::ChangeBranchBudget{
            NodeId{options.node}, {budget.evaluations, budget.tokens, budget.usd, budget.seconds}, std::move(lift)};
    }
    return command::ChangeBudget{budget, std::move(lift)};
}

std::optional<Again> againNamed(const std::string& act)
{
    return act == "re-verify" ? std::optional(Again::Verify)
           : act == "re-time" ? std::optional(Again::Time)
           : act == "profile" ? std::optional(Again::Profile)
                              : std::nullopt;
}

/// What concerns the session and its run; nullopt: another act.
std::optional<command::Command> controlOf(const SteerVerb& options)
{
    if (options.act == "ban") {
        return command::Ban{options.text, options.predicate};
    }
    if (options.act == "lift-ban") {
        return command::LiftBan{options.number};
    }
    if (options.act == "strategy") {
        return command::SetStrategy{options.strategy};
    }
    if (options.act == "proposers") {
        return proposersChange(options.join, options.leave, options.models.models, options.models.llm);
    }
    if (options.act == "cross") {
        return command::CrossOver{NodeId{options.node}, NodeId{options.second}};
    }
    if (options.act == "kill") {
        return command::Kill{NodeId{options.node}};
    }
    if (const auto again = againNamed(options.act)) {
        return command::JudgeAgain{NodeId{options.node}, *again};
    }
    if (options.act == "undo") {
        return command::Undo{};
    }
    if (options.act == "pause") {
        return command::Pause{};
    }
    if (options.act == "step") {
        return command::Step{};
    }
    if (options.act == "run") {
        return command::Run{};
    }
    return std::nullopt;
}

} // namespace

Result<command::Command> commandOf(const SteerVerb& options)
{
    const NodeId node{options.node};
    if (options.act == "overturn") {
        return command::Overturn{node, options.as == "passed", options.reason};
    }
    if (options.act == "pin" || options.act == "unpin") {
        return command::SetPinned{node, options.act == "pin"};
    }
    if (options.act == "prune" || options.act == "restore") {
        return command::SetPruned{node, options.act == "prune"};
    }
    if (options.act == "boost") {
        return command::SetBoost{node, options.factor};
    }
    if (options.act == "edit") {
        return command::EditIdea{node, options.title, options.text};
    }
    if (options.act == "add-idea") {
        return command::AddIdea{node, options.title, options.text};
    }
    if (options.act == "inject") {
        ESPALIER_TRY(std::string source, readFile(options.file, std::size_t{1} << 20));
        return command::Inject{options.node > 0 ? std::optional(node) : std::nullopt,
                               options.title.empty() ? std::filesystem::path(options.file).stem().string()
                                                     : options.title,
                               std::move(source)};
    }
    if (options.act == "budget") {
        return budgetOf(options);
    }
    if (options.act == "ask") {
        ESPALIER_TRY(std::string prompt, ownPrompt(options.promptFile));
        return command::Ask{node, std::move(prompt), options.ideas};
    }
    if (const auto control = controlOf(options)) {
        return *control;
    }
    if (options.act == "hint") {
        return command::AddHint{options.text};
    }
    if (options.act == "unhint") {
        return command::RemoveHint{options.number};
    }
    if (options.act == "detach") {
        return command::Attach{options.name, ""};
    }
    ESPALIER_TRY(std::string text, readFile(options.file, std::size_t{1} << 20));
    if (text.empty()) {
        return fail(ErrorCode::InvalidInput, fmt::format("{} is empty: there is nothing to attach.", options.file));
    }
    const std::string name =
        options.name.empty() ? std::filesystem::path(options.file).filename().string() : options.name;
    return command::Attach{name, printable(text, text.size())};
}

namespace {

std::string spentOf(const LimitLine& line)
{
    const std::string number = line.spent.is_number_integer() ? fmt::to_string(line.spent.get<std::int64_t>())
                                                              : fmt::format("{:.4g}", line.spent.get<double>());
    return fmt::format("{} {}", number, line.name == "usd" ? "USD" : line.name);
}

/// The limits as they stand after the act, read from the session: what was not named holds as well.
SteerDone budgetDone(const SteerVerb& options)
{
    Json json = {{"act", "budget"}};
    if (options.node > 0) {
        json["node"] = options.node;
    }
    const auto reader = readSession(options.session);
    const NodeSummary* branch = reader ? reader->book().find(NodeId{options.node}) : nullptr;
    if (!reader || (options.node > 0 && !branch)) {
        return {std::move(json), "The limits hold from now on."};
    }
    const auto limits = branch ? limitsOf(*branch) : limitsOf(*reader);
    json["limits"] = limitsJson(limits);
    const std::string whose = branch ? fmt::format("branch {}", options.node) : "the session";
    std::string sentence = limits.empty() ? fmt::format("No limit of {} holds from now on.", whose)
                                          : fmt::format("Limits of {} from now on: {}.", whose, limitsText(limits));
    const auto over = std::find_if(limits.begin(), limits.end(), [](const LimitLine& line) { return line.over; });
    json["over"] = over != limits.end();
    if (over != limits.end()) {
        sentence += fmt::format(" {} are spent: {}.", spentOf(*over),
                                branch ? "nothing more is expanded in it" : "the search is over");
    }
    return {std::move(json), std::move(sentence)};
}

/// Who takes part after the act, read from the session.
SteerDone proposersDone(const SteerVerb& options)
{
    const auto reader = readSession(options.session);
    const std::vector<std::string> names = reader ? reader->info().proposers : std::vector<std::string>();
    return {{{"act", "proposers"}, {"proposers", names}},
            fmt::format("From now on {} {} part.", fmt::join(names, ", "), names.size() == 1 ? "takes" : "take")};
}

} // namespace

SteerDone doneOf(const SteerVerb& options)
{
    if (options.act == "budget") {
        return budgetDone(options);
    }
    static const std::map<std::string, const char*> plain = {
        {"pin", "It is protected and always a parent."},
        {"unpin", "It is an ordinary node again."},
        {"prune", "It and all below it have left the search; they stay visible."},
        {"restore", "It is in the search again."},
        {"boost", "The strategy weighs it by the factor from now on."},
        {"edit", "The idea has its new words."},
        {"add-idea", "The idea stands in the tree as a draft."},
        {"inject", "The kernel is judged when the session runs."},
        {"cross", "The idea stands in the tree and is implemented next when the session runs."},
        {"kill", "It ends as cancelled and does not come back."},
        {"re-verify", "It is verified again on new inputs: show --node says what came of it."},
        {"re-time", "It is timed again in the full tier: show --node says what came of it."},
        {"profile", "It is profiled: show --node says what came of it."},
        {"lift-ban", "The ban is gone."},
        {"strategy", "It decides from the next expansion on."},
        {"undo", "The last act is taken back."},
        {"pause", "Nothing new starts; what runs ends."},
        {"step", "One evaluation, of what waits or else of one expansion; then it pauses."},
        {"run", "The session goes on."},
    };
    if (options.act == "ban") {
        return {{{"act", "ban"}, {"text", options.text}, {"predicate", options.predicate}},
                options.predicate.empty()
                    ? "It is said in every prompt from now on; nothing is rejected for it, as it has no --predicate."
                    : "It is said in every prompt from now on, and what breaks its predicate is rejected."};
    }
    if (const auto words = plain.find(options.act); words != plain.end()) {
        Json json = {{"act", options.act}};
        if (options.node > 0) {
            json["node"] = options.node;
        }
        if (options.second > 0) {
            json["second"] = options.second;
        }
        return {std::move(json), words->second};
    }
    if (options.act == "proposers") {
        return proposersDone(options);
    }
    if (options.act == "overturn") {
        return {
            {{"act", "overturn"}, {"node", options.node}, {"as", options.as}, {"reason", options.reason}},
            fmt::format("Node {} is {} by hand; the judge's verdict stays in its record.", options.node, options.as)};
    }
    if (options.act == "ask") {
        return {{{"act", "ask"}, {"node", options.node}},
                fmt::format("The model is asked about node {} again when the session runs.", options.node)};
    }
    if (options.act == "hint") {
        return {{{"act", "hint"}, {"text", options.text}}, "The hint stands in every prompt from now on."};
    }
    if (options.act == "unhint") {
        return {{{"act", "unhint"}, {"number", options.number}}, "The hint is gone."};
    }
    if (options.act == "attach") {
        return {{{"act", "attach"}, {"file", options.file}},
                "It goes along with every question to a model from now on, unless the model's profile names its "
                "channels and "
                "attachments is not among them."};
    }
    return {{{"act", "detach"}, {"name", options.name}}, "It is sent no more."};
}

} // namespace espalier::ctl
