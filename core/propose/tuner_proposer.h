// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/instant_proposer.h"

namespace espalier {

/// Searches the constants that a kernel declares as tunable, within the conditions it states (tuning_method.h). One
/// idea per kernel ("Tune BLOCK, ITEMS"); its candidates differ from their parent in those constants only, no point
/// twice. Crosses two kernels by giving one the other's values of the tunables that both declare. Everything is a
/// function of the context, so a resumed session goes on as if it had never stopped.
class TunerProposer final : public InstantProposer
{
public:
    static constexpr int mostTries = 24; ///< of one idea

    std::string_view name() const override { return "tuner"; }
    std::optional<ProposedIdea> crossing(const CrossingContext& context) const override;

protected:
    std::vector<ProposedIdea> offer(const IdeaContext& context) const override;
    proposer::Implementation write(const ImplementContext& context) const override;
};

} // namespace espalier
