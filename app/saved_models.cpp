// SPDX-License-Identifier: GPL-3.0-only
#include "app/saved_models.h"

#include "core/llm/endpoint_check.h"
#include "core/llm/keys.h"
#include "core/llm/profiles.h"

namespace espalier {

SavedModels::SavedModels(std::filesystem::path file) : m_file(file.empty() ? llm::profilesFile() : std::move(file)) {}

Result<std::vector<llm::ModelProfile>> SavedModels::load() const
{
    return llm::loadProfiles(m_file);
}

Result<void> SavedModels::save(const std::vector<llm::ModelProfile>& profiles)
{
    return llm::saveProfiles(profiles, m_file);
}

ModelCheck SavedModels::check(const llm::ModelProfile& profile) const
{
    llm::EndpointReport report = llm::checkEndpoint(profile);
    return {report.good,
            std::move(report.urlsTried),
            std::move(report.error),
            std::move(report.keySource),
            std::move(report.models),
            report.offered};
}

std::vector<std::string> SavedModels::keyVariables(const llm::ModelProfile& profile) const
{
    const llm::Dialect* dialect = llm::dialectOf(profile.provider);
    return dialect ? llm::keyVariables(profile, *dialect) : std::vector<std::string>();
}

} // namespace espalier
