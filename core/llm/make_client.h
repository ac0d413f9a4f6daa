// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/chat.h"
#include "core/llm/http_client.h"

namespace espalier::llm {

/// One loop and one memory of the models' limits, for all clients of a run. Errors: NotFound (libcurl), Internal.
Result<ChatServices> makeServices();

/// The profile's provider is reached over HTTP.
bool needsNetwork(const ModelProfile& profile);

/// makeClient() over services that others use, too; `services` may be empty for the providers that need no network.
Result<std::unique_ptr<ChatClient>> makeClient(const ModelProfile& profile, const ChatServices& services);

/// All models of a run, over one loop. Errors: of makeClient, naming the profile.
Result<std::vector<std::unique_ptr<ChatClient>>> makeClients(const std::vector<ModelProfile>& profiles);

} // namespace espalier::llm
