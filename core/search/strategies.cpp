// SPDX-License-Identifier: Apache-2.0
#include "core/search/refine.h"
#include "core/search/sample.h"
#include "core/search/strategy.h"

#include <fmt/format.h>

namespace espalier {

Result<std::unique_ptr<Strategy>> makeStrategy(std::string_view name, std::uint64_t seed)
{
    if (name == "refine") {
        return std::make_unique<Refine>();
    }
    if (name == "sample") {
        return std::make_unique<Sample>(seed);
    }
    for (const char* later : {"beam", "ucb", "evolution", "manual"}) {
        if (name == later) {
            return fail(ErrorCode::NotSupported,
                        fmt::format("This version has no strategy \"{}\" yet: choose refine or sample.", name));
        }
    }
    return fail(ErrorCode::InvalidInput, fmt::format("There is no strategy \"{}\": choose refine or sample.", name));
}

} // namespace espalier
