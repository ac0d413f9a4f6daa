// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/engine/command.h"
#include "core/engine/engine.h"
#include "core/model/session.h"

#include <string>
#include <vector>

namespace espalier {

/// Who proposes in a session, and the models that are asked. A value, as a session keeps it (SessionInfo).
struct Participants {
    std::vector<std::string> names;  ///< of proposers, in the order in which they are asked
    std::vector<std::string> models; ///< profile_record.h
    std::string llm;                 ///< how much they are asked for
    bool operator==(const Participants&) const = default;
};

/// Of a new session where nobody is named: the playbook, the tuner, and the models where there are any.
std::vector<std::string> usualProposers(bool models);
/// Whether a proposer of this name asks the models of a session.
bool asksModels(const std::string& name);
/// Whether each of the models has a proposer that asks it: "llm" asks all of a session's models, one that bears a
/// provider's name those of that provider.
bool allAreAsked(const std::vector<std::string>& names, const std::vector<llm::ModelProfile>& models);

Participants participantsOf(const SessionInfo& info);
SessionInfo withParticipants(SessionInfo info, const Participants& participants);

/// Who takes part once a session is opened with these options, which may name others than the session does: a model
/// that is named and that none of them asks brings "llm" with it.
std::vector<std::string> namesFor(const SessionInfo& info, const EngineOptions& options);

/// After the command. A model takes the place of one with its name; a model that nobody asks brings "llm" with
/// it. Errors: InvalidInput: who is added is there, who is removed is not, nobody would be left, nothing is said.
Result<Participants> changed(Participants now, const command::ChangeProposers& change);

/// The act by which the second take the place of the first, for the journal.
Json actOf(const Participants& before, const Participants& after);

Json toJson(const Participants& participants);
Result<Participants> participantsFrom(const Json& json);

} // namespace espalier
