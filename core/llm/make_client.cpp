// SPDX-License-Identifier: Apache-2.0
#include "core/llm/make_client.h"

#include "core/llm/command_client.h"
#include "core/llm/keys.h"
#include "core/llm/manual_client.h"
#include "core/llm/replay_client.h"

#include <fmt/format.h>

namespace espalier::llm {

Result<ChatServices> makeServices()
{
    ChatServices services;
    ESPALIER_TRY(services.loop, CurlLoop::create());
    services.knowledge = std::make_shared<ModelKnowledge>(ModelKnowledge::usualFile());
    return services;
}

bool needsNetwork(const ModelProfile& profile)
{
    return dialectOf(profile.provider) != nullptr;
}

Result<std::unique_ptr<ChatClient>> makeClient(const ModelProfile& profile, const ChatServices& services)
{
    if (profile.provider == "replay") {
        return ReplayClient::open(profile);
    }
    if (profile.provider == "command") {
        return CommandClient::make(profile);
    }
    if (profile.provider == "manual") {
        return ManualClient::make(profile);
    }
    const Dialect* const dialect = dialectOf(profile.provider);
    if (!dialect) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("there is no provider \"{}\": use openai (and whatever speaks like it), openai-responses, "
                        "anthropic, gemini, command, manual or replay",
                        profile.provider));
    }
    if (profile.model.empty()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("no model is named for the provider {}: give its name with --model (espalierctl doctor "
                                "--provider {} lists what is offered)",
                                profile.provider, profile.provider));
    }
    ESPALIER_TRY(FoundKey found, findKey(profile, *dialect));
    ChatServices shared = services;
    if (!shared.loop) {
        ESPALIER_TRY(shared, makeServices());
    }
    return HttpClient::make(profile, *dialect, std::move(found.key), std::move(found.source), std::move(shared));
}

Result<std::unique_ptr<ChatClient>> makeClient(const ModelProfile& profile)
{
    return makeClient(profile, {});
}

Result<std::vector<std::unique_ptr<ChatClient>>> makeClients(const std::vector<ModelProfile>& profiles)
{
    ChatServices services;
    std::vector<std::unique_ptr<ChatClient>> clients;
    for (const ModelProfile& profile : profiles) {
        if (!services.loop && needsNetwork(profile)) {
            ESPALIER_TRY(services, makeServices());
        }
        auto client = makeClient(profile, services);
        if (!client) {
            return fail(client.error().code, profile.name.empty()
                                                 ? client.error().message
                                                 : fmt::format("model {}: {}", profile.name, client.error().message));
        }
        clients.push_back(std::move(*client));
    }
    return clients;
}

} // namespace espalier::llm
