// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/engine.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace espalier::ctl {

/// The options of `run` that say which models take part and how much they are asked for.
struct ModelWords {
    std::string provider, baseUrl, model, folder, keyVariable, effort;
    std::vector<std::string> profiles, command, channels;
    std::int64_t context = 0, maxOutput = 0;
    int ideas = 0, implementations = 0, repairs = -1;
};

void addModelOptions(CLI::App& verb, ModelWords& words);

/// Puts them into the engine's options.
/// Errors: InvalidInput for words that do not go together, the profile's.
Result<void> applyModelWords(const ModelWords& words, EngineOptions& options);

} // namespace espalier::ctl
