// SPDX-License-Identifier: Apache-2.0
#include "core/propose/prompt/channels.h"

#include "core/base/text.h"
#include "core/model/call_recipe.h"
#include "core/model/node_text.h"
#include "core/propose/prompt/task_words.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

// What is left out last has the highest number.
constexpr int attachmentsPriority = 10, exemplarsPriority = 20, lessonsPriority = 30, triedPriority = 40,
              ideasPriority = 45, metricsPriority = 50, devicePriority = 60, evidencePriority = 70, errorsPriority = 80,
              hintsPriority = 90;

constexpr std::size_t longestReason = 300;

std::string fenced(std::string_view source)
{
    return fmt::format("```cuda\n{}{}```\n", source, source.ends_with('\n') ? "" : "\n");
}

std::string oneLine(std::string_view text, std::size_t limit = longestReason)
{
    std::string line = printable(text, limit);
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

std::string timesTheRoot(double score, Provenance provenance)
{
    return fmt::format("{}{:.3g} times as fast as the root", signOf(provenance), score);
}

std::string timesOf(const Evaluation& evaluation)
{
    std::string text;
    if (!evaluation.timing) {
        return text;
    }
    for (const CaseTiming& timing : evaluation.timing->cases) {
        text += fmt::format("- case {}: {} ({}){}{}\n", timing.caseId, timeText(timing.timeUs.value, timing.provenance),
                            timing.provenance == Provenance::Model ? "modelled" : "measured",
                            timing.speedupRoot ? ", " + timesTheRoot(timing.speedupRoot->value, timing.provenance) : "",
                            timing.goalFloorUs > 0 ? fmt::format(", floor by the device's roofs {}",
                                                                 durationText(timing.goalFloorUs * 1e-6))
                                                   : "");
    }
    return text;
}

std::string resourcesOf(const Evaluation& evaluation)
{
    std::string text;
    if (!evaluation.build) {
        return text;
    }
    for (const KernelResources& kernel : evaluation.build->kernels) {
        text +=
            fmt::format("- kernel {}: {} registers, {} B static shared memory, {} B spilled, {} B of local memory\n",
                        oneLine(kernel.kernel, 120), kernel.registers, kernel.sharedBytes, kernel.spillStoreBytes,
                        kernel.stackBytes);
    }
    return text;
}

PromptChannel channel(std::string name, std::string text, int priority)
{
    return {.name = std::move(name), .text = std::move(text), .priority = priority, .shorter = {}, .files = {}};
}

PromptChannel needed(std::string name, std::string text)
{
    return {.name = std::move(name), .text = std::move(text), .required = true, .shorter = {}, .files = {}};
}

PromptChannel parentChannel(std::string_view source, const Evaluation* evaluation)
{
    std::string text = "## Parent kernel\n\nIt passes every check.\n";
    if (evaluation) {
        text += timesOf(*evaluation) + resourcesOf(*evaluation);
    }
    return needed("parent", text + "\n" + fenced(source));
}

PromptChannel refinedChannel(const RefinedTry& refined)
{
    const bool timed = refined.evaluation.timing && !refined.evaluation.timing->cases.empty();
    const Provenance provenance = timed ? refined.evaluation.timing->cases.front().provenance : Provenance::Model;
    return needed(
        "parent",
        fmt::format("## The kernel to refine: node {}, {}\n\nIt implements the idea below and passes every check, {}.\n"
                    "{}{}\n{}",
                    refined.node.value, oneLine(refined.title, 120), timesTheRoot(refined.score, provenance),
                    timesOf(refined.evaluation), resourcesOf(refined.evaluation), fenced(refined.source)));
}

PromptChannel metricsChannel(const std::string& diagnosis)
{
    return channel("metrics", diagnosis.empty() ? "" : "## What the metrics say\n\n" + diagnosis + "\n",
                   metricsPriority);
}

std::string exemplarText(const Exemplar& exemplar, bool withSource)
{
    std::string text =
        fmt::format("### Node {}: {}\n\n{}{}{}\n", exemplar.node.value, exemplar.title, nameOf(exemplar.outcome),
                    exemplar.score ? ", " + timesTheRoot(*exemplar.score, exemplar.provenance) : "",
                    exemplar.reason.empty() ? "" : ": " + oneLine(exemplar.reason));
    if (!exemplar.times.empty()) {
        text += exemplar.times;
    }
    return withSource ? text + "\n" + fenced(exemplar.source) : text;
}

PromptChannel exemplarsChannel(const std::vector<Exemplar>& exemplars)
{
    PromptChannel result = channel("exemplars", "", exemplarsPriority);
    if (exemplars.empty()) {
        return result;
    }
    const std::string head = "## Other kernels of this search, to compare\n\n";
    result.text = head;
    for (const Exemplar& exemplar : exemplars) {
        result.text += exemplarText(exemplar, true);
    }
    // Without the sources from the last to the first.
    for (std::size_t kept = exemplars.size() - 1;; --kept) {
        std::string text = head;
        for (std::size_t i = 0; i < exemplars.size(); ++i) {
            text += exemplarText(exemplars[i], i < kept);
        }
        result.shorter.push_back(std::move(text));
        if (kept == 0) {
            break;
        }
    }
    return result;
}

std::string tryLine(const KnownTry& one)
{
    const std::string score = one.score ? ", " + timesTheRoot(*one.score, one.provenance) : "";
    const std::string step =
        one.score && one.parentScore && *one.parentScore > 0
            ? fmt::format(" ({}{:.3g} times its parent)", signOf(one.provenance), *one.score / *one.parentScore)
            : "";
    const std::string reason = one.outcome == Outcome::Passed || one.reason.empty() ? "" : ": " + oneLine(one.reason);
    return fmt::format("- {}: {}{}{}{}\n", oneLine(one.title, 120), nameOf(one.outcome), score, step, reason);
}

PromptChannel triedChannel(const std::vector<KnownTry>& tried)
{
    PromptChannel result = channel("tried", "", triedPriority);
    if (tried.empty()) {
        return result;
    }
    // The newest tell most: shorter forms keep the end of the list.
    for (std::size_t keep = std::min<std::size_t>(tried.size(), 60);; keep /= 2) {
        std::string text = "## Tried before, and how it ended\n\n";
        if (keep < tried.size()) {
            text += fmt::format("(the last {} of {})\n", keep, tried.size());
        }
        for (std::size_t i = tried.size() - keep; i < tried.size(); ++i) {
            text += tryLine(tried[i]);
        }
        (result.text.empty() ? result.text : result.shorter.emplace_back()) = std::move(text);
        if (keep <= 5) {
            return result;
        }
    }
}

PromptChannel ideasChannel(const IdeaContext& context)
{
    PromptChannel result = channel("ideas", "", ideasPriority);
    if (!context.background) {
        return result;
    }
    std::string elsewhere;
    for (const KnownIdea& idea : context.background->ideas) {
        std::string& list = idea.parent == context.parent ? result.text : elsewhere;
        list += fmt::format("- {}: {}\n", oneLine(idea.title, 120), oneLine(idea.text));
    }
    if (!result.text.empty()) {
        result.text = "## Ideas that stand under this kernel already\n\n" + result.text;
    }
    if (!elsewhere.empty()) {
        if (!result.text.empty()) {
            result.shorter.push_back(result.text);
            result.text += '\n';
        }
        result.text += "## Ideas that wait under other kernels of this search\n\n" + elsewhere;
    }
    return result;
}

PromptChannel listed(std::string name, std::string_view heading, const std::vector<std::string>& items, int priority)
{
    PromptChannel result = channel(std::move(name), "", priority);
    for (const std::string& item : items) {
        result.text += fmt::format("- {}\n", trimmed(item));
    }
    if (!result.text.empty()) {
        result.text = fmt::format("## {}\n\n{}", heading, result.text);
    }
    return result;
}

PromptChannel attachmentsChannel(const std::vector<Attachment>& attachments)
{
    PromptChannel result = channel("attachments", "", attachmentsPriority);
    for (const Attachment& attachment : attachments) {
        const bool code = attachment.name.ends_with(".cu") || attachment.name.ends_with(".cuh") ||
                          attachment.name.ends_with(".h") || attachment.name.ends_with(".cpp");
        result.text += fmt::format("### {}\n\n{}\n", attachment.name, code ? fenced(attachment.text) : attachment.text);
        result.files.push_back(attachment.name);
    }
    if (!result.text.empty()) {
        result.text = "## Attached by the engineer, as material\n\n" + result.text;
    }
    return result;
}

/// What every question has.
std::vector<PromptChannel> common(const Task& task, const Background* background)
{
    std::vector<PromptChannel> channels;
    channels.push_back(needed("task", taskWords(task)));
    channels.push_back(needed("contract", contractWords(task)));
    if (!background) {
        return channels;
    }
    channels.push_back(channel(
        "device", background->deviceSheet.empty() ? "" : "## Device\n\n" + background->deviceSheet, devicePriority));
    channels.push_back(metricsChannel(background->diagnosis));
    channels.push_back(exemplarsChannel(background->exemplars));
    channels.push_back(triedChannel(background->tried));
    channels.push_back(listed("hints", "Standing hints of the engineer", background->hints, hintsPriority));
    channels.push_back(channel(
        "lessons", background->lessons.empty() ? "" : "## Lessons of earlier sessions\n\n" + background->lessons + "\n",
        lessonsPriority));
    channels.push_back(attachmentsChannel(background->attachments));
    return channels;
}

std::string ideaWords(const ImplementContext& context)
{
    return fmt::format("## The idea\n\n**{}**\n\n{}\n", context.title, context.text);
}

void addMismatch(std::vector<PromptChannel>& channels, const std::string& mismatch)
{
    if (!mismatch.empty()) {
        channels.push_back(
            needed("mismatch", fmt::format("## Your answer before this one was of no use\n\n{}\n", mismatch)));
    }
}

PromptChannel evidenceChannel(const Evaluation& evaluation)
{
    std::vector<std::string> lines;
    if (!evaluation.reason.empty()) {
        lines.push_back(fmt::format("{} at the stage {}: {}", nameOf(evaluation.outcome), nameOf(evaluation.stage),
                                    oneLine(evaluation.reason, 600)));
    }
    for (const Evidence& evidence : evaluation.evidence) {
        if (lines.size() < 12 && evidence.check != CallRecipe::check) {
            lines.push_back(fmt::format("[{}] {}", evidence.check, oneLine(evidence.sentence, 600)));
        }
    }
    if (!evaluation.output.empty()) {
        lines.push_back(fmt::format("it printed: {}", oneLine(evaluation.output, 400)));
    }
    return listed("evidence", "What the judge found", lines, evidencePriority);
}

} // namespace

