// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/instant_proposer.h"

namespace espalier {

/// The ideas that ship with a task. An idea applies under the task's root, or under the candidate that implements the
/// idea it builds on. Its finds are the author's, never the search's.
class PlaybookProposer final : public InstantProposer
{
public:
    std::string_view name() const override { return "playbook"; }
    std::vector<std::string> sourcesAfter(const Task& task, const std::string& key) const override;

protected:
    std::vector<ProposedIdea> offer(const IdeaContext& context) const override;
    proposer::Implementation write(const ImplementContext& context) const override;
};

} // namespace espalier
