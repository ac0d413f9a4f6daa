// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/engine/model_profiles.h"

#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// What a look at an endpoint found.
struct ModelCheck {
    bool good = false;
    std::vector<std::string> urls;   ///< exact, in the order tried, secrets removed
    std::string error;               ///< the provider's own words; empty when good
    std::string keySource;           ///< a variable's name or "the keychain"; empty: no key was sent
    std::vector<std::string> models; ///< offered
    std::optional<bool> offered;     ///< the profile's model is among them
};

/// The saved models as the window needs them, so that tests give it others than the user's. load() and save() are
/// quick; check() blocks for as long as the network does: call it on a thread that nobody waits for. Thread: any, one
/// save() at a time.
class ModelShelf
{
public:
    virtual ~ModelShelf() = default;
    virtual Result<std::vector<llm::ModelProfile>> load() const = 0;
    virtual Result<void> save(const std::vector<llm::ModelProfile>& profiles) = 0;
    virtual ModelCheck check(const llm::ModelProfile& profile) const = 0;
    /// Environment variables that are asked for the key, in order; none: the provider needs no key.
    virtual std::vector<std::string> keyVariables(const llm::ModelProfile& profile) const = 0;
};

} // namespace espalier
