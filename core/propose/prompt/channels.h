// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/proposer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// One source of context for a prompt. Each can be left out by itself; `text` begins with a heading of its own.
struct PromptChannel {
    std::string name;
    std::string text;                 ///< empty: there is nothing to say
    bool required = false;            ///< never left out: without it the question means nothing
    int priority = 0;                 ///< the lowest is shortened and left out first
    std::vector<std::string> shorter; ///< the same in fewer words, in the order in which they are tried
    std::vector<std::string> files;   ///< attached files whose text is in it
};

/// All channels, the order in which they stand in this list meaning nothing.
const std::vector<std::string>& channelNames();

/// Estimate: 3.3 bytes a token, which holds for CUDA sources to about 15 %; rounded up.
std::int64_t estimateTokens(std::string_view text);

/// The channels of a question, from what the search told the proposer. Pure. `count`: how many ideas are asked for;
/// `mismatch`: why the answer before this one was of no use; empty: there was none.
std::vector<PromptChannel> channelsOf(const IdeaContext& context, int count, const std::string& mismatch = {});
std::vector<PromptChannel> channelsOf(const ImplementContext& context, const std::string& mismatch);
/// For the notebook: task, device, what was tried, the lessons so far.
std::vector<PromptChannel> lessonChannels(const Task& task, const Background& background);

/// The first error of a failed build, with the five lines of the source around it; empty: there is none.
std::string firstErrorOf(const Evaluation& evaluation, std::string_view source);

} // namespace espalier
