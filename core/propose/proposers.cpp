// SPDX-License-Identifier: Apache-2.0
#include "core/propose/proposers.h"

#include "core/propose/manual_proposer.h"
#include "core/propose/playbook_proposer.h"
#include "core/propose/tuner_proposer.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr const char* choices = "playbook, tuner, manual";

Result<std::unique_ptr<Proposer>> makeProposer(const std::string& name)
{
    if (name == "playbook") {
        return std::make_unique<PlaybookProposer>();
    }
    if (name == "tuner") {
        return std::make_unique<TunerProposer>();
    }
    if (name == "manual") {
        return std::make_unique<ManualProposer>();
    }
    if (name == "llm" || name == "command" || name == "replay") {
        return fail(ErrorCode::NotSupported,
                    fmt::format("This version has no proposer \"{}\" yet: choose from {}.", name, choices));
    }
    return fail(ErrorCode::InvalidInput, fmt::format("There is no proposer \"{}\": choose from {}.", name, choices));
}

} // namespace

Result<std::vector<std::unique_ptr<Proposer>>> makeProposers(const std::vector<std::string>& names)
{
    std::vector<std::unique_ptr<Proposer>> proposers;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
            names.begin() + static_cast<std::ptrdiff_t>(i)) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("Proposer \"{}\" is named twice: name it once.", names[i]));
        }
        ESPALIER_TRY(auto made, makeProposer(names[i]));
        proposers.push_back(std::move(made));
    }
    return proposers;
}

} // namespace espalier
