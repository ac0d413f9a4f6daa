// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/strategy.h"

namespace espalier {

/// Waits for the engineer. Only what they point at is done: pinned kernels are asked for ideas, and pinned or boosted
/// ideas are implemented as often as planned, the most boosted first. Injected kernels are judged as ever.
class Manual final : public Strategy
{
public:
    std::string_view name() const override { return "manual"; }
    Decision next(const SearchTree& tree) const override;
    bool waitsForEngineer() const override { return true; }
};

} // namespace espalier
