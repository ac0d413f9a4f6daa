// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/model_shelf.h"

#include <filesystem>

namespace espalier {

/// The window's models in the profiles file that the command line reads, too; looked at with the same check as
/// `espalierctl doctor --provider`. `file` empty: the user's. Thread: as ModelShelf.
class SavedModels : public ModelShelf
{
public:
    explicit SavedModels(std::filesystem::path file = {});
    Result<std::vector<llm::ModelProfile>> load() const override;
    Result<void> save(const std::vector<llm::ModelProfile>& profiles) override;
    ModelCheck check(const llm::ModelProfile& profile) const override;
    std::vector<std::string> keyVariables(const llm::ModelProfile& profile) const override;

private:
    std::filesystem::path m_file;
};

} // namespace espalier
