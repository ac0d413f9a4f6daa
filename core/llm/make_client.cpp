// SPDX-License-Identifier: Apache-2.0
#include "core/llm/chat.h"
#include "core/llm/replay_client.h"

#include <fmt/format.h>

namespace espalier::llm {

Result<std::unique_ptr<ChatClient>> makeClient(const ModelProfile& profile)
{
    if (profile.provider == "replay") {
        return ReplayClient::open(profile);
    }
    return fail(ErrorCode::InvalidInput,
                fmt::format("there is no provider \"{}\": use replay", profile.provider));
}

} // namespace espalier::llm
