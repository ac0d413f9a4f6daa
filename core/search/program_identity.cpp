// SPDX-License-Identifier: Apache-2.0
#include "core/search/program_identity.h"

#include "core/base/hash.h"
#include "core/build/host_part.h"
#include "core/model/language_standard.h"
#include "core/propose/source_text.h"

namespace espalier {

std::string hostIdentity(std::string_view source)
{
    const auto host = hostPartOf(source);
    if (!host) {
        return {};
    }
    // it is a comment to the text, and another language to the compiler
    return sourceIdentity(*host) + statedStandard(source).value_or(std::string());
}

std::string programIdentity(const std::string& hostIdentity, std::string_view library, DeviceCode what)
{
    if (hostIdentity.empty()) {
        return {};
    }
    const auto device = deviceCodeHash(library, what);
    return device ? sha256Of({"program 1", hostIdentity, *device}) : std::string();
}

} // namespace espalier
