// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace espalier::llm {

/// A base URL as people write it, made into the ones to try, best first: scheme added where it is missing (http for
/// this machine and private addresses), an endpoint at its end taken off, a doubled version made single, `version`
/// ("v1") added where none is there. The second entry, where there is one, differs in having or lacking the version:
/// some servers have none. A query stays at the end. Errors: InvalidInput naming the URL.
Result<std::vector<std::string>> baseUrls(std::string_view written, std::string_view version);

/// `base` and `path` with the base's query kept behind the path.
std::string joinUrl(std::string_view base, std::string_view path);

/// "api.openai.com" of a URL; empty when it has none.
std::string hostOf(std::string_view url);

} // namespace espalier::llm
