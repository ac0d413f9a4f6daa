// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/exchange.h"
#include "core/propose/llm/idea_filter.h"

#include <string>
#include <vector>

namespace espalier {

/// What an answer is worth. Pure functions of the stored exchange, so that an answer of an earlier run is read alike.
struct ReadKernel {
    std::string source;
    std::string mismatch; ///< why there is no source: what the model is told when it is asked again
    bool cutOff = false;  ///< the answer ended early: more room may help
    std::vector<std::string> notes;
};

/// The one source of an answer. None when the answer was cut off, holds no source, holds the parent's (or the failed)
/// kernel unchanged, lacks the entry, or changes locked lines.
ReadKernel readKernel(const Exchange& answered, const ImplementContext& context);

/// The ideas of an answer, without near-duplicates.
FilteredIdeas readIdeas(const Exchange& answered, const IdeaContext& context, int most, int implementations);

/// The answer is a list of ideas with nothing in it: the model has none.
bool saysNoIdeas(const Exchange& answered);

} // namespace espalier
