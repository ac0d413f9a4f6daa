// SPDX-License-Identifier: Apache-2.0
#include "core/propose/llm/cost_estimate.h"

#include "core/propose/prompt/prompt_assembly.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr double repairedShare = 0.3;
constexpr double growth = 1.4; ///< of prompts over the run: what was tried, exemplars, larger kernels
constexpr std::int64_t ideaAnswer = 1500, reasoning = 3000;

Result<std::int64_t> promptTokens(const std::string& name, std::vector<PromptChannel> channels, const LlmModel& model,
                                  const LlmSettings& settings)
{
    ESPALIER_TRY(const PromptTemplate prompt, loadPrompt(name));
    const std::int64_t room = std::max<std::int64_t>(2048, model.contextTokens - settings.maxOutputTokens);
    ESPALIER_TRY(const AssembledPrompt assembled,
                 assemble(prompt, std::move(channels), ChannelRule{model.profile.channels}, room));
    return assembled.tokens;
}

} // namespace

Result<CostEstimate> estimateCost(const Task& task, const ProposerChoice& choice, std::int64_t evaluations)
{
    if (choice.models.empty()) {
        return fail(ErrorCode::InvalidInput, "No model takes part: there is nothing to estimate.");
    }
    ESPALIER_TRY(const LlmModel model, describeModel(choice.models.front()));
    IdeaContext ideas;
    ideas.task = std::make_shared<const Task>(task);
    ideas.parentIsTaskRoot = true;
    ideas.parentSource = task.root.text;
    ImplementContext kernel;
    kernel.task = ideas.task;
    kernel.parentSource = task.root.text;
    ESPALIER_TRY(const std::int64_t ideaPrompt,
                 promptTokens("idea", channelsOf(ideas, choice.llm.ideas), model, choice.llm));
    ESPALIER_TRY(const std::int64_t kernelPrompt, promptTokens("implement", channelsOf(kernel, ""), model, choice.llm));
    const std::int64_t source = estimateTokens(task.root.text);

    CostEstimate estimate;
    estimate.model = model.profile.name;
    estimate.evaluations = evaluations;
    estimate.repairs =
        choice.llm.repairs > 0
            ? static_cast<std::int64_t>(static_cast<double>(evaluations) * repairedShare / (1 + repairedShare))
            : 0;
    estimate.kernels = evaluations - estimate.repairs;
    const std::int64_t perQuestion = std::int64_t{choice.llm.ideas} * choice.llm.implementations;
    estimate.ideaQuestions = (estimate.kernels + perQuestion - 1) / perQuestion;
    const std::int64_t kernelAnswer = 3 * source + reasoning;
    const std::int64_t input = estimate.ideaQuestions * ideaPrompt + estimate.kernels * kernelPrompt +
                               estimate.repairs * (kernelPrompt + 3 * source);
    estimate.inputTokens = static_cast<std::int64_t>(static_cast<double>(input) * growth);
    estimate.outputTokens = estimate.ideaQuestions * ideaAnswer + (estimate.kernels + estimate.repairs) * kernelAnswer;
    const std::int64_t questions = estimate.ideaQuestions + estimate.kernels + estimate.repairs;
    estimate.mostTokens = estimate.inputTokens + questions * choice.llm.maxOutputTokens;
    estimate.usd = model.price({estimate.inputTokens, estimate.outputTokens, -1, -1});
    estimate.mostUsd = model.price({estimate.inputTokens, questions * choice.llm.maxOutputTokens, -1, -1});
    return estimate;
}

} // namespace espalier
