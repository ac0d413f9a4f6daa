// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/instant_proposer.h"

namespace espalier {

/// The engineer as a proposer: offers nothing by itself; ideas and kernels come in as commands. An idea of the
/// engineer's stays a draft until a kernel is injected under it.
class ManualProposer final : public InstantProposer
{
public:
    std::string_view name() const override { return "manual"; }

protected:
    std::vector<ProposedIdea> offer(const IdeaContext&) const override { return {}; }
    proposer::Implementation write(const ImplementContext&) const override;
};

} // namespace espalier
