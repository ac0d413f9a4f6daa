// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/engine.h"
#include "core/propose/llm/cost_estimate.h"

namespace espalier {

/// What a run with these options would ask of models; nothing is opened for writing and nothing is sent. nullopt: no
/// model takes part. Errors: the task's, the session's, the estimate's.
Result<std::optional<CostEstimate>> estimateRun(const EngineOptions& options);

} // namespace espalier
