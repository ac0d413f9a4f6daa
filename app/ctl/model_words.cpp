// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/model_words.h"

#include "app/ctl/numbers.h"

#include "core/engine/model_profiles.h"

#include <algorithm>
#include <filesystem>

namespace espalier::ctl {

namespace {

bool proposes(const EngineOptions& options, const char* name)
{
    return options.proposers &&
           std::find(options.proposers->begin(), options.proposers->end(), name) != options.proposers->end();
}

/// The provider that the other words mean where none is named.
std::string providerOf(const ModelWords& words, const EngineOptions& options)
{
    if (!words.provider.empty()) {
        return words.provider;
    }
    if (!words.command.empty()) {
        return "command";
    }
    if (!words.folder.empty()) {
        return proposes(options, "manual") ? "manual" : "replay";
    }
    return words.model.empty() && words.baseUrl.empty() ? "" : "openai";
}

} // namespace

void addModelOptions(CLI::App& verb, ModelWords& words)
{
    constexpr const char* group = "Models";
    verb.add_option(
            "--provider", words.provider,
            "openai (and whatever speaks like it), openai-responses, anthropic, gemini, command, manual, replay")
        ->group(group);
    verb.add_option("--base-url", words.baseUrl, "Of the provider or of a server of your own")->group(group);
    verb.add_option("--model", words.model, "Its name at the provider")->group(group);
    verb.add_option("--model-profile", words.profiles, "Saved profiles, separated by commas: they share the questions")
        ->delimiter(',')
        ->group(group);
    verb.add_option("--key-variable", words.keyVariable, "Environment variable that holds the key")->group(group);
    verb.add_option("--command", words.command,
                    "A program as a model: prompt on stdin, answer on stdout. All that follows is the program's: put "
                    "it last, or quote it (--command=\"my-agent --fast\")")
        ->expected(1, -1)
        ->group(group);
    verb.add_option("--folder", words.folder, "Recorded exchanges (replay), or where prompts and answers go (manual)")
        ->group(group);
    verb.add_option(
            "--channels", words.channels,
            "What may be sent, separated by commas (task, contract, parent, idea, attachments, …); default: everything")
        ->delimiter(',')
        ->group(group);
    takesWhole(verb.add_option("--context", words.context, "Tokens that the model takes, where no table knows it"), 0)
        ->group(group);
    takesWhole(verb.add_option("--ideas", words.ideas, "Ideas per question (default 4)"), 1, 64)->group(group);
    takesWhole(verb.add_option("--implementations", words.implementations, "Kernels per idea (default 1)"), 1, 64)
        ->group(group);
    takesWhole(verb.add_option("--repairs", words.repairs, "Repairs of a kernel that fails (default 2)"), 0, 16)
        ->group(group);
    takesWhole(
        verb.add_option("--max-output", words.maxOutput, "Tokens of an answer, reasoning included (default 16384)"),
        256, 1'000'000)
        ->group(group);
    verb.add_option("--effort", words.effort, "Reasoning effort, where the model knows it")
        ->check(CLI::IsMember({"low", "medium", "high"}))
        ->group(group);
}

Result<void> applyModelWords(const ModelWords& words, EngineOptions& options)
{
    for (const std::string& name : words.profiles) {
        ESPALIER_TRY(llm::ModelProfile profile, savedProfile(name));
        options.models.push_back(std::move(profile));
    }
    if (const std::string provider = providerOf(words, options); !provider.empty()) {
        llm::ModelProfile profile;
        profile.provider = provider;
        profile.baseUrl = words.baseUrl;
        profile.model = words.model;
        profile.command = words.command;
        if (!profile.command.empty() && profile.command.front().find('/') != std::string::npos) {
            profile.command.front() =
                std::filesystem::absolute(profile.command.front()).string(); // it goes on elsewhere
        }
        profile.folder = words.folder.empty() ? std::string() : std::filesystem::absolute(words.folder).string();
        profile.keyVariable = words.keyVariable;
        profile.contextTokens = words.context;
        profile.channels = words.channels;
        profile.name = words.model.empty() ? provider : words.model;
        options.models.push_back(std::move(profile));
    }
    const bool asked = words.ideas > 0 || words.implementations > 0 || words.repairs >= 0 || words.maxOutput > 0 ||
                       !words.effort.empty();
    if (asked) {
        LlmSettings settings;
        settings.ideas = words.ideas > 0 ? words.ideas : settings.ideas;
        settings.implementations = words.implementations > 0 ? words.implementations : settings.implementations;
        settings.repairs = words.repairs >= 0 ? words.repairs : settings.repairs;
        settings.maxOutputTokens = words.maxOutput > 0 ? words.maxOutput : settings.maxOutputTokens;
        settings.reasoningEffort = words.effort;
        options.llm = settings;
    }
    return {};
}

} // namespace espalier::ctl
