// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/dialect.h"

#include <string>
#include <vector>

namespace espalier::llm {

/// A key and where it was found; both empty: the model needs none.
struct FoundKey {
    std::string key;
    std::string source; ///< "OPENAI_API_KEY", "the keychain": never the key
};

/// Environment variables in the order in which they are asked: the profile's own alone; else ESPALIER_API_KEY, then
/// those of the host where it is a known one, else of the dialect.
std::vector<std::string> keyVariables(const ModelProfile& profile, const Dialect& dialect);

/// The variables, then the keychain (`secret-tool lookup server espalier user NAME`, where NAME is the profile's name
/// or the provider's: the window writes it there). Blocks for up to 3 s where secret-tool is installed and no variable
/// is set. Errors: NotFound, naming the variables, where the provider's own address is called, which always wants a
/// key.
Result<FoundKey> findKey(const ModelProfile& profile, const Dialect& dialect);

} // namespace espalier::llm
