// SPDX-License-Identifier: Apache-2.0
#include "core/engine/participants.h"

#include "core/propose/llm/profile_record.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

namespace espalier {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> textsIn(const Json& json, const char* name)
{
    std::vector<std::string> texts;
    for (const Json& one : json.is_object() ? json.value(name, Json::array()) : Json::array()) {
        if (one.is_string()) {
            texts.push_back(one.get<std::string>());
        }
    }
    return texts;
}

/// The name by which a record's model is known.
Result<std::string> modelName(const std::string& record)
{
    ESPALIER_TRY(const llm::ModelProfile profile, profileFrom(record));
    return !profile.name.empty() ? profile.name : !profile.model.empty() ? profile.model : profile.provider;
}

/// A proposer that bears a provider's name asks that one's models alone.
bool asks(const std::string& proposer, const std::string& provider)
{
    return proposer == "llm" || (asksModels(proposer) && proposer == provider);
}

Result<void> joinModel(std::vector<std::string>& models, const std::string& record)
{
    ESPALIER_TRY(const std::string name, modelName(record));
    for (std::string& other : models) {
        if (modelName(other).value_or("") == name) {
            other = record;
            return {};
        }
    }
    models.push_back(record);
    return {};
}

} // namespace

std::vector<std::string> usualProposers(bool models)
{
    return models ? std::vector<std::string>{"playbook", "tuner", "llm"}
                  : std::vector<std::string>{"playbook", "tuner"};
}

bool asksModels(const std::string& name)
{
    return name == "llm" || name == "command" || name == "replay" || name == "manual";
}

bool allAreAsked(const std::vector<std::string>& names, const std::vector<llm::ModelProfile>& models)
{
    return std::all_of(models.begin(), models.end(), [&names](const llm::ModelProfile& model) {
        return std::any_of(names.begin(), names.end(),
                           [&model](const std::string& name) { return asks(name, model.provider); });
    });
}

Participants participantsOf(const SessionInfo& info)
{
    return {info.proposers, info.models, info.llm};
}

SessionInfo withParticipants(SessionInfo info, const Participants& participants)
{
    info.proposers = participants.names;
    info.models = participants.models;
    info.llm = participants.llm;
    return info;
}

std::vector<std::string> namesFor(const SessionInfo& info, const EngineOptions& options)
{
    std::vector<std::string> names = options.proposers.value_or(info.proposers);
    if (!options.proposers && !allAreAsked(names, options.models)) {
        names.emplace_back("llm");
    }
    return names;
}

Result<Participants> changed(Participants now, const command::ChangeProposers& change)
{
    if (change.add.empty() && change.remove.empty() && change.models.empty() && change.llm.empty()) {
        return fail(ErrorCode::InvalidInput, "Nobody is named: say which proposers join, or which leave.");
    }
    for (const std::string& name : change.remove) {
        if (!contains(now.names, name)) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("The proposer {} takes no part: {} {}.", name, fmt::join(now.names, ", "),
                                    now.names.size() == 1 ? "does" : "do"));
        }
        std::erase(now.names, name);
    }
    std::vector<llm::ModelProfile> models;
    for (const std::string& record : change.models) {
        ESPALIER_CHECK(joinModel(now.models, record));
        ESPALIER_TRY(llm::ModelProfile model, profileFrom(record));
        models.push_back(std::move(model));
    }
    for (const std::string& name : change.add) {
        if (!contains(now.names, name)) {
            now.names.push_back(name);
        } else if (change.models.empty() || !asksModels(name)) { // else it gets a model
            return fail(ErrorCode::InvalidInput, fmt::format("The proposer {} takes part already.", name));
        }
    }
    if (!allAreAsked(now.names, models)) {
        now.names.emplace_back("llm");
    }
    if (now.names.empty()) {
        return fail(ErrorCode::InvalidInput,
                    "Nobody would be left to propose: leave one in, or add manual to search by "
                    "ideas and kernels of your own alone.");
    }
    now.llm = change.llm.empty() ? now.llm : change.llm;
    return now;
}

Json actOf(const Participants& before, const Participants& after)
{
    const auto missing = [](const std::vector<std::string>& names, const std::vector<std::string>& others) {
        std::vector<std::string> found;
        std::copy_if(names.begin(), names.end(), std::back_inserter(found),
                     [&others](const std::string& name) { return !contains(others, name); });
        return found;
    };
    Json models = Json::array();
    for (const std::string& record : missing(after.models, before.models)) {
        models.push_back(modelName(record).value_or(""));
    }
    return {{"act", "proposers"},
            {"add", missing(after.names, before.names)},
            {"remove", missing(before.names, after.names)},
            {"models", std::move(models)}};
}

Json toJson(const Participants& participants)
{
    return {{"proposers", participants.names}, {"models", participants.models}, {"llm", participants.llm}};
}

Result<Participants> participantsFrom(const Json& json)
{
    Participants participants{textsIn(json, "proposers"), textsIn(json, "models"), ""};
    if (participants.names.empty()) {
        return fail(ErrorCode::InvalidInput, "The session's record of who took part cannot be read.");
    }
    if (json.contains("llm") && json["llm"].is_string()) {
        participants.llm = json["llm"].get<std::string>();
    }
    return participants;
}

} // namespace espalier
