// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/chat.h"

#include <optional>
#include <string>
#include <vector>

namespace espalier::llm {

/// What an engineer wants to know before a run: is the address right, is the key, which models are there?
struct EndpointReport {
    bool good = false;
    std::vector<std::string> urlsTried; ///< exact, secrets removed; the last one answered
    int status = 0;                     ///< HTTP; 0: nobody answered, or no HTTP provider
    std::string error;                  ///< one sentence with the provider's own words; empty when good
    std::string keySource;              ///< "OPENAI_API_KEY", "the keychain"; empty: no key was sent
    std::vector<std::string> models;    ///< offered, sorted
    std::optional<bool> offered;        ///< profile.model is among them; nullopt: none is named, or there is no list
};

/// Asks the provider for its models (GET, costs nothing); for command, manual and replay looks at the program or the
/// folder. Blocks, up to the profile's connect deadline and 30 s more: for a command line and a Test button's thread.
EndpointReport checkEndpoint(const ModelProfile& profile);

/// Sends one short question through the same client as a run: costs a few tokens. Blocks up to `seconds`. The answer's
/// first words, or the failure's sentence.
Result<std::string> askBriefly(const ModelProfile& profile, double seconds = 60);

} // namespace espalier::llm