const std::vector<std::string>& channelNames()
{
    static const std::vector<std::string> names = {
        "task",    "contract",    "device", "parent", "metrics", "exemplars", "tried",    "ideas", "hints",
        "lessons", "attachments", "idea",   "failed", "errors",  "evidence",  "mismatch", "count", "second"};
    return names;
}

std::int64_t estimateTokens(std::string_view text)
{
    return static_cast<std::int64_t>((text.size() * 10 + 32) / 33);
}

std::vector<PromptChannel> channelsOf(const IdeaContext& context, int count, const std::string& mismatch)
{
    const Background* background = context.background.get();
    std::vector<PromptChannel> channels = common(*context.task, background);
    channels.push_back(parentChannel(context.parentSource, background ? &background->parentEvaluation : nullptr));
    channels.push_back(ideasChannel(context));
    channels.push_back(needed("count", std::to_string(count)));
    addMismatch(channels, mismatch);
    return channels;
}

std::vector<PromptChannel> channelsOf(const ImplementContext& context, const std::string& mismatch)
{
    const Background* background = context.background.get();
    std::vector<PromptChannel> channels = common(*context.task, background);
    if (context.refined) {
        const RefinedTry& refined = *context.refined;
        std::erase_if(channels, [](const PromptChannel& one) { return one.name == "metrics"; }); // the parent's
        channels.push_back(refinedChannel(refined));
        channels.push_back(metricsChannel(refined.diagnosis));
        channels.push_back(evidenceChannel(refined.evaluation));
    } else {
        channels.push_back(parentChannel(context.parentSource, background ? &background->parentEvaluation : nullptr));
    }
    channels.push_back(needed("idea", ideaWords(context)));
    if (context.failed) {
        channels.push_back(needed("failed", "## The kernel that failed\n\n" + fenced(context.failed->source)));
        const std::string error = firstErrorOf(context.failed->evaluation, context.failed->source);
        channels.push_back(
            channel("errors", error.empty() ? "" : "## The compiler's first error\n\n" + error, errorsPriority));
        channels.push_back(evidenceChannel(context.failed->evaluation));
    }
    if (context.second) {
        channels.push_back(
            needed("second", fmt::format("## The other kernel, node {}\n\nIt passes every check, too.\n\n{}",
                                         context.second->value, fenced(context.secondSource))));
    }
    addMismatch(channels, mismatch);
    return channels;
}

