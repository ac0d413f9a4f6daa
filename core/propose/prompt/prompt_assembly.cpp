// SPDX-License-Identifier: Apache-2.0
#include "core/propose/prompt/prompt_assembly.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

struct Entry {
    PromptChannel channel;
    PromptPart part;
    std::size_t step = 0; ///< of `shorter`
};

std::int64_t tokensOf(const std::vector<Entry>& entries, std::int64_t frame)
{
    std::int64_t sum = frame;
    for (const Entry& entry : entries) {
        sum += entry.part.sent ? entry.part.tokens : 0;
    }
    return sum;
}

/// One step of the policy; false when nothing is left to take.
bool trim(std::vector<Entry>& entries)
{
    Entry* lowest = nullptr;
    for (Entry& entry : entries) {
        const bool open = entry.part.sent && !entry.channel.required;
        if (open && (!lowest || entry.channel.priority < lowest->channel.priority)) {
            lowest = &entry;
        }
    }
    if (!lowest) {
        return false;
    }
    const std::int64_t whole = estimateTokens(lowest->channel.text);
    if (lowest->step < lowest->channel.shorter.size()) {
        const std::string& text = lowest->channel.shorter[lowest->step++];
        lowest->part.tokens = estimateTokens(text);
        lowest->part.note =
            fmt::format("shortened from about {} to {} tokens to fit the model's context", whole, lowest->part.tokens);
    } else {
        lowest->part.sent = false;
        lowest->part.files.clear();
        lowest->part.note = fmt::format("left out: about {} tokens that do not fit the model's context", whole);
    }
    return true;
}

const std::string& textOf(const Entry& entry)
{
    return entry.step == 0 ? entry.channel.text : entry.channel.shorter[entry.step - 1];
}

} // namespace

bool ChannelRule::allows(std::string_view channel) const
{
    return allowed.empty() || std::find(allowed.begin(), allowed.end(), channel) != allowed.end();
}

Result<AssembledPrompt> assemble(const PromptTemplate& prompt, std::vector<PromptChannel> channels,
                                 const ChannelRule& rule, std::int64_t budget)
{
    const std::vector<std::string> named = prompt.placeholders();
    std::vector<Entry> entries;
    for (PromptChannel& channel : channels) {
        if (channel.text.empty() || std::find(named.begin(), named.end(), channel.name) == named.end()) {
            continue;
        }
        PromptPart part{channel.name, estimateTokens(channel.text), "", channel.files, true};
        // The words of the question itself are ours; only what comes from the session falls under the rule.
        const bool ours = channel.name == "count" || channel.name == "mismatch";
        if (!ours && !rule.allows(channel.name)) {
            if (channel.required) {
                return fail(ErrorCode::InvalidInput,
                            fmt::format("The model's rule does not let the channel \"{}\" be sent, and prompt {} means "
                                        "nothing without it: allow it in the profile's channels.",
                                        channel.name, prompt.name));
            }
            part.sent = false;
            part.files.clear();
            part.note = "not sent: the provider's rule does not name this channel";
        }
        entries.push_back({std::move(channel), std::move(part)});
    }
    const std::int64_t frame = estimateTokens(filled(prompt.system, {})) + estimateTokens(filled(prompt.user, {}));
    while (tokensOf(entries, frame) > budget) {
        if (!trim(entries)) {
            return fail(
                ErrorCode::InvalidInput,
                fmt::format("Prompt {} needs about {} tokens without anything optional, and the model takes {}: "
                            "shorten the kernel or choose a model with a larger context.",
                            prompt.name, tokensOf(entries, frame), budget));
        }
    }
    std::map<std::string, std::string> texts;
    AssembledPrompt result;
    for (const Entry& entry : entries) {
        if (entry.part.sent) {
            texts[entry.channel.name] = textOf(entry);
        }
        result.parts.push_back(entry.part);
    }
    result.system = filled(prompt.system, texts);
    result.user = filled(prompt.user, texts);
    result.tokens = estimateTokens(result.system) + estimateTokens(result.user);
    return result;
}

} // namespace espalier
