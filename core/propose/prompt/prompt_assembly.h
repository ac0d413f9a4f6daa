// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/exchange.h"
#include "core/propose/prompt/channels.h"
#include "core/propose/prompt/prompt_template.h"

#include <set>

namespace espalier {

struct AssembledPrompt {
    std::string system, user;
    std::vector<PromptPart> parts; ///< what was sent of each channel that had something to say, and what was not
    std::int64_t tokens = 0;       ///< estimate of both messages
};

/// What may be sent; nothing named: everything.
struct ChannelRule {
    std::vector<std::string> allowed;
    bool allows(std::string_view channel) const;
};

/// Puts a prompt together within `budget` tokens. Channels that the template does not name, or that the rule forbids,
/// are not sent. What does not fit is taken out by this policy: of the optional channels the one with the lowest
/// priority is shortened, step by step, and then left out, before the next one is touched. Required ones stay whole.
/// Pure. Errors: InvalidInput when the required channels alone are over the budget, with both numbers, or when the rule
/// forbids one of them.
Result<AssembledPrompt> assemble(const PromptTemplate& prompt, std::vector<PromptChannel> channels,
                                 const ChannelRule& rule, std::int64_t budget);

} // namespace espalier
