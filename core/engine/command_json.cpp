// SPDX-License-Identifier: Apache-2.0
#include "core/engine/command_json.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier::command {
namespace {

constexpr std::array limitNames = {"evaluations", "seconds", "usd", "tokens", "target", "roof", "plateau"};
constexpr std::array allAgain = {Again::Winner, Again::Verify, Again::Time, Again::Profile};

// --- writing -----------------------------------------------------------------------------------------------------

template <typename T>
void put(Json& json, const char* name, const std::optional<T>& value)
{
    if (value) {
        json[name] = *value;
    }
}

Json branchJson(const BranchBudget& budget)
{
    Json json = Json::object();
    put(json, "evaluations", budget.evaluations);
    put(json, "tokens", budget.tokens);
    put(json, "usd", budget.usd);
    put(json, "seconds", budget.seconds);
    return json;
}

struct Writer {
    Json operator()(const Run& c) const
    {
        Json json = {{"command", "run"}};
        if (c.budget) {
            json["budget"] = budgetJson(*c.budget);
        }
        return json;
    }
    Json operator()(const Pause&) const { return {{"command", "pause"}}; }
    Json operator()(const Step&) const { return {{"command", "step"}}; }
    Json operator()(const Stop&) const { return {{"command", "stop"}}; }
    Json operator()(const SetPinned& c) const
    {
        return {{"command", "pin"}, {"node", c.node.value}, {"pinned", c.pinned}};
    }
    Json operator()(const SetPruned& c) const
    {
        return {{"command", "prune"}, {"node", c.node.value}, {"pruned", c.pruned}};
    }
    Json operator()(const SetBoost& c) const
    {
        return {{"command", "boost"}, {"node", c.node.value}, {"boost", c.boost}};
    }
    Json operator()(const EditIdea& c) const
    {
        return {{"command", "edit"}, {"node", c.node.value}, {"title", c.title}, {"text", c.text}};
    }
    Json operator()(const AddIdea& c) const
    {
        return {{"command", "add-idea"}, {"parent", c.parent.value}, {"title", c.title}, {"text", c.text}};
    }
    Json operator()(const Inject& c) const
    {
        Json json = {{"command", "inject"}, {"title", c.title}, {"source", c.source}};
        if (c.parent) {
            json["parent"] = c.parent->value;
        }
        return json;
    }
    Json operator()(const Overturn& c) const
    {
        return {{"command", "overturn"}, {"node", c.node.value}, {"passed", c.passed}, {"reason", c.reason}};
    }
    Json operator()(const Ask& c) const
    {
        return {{"command", "ask"}, {"node", c.node.value}, {"prompt", c.prompt}, {"ideas", c.ideas}};
    }
    Json operator()(const JudgeAgain& c) const
    {
        return {{"command", "judge-again"}, {"node", c.node.value}, {"what", std::string(nameOf(c.what))}};
    }
    Json operator()(const AddHint& c) const { return {{"command", "hint"}, {"text", c.text}}; }
    Json operator()(const RemoveHint& c) const { return {{"command", "unhint"}, {"number", c.number}}; }
    Json operator()(const Attach& c) const { return {{"command", "attach"}, {"name", c.name}, {"text", c.text}}; }
    Json operator()(const Ban& c) const { return {{"command", "ban"}, {"text", c.text}, {"predicate", c.predicate}}; }
    Json operator()(const LiftBan& c) const { return {{"command", "lift-ban"}, {"number", c.number}}; }
    Json operator()(const SetBranchBudget& c) const
    {
        return {{"command", "branch-budget"}, {"node", c.node.value}, {"budget", branchJson(c.budget)}};
    }
    Json operator()(const ChangeBranchBudget& c) const
    {
        return {
            {"command", "change-branch-budget"}, {"node", c.node.value}, {"set", branchJson(c.set)}, {"lift", c.lift}};
    }
    Json operator()(const SetBudget& c) const { return {{"command", "budget"}, {"budget", budgetJson(c.budget)}}; }
    Json operator()(const ChangeBudget& c) const
    {
        return {{"command", "change-budget"}, {"set", budgetJson(c.set)}, {"lift", c.lift}};
    }
    Json operator()(const SetStrategy& c) const { return {{"command", "strategy"}, {"words", c.words}}; }
    Json operator()(const ChangeProposers& c) const
    {
        return {{"command", "proposers"}, {"add", c.add}, {"remove", c.remove}, {"models", c.models}, {"llm", c.llm}};
    }
    Json operator()(const CrossOver& c) const
    {
        return {{"command", "cross"}, {"first", c.first.value}, {"second", c.second.value}};
    }
    Json operator()(const Kill& c) const { return {{"command", "kill"}, {"node", c.node.value}}; }
    Json operator()(const Undo&) const { return {{"command", "undo"}}; }
    Json operator()(const FetchExchanges& c) const { return {{"command", "exchanges"}, {"node", c.node.value}}; }
    Json operator()(const FetchDetail& c) const { return {{"command", "detail"}, {"node", c.node.value}}; }
    Json operator()(const FetchListings& c) const { return {{"command", "listings"}, {"node", c.node.value}}; }
    Json operator()(const Export& c) const
    {
        return {{"command", "export"}, {"node", c.node.value}, {"form", c.form}, {"folder", c.folder}};
    }
    Json operator()(const Repro& c) const
    {
        return {{"command", "repro"}, {"node", c.node.value}, {"folder", c.folder}};
    }
};

// --- reading -----------------------------------------------------------------------------------------------------

/// The fields of one command. The first complaint stays; what is read after it is a default and is never used.
class Fields
{
public:
    explicit Fields(const JsonReader& json) : m_json(json) {}

