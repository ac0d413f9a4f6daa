// SPDX-License-Identifier: Apache-2.0
#include "core/propose/llm/answer_reading.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/llm/answer_text.h"
#include "core/llm/code_text.h"
#include "core/propose/llm/model_choice.h"
#include "core/propose/source_text.h"
#include "core/propose/tunables.h"

#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::size_t longestKernel = std::size_t{1} << 20;
constexpr std::size_t longestTitle = 200, longestIdea = std::size_t{16} << 10;

std::string cutText(std::string_view text, std::size_t limit)
{
    return text.size() <= limit ? std::string(text) : printable(text, limit);
}

/// Why the answer is no whole one; empty: it is.
std::string cutOffWords(const Exchange& answered)
{
    if (answered.finish == "length") {
        return "The output budget was exhausted before the answer ended (hidden reasoning counts). Think less, or "
               "write "
               "a shorter file.";
    }
    if (answered.finish == "truncated") {
        return "The answer was cut off before its end.";
    }
    if (answered.finish == "too_long") {
        return "The answer was longer than any kernel is, and was not read to its end. Give one fenced block with the "
               "whole file, and few words.";
    }
    return {};
}

} // namespace

ReadKernel readKernel(const Exchange& answered, const ImplementContext& context)
{
    ReadKernel result;
    result.mismatch = cutOffWords(answered);
    if (!result.mismatch.empty()) {
        result.cutOff = answered.finish != "too_long"; // that needs no more room
        return result;
    }
    const std::string& entry = context.task->entry;
    const llm::CodeChoice choice = llm::chooseCode(answered.answer, entry);
    if (!choice.why.empty()) {
        result.notes.push_back("code: " + choice.why);
    }
    const std::string_view source = choice.source();
    if (!choice.lacking.empty()) {
        result.mismatch = choice.lacking;
    } else if (!choice.whole) {
        result.mismatch = "Its code block has no closing fence: the file may not be whole.";
        result.cutOff = true;
    } else if (source.size() > longestKernel) {
        result.mismatch = "Its source is longer than 1 MiB.";
    } else if (llm::maskedCode(source).find(entry) == std::string::npos) { // in a comment it is no more than spoken of
        result.mismatch = fmt::format("Its source does not define the entry {}. Give the whole file, with nothing left "
                                      "out.",
                                      entry);
    } else if (sourceIdentity(source) == sourceIdentity(context.parentSource)) {
        result.mismatch =
            "Its source is the parent kernel unchanged (but for comments and blanks): nothing was implemented.";
    } else if (context.refined && sourceIdentity(source) == sourceIdentity(context.refined->source)) {
        result.mismatch =
            "Its source is the kernel to refine unchanged (but for comments and blanks): nothing was refined.";
    } else if (context.failed && sourceIdentity(source) == sourceIdentity(context.failed->source)) {
        result.mismatch =
            "Its source is the failed kernel unchanged (but for comments and blanks): nothing was mended.";
    } else if (const auto kept = checkLocks(context.parentSource, source); !kept) {
        result.mismatch = kept.error().message;
    } else {
        result.source = source;
    }
    return result;
}

bool saysNoIdeas(const Exchange& answered)
{
    const auto json = parseJson(trimmed(answered.answer), "answer");
    if (!json) {
        return false;
    }
    const Json list = json->is_object() ? json->value("ideas", Json()) : *json;
    return list.is_array() && list.empty();
}

FilteredIdeas readIdeas(const Exchange& answered, const IdeaContext& context, int most, int implementations)
{
    std::vector<ProposedIdea> offered;
    for (const llm::IdeaText& idea : llm::parseIdeas(answered.answer)) {
        const std::string title = cutText(idea.title, longestTitle), text = cutText(idea.text, longestIdea);
        offered.push_back({.key = ideaKey(title, text),
                           .title = title,
                           .text = text,
                           .payload = modelPayload(answered.profile, answered.id),
                           .implementations = implementations});
    }
    return filterIdeas(std::move(offered), context, most);
}

} // namespace espalier
