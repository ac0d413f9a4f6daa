// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/llm/llm_proposer.h"
#include "core/propose/proposer.h"

namespace espalier {

/// Who takes part in a run.
struct ProposerChoice {
    std::vector<std::string> names;
    std::vector<llm::ModelProfile> models; ///< of `llm`, `command`, `replay`, and of `manual` where one has a folder
    LlmSettings llm;
    /// A model that cannot be reached from here (no key, no program) is no error: it fails when it is asked. For acts
    /// on a session that asks nothing.
    bool absentModels = false;
};

/// The proposers by name, in the order given. `llm` asks all models; `command`, `replay` and `manual` those of the
/// provider of their name. Errors: InvalidInput for a name that does not exist or stands twice, or a model proposer
/// without a model; a prompt that cannot be read; llm::makeClient's.
Result<std::vector<std::unique_ptr<Proposer>>> makeProposers(const ProposerChoice& choice);
Result<std::vector<std::unique_ptr<Proposer>>> makeProposers(const std::vector<std::string>& names);

/// What is known of a model without reaching for it: name, context, price; no client. Errors: the price table's.
Result<LlmModel> describeModel(llm::ModelProfile profile);

} // namespace espalier
