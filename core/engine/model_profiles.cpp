// SPDX-License-Identifier: Apache-2.0
#include "core/engine/model_profiles.h"

#include "core/llm/profiles.h"
#include "core/propose/llm/profile_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace espalier {

std::vector<std::string> savedProfileNames()
{
    std::vector<std::string> names;
    if (const auto profiles = llm::loadProfiles()) {
        for (const llm::ModelProfile& profile : *profiles) {
            names.push_back(profile.name);
        }
    }
    return names;
}

Result<llm::ModelProfile> savedProfile(const std::string& name)
{
    ESPALIER_TRY(const std::vector<llm::ModelProfile> profiles, llm::loadProfiles());
    for (const llm::ModelProfile& profile : profiles) {
        if (profile.name == name) {
            return profile;
        }
    }
    const std::vector<std::string> names = savedProfileNames();
    return fail(
        ErrorCode::NotFound,
        names.empty()
            ? fmt::format("There is no model profile \"{}\": none is saved in {}.", name, llm::profilesFile().string())
            : fmt::format("There is no model profile \"{}\": choose from {}.", name, fmt::join(names, ", ")));
}

command::ChangeProposers proposersChange(std::vector<std::string> add, std::vector<std::string> remove,
                                         const std::vector<llm::ModelProfile>& models,
                                         const std::optional<LlmSettings>& settings)
{
    command::ChangeProposers change{std::move(add), std::move(remove), {}, settings ? recordOf(*settings) : ""};
    for (const llm::ModelProfile& model : models) {
        change.models.push_back(recordOf(model));
    }
    return change;
}

} // namespace espalier