std::vector<PromptChannel> lessonChannels(const Task& task, const Background& background)
{
    return common(task, &background);
}

std::string firstErrorOf(const Evaluation& evaluation, std::string_view source)
{
    if (evaluation.outcome != Outcome::BuildFailed || !evaluation.build) {
        return {};
    }
    const auto& messages = evaluation.build->messages;
    const auto first = std::find_if(messages.begin(), messages.end(), [](const CompileMessage& m) { return m.error; });
    if (first == messages.end()) {
        const std::string log = printable(evaluation.build->log, 1500);
        return log.empty() ? std::string() : fmt::format("```\n{}\n```\n", log);
    }
    std::string text =
        fmt::format("{}:{}:{}: {}\n", first->file, first->line, first->column, oneLine(first->text, 800));
    const std::vector<std::string_view> lines = splitLines(source);
    const bool own = first->file == "candidate.cu" || first->file.empty();
    if (own && first->line >= 1 && first->line <= static_cast<int>(lines.size())) {
        text += "\n```\n";
        const int last = std::min(first->line + 5, static_cast<int>(lines.size()));
        for (int line = std::max(1, first->line - 5); line <= last; ++line) {
            text += fmt::format("{}{:4} | {}\n", line == first->line ? ">" : " ", line,
                                oneLine(lines[static_cast<std::size_t>(line - 1)], 400));
        }
        text += "```\n";
    }
    const auto errors =
        std::count_if(messages.begin(), messages.end(), [](const CompileMessage& m) { return m.error; });
    return errors > 1 ? text + fmt::format("\n{} further errors follow; they may come from the first.\n", errors - 1)
                      : text;
}

} // namespace espalier
