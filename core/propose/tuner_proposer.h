// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/instant_proposer.h"

namespace espalier {

/// Searches the constants that a kernel declares as tunable. One idea per kernel ("Tune BLOCK, ITEMS"); its candidates
/// differ from their parent in those constants only. Method: the first tries are random, the later ones take turns
/// between the neighbours of the best known point and random points; no point twice. Everything is a function of the
/// context, so a resumed session goes on as if it had never stopped.
class TunerProposer final : public InstantProposer
{
public:
    static constexpr int mostTries = 24; ///< of one idea

    std::string_view name() const override { return "tuner"; }

protected:
    std::vector<ProposedIdea> offer(const IdeaContext& context) const override;
    proposer::Implementation write(const ImplementContext& context) const override;
};

} // namespace espalier
