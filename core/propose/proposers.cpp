// SPDX-License-Identifier: Apache-2.0
#include "core/propose/proposers.h"

#include "core/llm/make_client.h"
#include "core/llm/prices.h"
#include "core/propose/llm/absent_client.h"
#include "core/propose/manual_proposer.h"
#include "core/propose/playbook_proposer.h"
#include "core/propose/tuner_proposer.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr const char* choices = "playbook, tuner, llm, command, manual, replay";

/// What the models of one proposer share: one loop for all requests, one table of prices.
struct Shared {
    llm::ChatServices services; ///< without a loop until a model wants one
    std::shared_ptr<const llm::PriceTable> prices;
};

/// Recorded answers and a person's cost nothing; a program's cost is not known.
std::optional<double> priceOf(const llm::PriceTable& prices, const llm::ModelProfile& profile,
                              const TokenCounts& tokens)
{
    if (profile.provider == "replay" || profile.provider == "manual") {
        return 0;
    }
    return prices.costOf({tokens.input, tokens.output, tokens.cachedInput, tokens.reasoning}, profile.model);
}

/// All but the client.
LlmModel describe(llm::ModelProfile profile, std::shared_ptr<const llm::PriceTable> prices)
{
    LlmModel model;
    if (profile.name.empty()) {
        profile.name = profile.model.empty() ? profile.provider : profile.model;
    }
    if (profile.contextTokens > 0) {
        model.contextTokens = profile.contextTokens;
    }
    model.price = [prices = std::move(prices), profile](const TokenCounts& tokens) {
        return priceOf(*prices, profile, tokens);
    };
    model.profile = std::move(profile);
    return model;
}

Result<LlmModel> makeModel(const llm::ModelProfile& profile, bool absent, Shared& shared)
{
    LlmModel model = describe(profile, shared.prices);
    if (!shared.services.loop && llm::needsNetwork(profile)) {
        if (auto services = llm::makeServices()) {
            shared.services = std::move(*services);
        } // else makeClient says why
    }
    auto client = llm::makeClient(model.profile, shared.services);
    if (client) {
        model.client = std::move(*client);
    } else if (absent) {
        model.client = std::make_unique<AbsentClient>(model.profile, client.error().message);
    } else {
        return std::unexpected(client.error());
    }
    return model;
}

Result<std::unique_ptr<Proposer>> makeLlm(const std::string& name, const ProposerChoice& choice)
{
    ESPALIER_TRY(llm::PriceTable prices, llm::PriceTable::load());
    Shared shared{{}, std::make_shared<const llm::PriceTable>(std::move(prices))};
    std::vector<LlmModel> models;
    for (const llm::ModelProfile& profile : choice.models) {
        if (name == "llm" || profile.provider == name) {
            ESPALIER_TRY(LlmModel model, makeModel(profile, choice.absentModels, shared));
            const bool twice = std::any_of(models.begin(), models.end(), [&model](const LlmModel& other) {
                return other.profile.name == model.profile.name;
            });
            if (twice) {
                return fail(ErrorCode::InvalidInput,
                            fmt::format("Two models are named \"{}\": give their profiles names of "
                                        "their own.",
                                        model.profile.name));
            }
            models.push_back(std::move(model));
        }
    }
    if (models.empty()) {
        return fail(
            ErrorCode::InvalidInput,
            name == "llm"
                ? std::string("Proposer \"llm\" needs a model: name one with --provider and --model, or a saved "
                              "profile with --model-profile.")
                : fmt::format("Proposer \"{0}\" needs a model of the provider {0}: {1}.", name,
                              name == "command" ? "name the program with --command"
                                                : "name the folder of the exchanges with --folder"));
    }
    std::vector<PromptTemplate> prompts;
    for (const std::string& prompt : promptNames()) {
        ESPALIER_TRY(PromptTemplate loaded, loadPrompt(prompt));
        prompts.push_back(std::move(loaded));
    }
    return std::make_unique<LlmProposer>(name, std::move(models), std::move(prompts), choice.llm);
}

bool hasModelOf(const ProposerChoice& choice, const std::string& provider)
{
    return std::any_of(choice.models.begin(), choice.models.end(),
                       [&provider](const llm::ModelProfile& profile) { return profile.provider == provider; });
}

Result<std::unique_ptr<Proposer>> makeProposer(const std::string& name, const ProposerChoice& choice)
{
    if (name == "playbook") {
        return std::make_unique<PlaybookProposer>();
    }
    if (name == "tuner") {
        return std::make_unique<TunerProposer>();
    }
    if (name == "manual" && !hasModelOf(choice, "manual")) {
        return std::make_unique<ManualProposer>();
    }
    if (name == "llm" || name == "command" || name == "replay" || name == "manual") {
        return makeLlm(name, choice);
    }
    return fail(ErrorCode::InvalidInput, fmt::format("There is no proposer \"{}\": choose from {}.", name, choices));
}

} // namespace

Result<LlmModel> describeModel(llm::ModelProfile profile)
{
    ESPALIER_TRY(llm::PriceTable prices, llm::PriceTable::load());
    return describe(std::move(profile), std::make_shared<const llm::PriceTable>(std::move(prices)));
}

Result<std::vector<std::unique_ptr<Proposer>>> makeProposers(const ProposerChoice& choice)
{
    std::vector<std::unique_ptr<Proposer>> proposers;
    const std::vector<std::string>& names = choice.names;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
            names.begin() + static_cast<std::ptrdiff_t>(i)) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("Proposer \"{}\" is named twice: name it once.", names[i]));
        }
        ESPALIER_TRY(auto made, makeProposer(names[i], choice));
        proposers.push_back(std::move(made));
    }
    return proposers;
}

Result<std::vector<std::unique_ptr<Proposer>>> makeProposers(const std::vector<std::string>& names)
{
    return makeProposers(ProposerChoice{.names = names, .models = {}, .llm = {}});
}

} // namespace espalier