    NodeId node(const char* name = "node")
    {
        const std::int64_t id = read<std::int64_t>(name, [](const JsonReader& at) { return at.integer(); });
        if (!m_error && id < 1) {
            m_error = m_json.at(name)->complain("a node's number, from 1").error();
        }
        return NodeId{id};
    }
    int number()
    {
        const std::int64_t number = read<std::int64_t>("number", [](const JsonReader& at) { return at.integer(); });
        if (!m_error && (number < 1 || number > 1'000'000)) {
            m_error = m_json.at("number")->complain("a number from 1").error();
        }
        return static_cast<int>(number);
    }
    std::string text(const char* name)
    {
        return read<std::string>(name, [](const JsonReader& at) { return at.string(); });
    }
    double real(const char* name)
    {
        return read<double>(name, [](const JsonReader& at) { return at.number(); });
    }
    bool flag(const char* name)
    {
        return read<bool>(name, [](const JsonReader& at) { return at.boolean(); });
    }
    bool has(const char* name) const { return m_json.has(name); }
    template <typename T, typename Read>
    T read(const char* name, Read readValue)
    {
        m_known.emplace_back(name);
        const auto at = m_json.at(name);
        auto value = at ? readValue(*at) : Result<T>(std::unexpected(at.error()));
        if (!value) {
            m_error = m_error ? m_error : value.error();
            return {};
        }
        return std::move(*value);
    }
    /// Everything was there, and nothing else.
    Result<void> done()
    {
        if (m_error) {
            return std::unexpected(*m_error);
        }
        m_known.emplace_back("command");
        return m_json.onlyFields(m_known);
    }

private:
    const JsonReader& m_json;
    std::vector<std::string> m_known;
    std::optional<Error> m_error;
};

template <typename T>
Result<void> optional(const JsonReader& at, const char* name, std::optional<T>& into)
{
    if (!at.has(name)) {
        return {};
    }
    ESPALIER_TRY(const JsonReader field, at.at(name));
    if constexpr (std::is_same_v<T, std::int64_t>) {
        ESPALIER_TRY(into, field.integer());
    } else {
        ESPALIER_TRY(into, field.number());
    }
    return {};
}

Result<BranchBudget> branchFrom(const JsonReader& at)
{
    BranchBudget budget;
    ESPALIER_CHECK(at.onlyFields({"evaluations", "tokens", "usd", "seconds"}));
    ESPALIER_CHECK(optional(at, "evaluations", budget.evaluations));
    ESPALIER_CHECK(optional(at, "tokens", budget.tokens));
    ESPALIER_CHECK(optional(at, "usd", budget.usd));
    ESPALIER_CHECK(optional(at, "seconds", budget.seconds));
    return budget;
}

Result<std::vector<std::string>> liftFrom(const JsonReader& at)
{
    std::vector<std::string> names;
    ESPALIER_TRY(const auto items, at.items());
    for (const JsonReader& item : items) {
        ESPALIER_TRY(std::string name, item.oneOf({limitNames.begin(), limitNames.end()}));
        names.push_back(std::move(name));
    }
    return names;
}

Result<std::vector<std::string>> textsFrom(const JsonReader& at)
{
    std::vector<std::string> texts;
    ESPALIER_TRY(const auto items, at.items());
    for (const JsonReader& item : items) {
        ESPALIER_TRY(std::string text, item.string());
        texts.push_back(std::move(text));
    }
    return texts;
}

Result<Again> againFrom(const JsonReader& at)
{
    std::vector<std::string> names;
    for (const Again what : allAgain) {
        names.emplace_back(nameOf(what));
    }
    ESPALIER_TRY(const std::string word, at.oneOf(names));
    for (const Again what : allAgain) {
        if (word == nameOf(what)) {
            return what;
        }
    }
    return at.complain("what to judge again");
}

using Reader = std::function<Command(Fields&)>;

// Braces keep the order in which fields are read, and with it which complaint comes first.
const std::map<std::string, Reader, std::less<>>& readers()
{
    static const std::map<std::string, Reader, std::less<>> table = {
        {"run", [](Fields& f) { return f.has("budget") ? Run{f.read<Budget>("budget", budgetFrom)} : Run{}; }},
        {"pause", [](Fields&) { return Pause{}; }},
        {"step", [](Fields&) { return Step{}; }},
        {"stop", [](Fields&) { return Stop{}; }},
        {"pin", [](Fields& f) { return SetPinned{f.node(), f.flag("pinned")}; }},
        {"prune", [](Fields& f) { return SetPruned{f.node(), f.flag("pruned")}; }},
        {"boost", [](Fields& f) { return SetBoost{f.node(), f.real("boost")}; }},
        {"edit", [](Fields& f) { return EditIdea{f.node(), f.text("title"), f.text("text")}; }},
        {"add-idea", [](Fields& f) { return AddIdea{f.node("parent"), f.text("title"), f.text("text")}; }},
        {"inject",
         [](Fields& f) {
             return Inject{f.has("parent") ? std::optional(f.node("parent")) : std::nullopt, f.text("title"),
                           f.text("source")};
         }},
        {"overturn", [](Fields& f) { return Overturn{f.node(), f.flag("passed"), f.text("reason")}; }},
        {"ask", [](Fields& f) { return Ask{f.node(), f.text("prompt"), f.flag("ideas")}; }},
        {"judge-again", [](Fields& f) { return JudgeAgain{f.node(), f.read<Again>("what", againFrom)}; }},
        {"hint", [](Fields& f) { return AddHint{f.text("text")}; }},
        {"unhint", [](Fields& f) { return RemoveHint{f.number()}; }},
        {"attach", [](Fields& f) { return Attach{f.text("name"), f.text("text")}; }},
        {"ban", [](Fields& f) { return Ban{f.text("text"), f.text("predicate")}; }},
        {"lift-ban", [](Fields& f) { return LiftBan{f.number()}; }},
        {"branch-budget",
         [](Fields& f) { return SetBranchBudget{f.node(), f.read<BranchBudget>("budget", branchFrom)}; }},
        {"change-branch-budget",
         [](Fields& f) {
             return ChangeBranchBudget{f.node(), f.read<BranchBudget>("set", branchFrom),
                                       f.read<std::vector<std::string>>("lift", liftFrom)};
         }},
        {"budget", [](Fields& f) { return SetBudget{f.read<Budget>("budget", budgetFrom)}; }},
        {"change-budget",
         [](Fields& f) {
             return ChangeBudget{f.read<Budget>("set", budgetFrom), f.read<std::vector<std::string>>("lift", liftFrom)};
         }},
        {"strategy", [](Fields& f) { return SetStrategy{f.text("words")}; }},
        {"proposers",
         [](Fields& f) {
             using Texts = std::vector<std::string>;
             return ChangeProposers{f.read<Texts>("add", textsFrom), f.read<Texts>("remove", textsFrom),
                                    f.read<Texts>("models", textsFrom), f.text("llm")};
         }},
        {"cross", [](Fields& f) { return CrossOver{f.node("first"), f.node("second")}; }},
        {"kill", [](Fields& f) { return Kill{f.node()}; }},
        {"undo", [](Fields&) { return Undo{}; }},
        {"exchanges", [](Fields& f) { return FetchExchanges{f.node()}; }},
        {"detail", [](Fields& f) { return FetchDetail{f.node()}; }},
        {"listings", [](Fields& f) { return FetchListings{f.node()}; }},
        {"export", [](Fields& f) { return Export{f.node(), f.text("form"), f.text("folder")}; }},
        {"repro", [](Fields& f) { return Repro{f.node(), f.text("folder")}; }},
    };
    return table;
}

} // namespace

