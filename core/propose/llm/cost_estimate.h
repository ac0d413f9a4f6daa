// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/proposers.h"

namespace espalier {

/// What a run would ask of models, guessed before it begins from the prompts that the task's root gives. Three of ten
/// kernels are taken to need a repair; an answer is taken to be three times the root's size and a few thousand tokens
/// of reasoning. Figures for orientation; the caps are what holds.
struct CostEstimate {
    std::string model;
    std::int64_t evaluations = 0, ideaQuestions = 0, kernels = 0, repairs = 0;
    std::int64_t inputTokens = 0, outputTokens = 0;
    std::int64_t mostTokens = 0; ///< with every answer as long as it may be
    std::optional<double> usd, mostUsd;
};

/// For the first model of the choice. Errors: no model, a prompt that cannot be read or does not fit the model.
Result<CostEstimate> estimateCost(const Task& task, const ProposerChoice& choice, std::int64_t evaluations);

} // namespace espalier