Json budgetJson(const Budget& budget)
{
    Json json = Json::object();
    put(json, "evaluations", budget.evaluations);
    put(json, "seconds", budget.seconds);
    put(json, "usd", budget.usd);
    put(json, "tokens", budget.tokens);
    put(json, "target", budget.target);
    put(json, "roof", budget.roofPercent);
    put(json, "plateau", budget.plateau);
    return json;
}

Result<Budget> budgetFrom(const JsonReader& at)
{
    Budget budget;
    ESPALIER_CHECK(at.onlyFields({limitNames.begin(), limitNames.end()}));
    ESPALIER_CHECK(optional(at, "evaluations", budget.evaluations));
    ESPALIER_CHECK(optional(at, "seconds", budget.seconds));
    ESPALIER_CHECK(optional(at, "usd", budget.usd));
    ESPALIER_CHECK(optional(at, "tokens", budget.tokens));
    ESPALIER_CHECK(optional(at, "target", budget.target));
    ESPALIER_CHECK(optional(at, "roof", budget.roofPercent));
    ESPALIER_CHECK(optional(at, "plateau", budget.plateau));
    return budget;
}

Result<Budget> changedBudget(const Budget& now, const ChangeBudget& change)
{
    Json json = budgetJson(now);
    for (const std::string& name : change.lift) {
        if (std::find(limitNames.begin(), limitNames.end(), name) == limitNames.end()) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("A session has no limit \"{}\": it has {}.", name, fmt::join(limitNames, ", ")));
        }
        json.erase(name);
    }
    json.update(budgetJson(change.set));
    return budgetFrom(JsonReader(json, "budget"));
}

bool steers(const Command& command)
{
    return std::visit(
        []<typename T>(const T&) {
            return !(std::is_same_v<T, Stop> || std::is_same_v<T, FetchExchanges> || std::is_same_v<T, FetchDetail> ||
                     std::is_same_v<T, FetchListings> || std::is_same_v<T, Export> || std::is_same_v<T, Repro>);
        },
        command);
}

Json toJson(const Command& command)
{
    return std::visit(Writer(), command);
}

Result<Command> commandFrom(const Json& json)
{
    const JsonReader reader(json, "command");
    ESPALIER_TRY(const JsonReader at, reader.at("command"));
    ESPALIER_TRY(const std::string name, at.string());
    const auto read = readers().find(name);
    if (read == readers().end()) {
        return at.complain("a command such as \"prune\"");
    }
    Fields fields(reader);
    Command command = read->second(fields);
    ESPALIER_CHECK(fields.done());
    return command;
}

Result<Command> parseCommand(std::string_view text)
{
    ESPALIER_TRY(const Json json, parseJson(text, "command"));
    return commandFrom(json);
}

} // namespace espalier::command
