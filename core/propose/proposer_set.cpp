// SPDX-License-Identifier: Apache-2.0
#include "core/propose/proposer_set.h"

#include <algorithm>
#include <cassert>

namespace espalier {
namespace {

ProposerSet::List::const_iterator find(const ProposerSet::List& list, std::string_view name)
{
    return std::find_if(list.begin(), list.end(), [name](const auto& one) { return one && one->name() == name; });
}

} // namespace

Proposer* ProposerSet::named(std::string_view name) const
{
    const auto found = find(m_proposers, name);
    return found == m_proposers.end() ? nullptr : found->get();
}

Proposer* ProposerSet::writer() const
{
    const auto found = std::find_if(m_proposers.begin(), m_proposers.end(),
                                    [](const auto& proposer) { return proposer->readsBackground(); });
    return found == m_proposers.end() ? nullptr : found->get();
}

std::optional<Held> ProposerSet::held() const
{
    for (const auto& proposer : m_proposers) {
        if (auto held = proposer->held()) {
            return held;
        }
    }
    return std::nullopt;
}

std::vector<Proposer*> ProposerSet::leaving(const std::vector<std::string>& names, const List& made) const
{
    std::vector<Proposer*> gone;
    for (const auto& proposer : m_proposers) {
        const bool stays = std::find(names.begin(), names.end(), proposer->name()) != names.end();
        if (!stays || find(made, proposer->name()) != made.end()) {
            gone.push_back(proposer.get());
        }
    }
    return gone;
}

void ProposerSet::change(const std::vector<std::string>& names, List made)
{
    List list;
    for (const std::string& name : names) {
        List& from = find(made, name) != made.end() ? made : m_proposers;
        const auto found = from.begin() + (find(from, name) - from.cbegin());
        assert(found != from.end());
        list.push_back(std::move(*found));
    }
    m_proposers = std::move(list);
}

} // namespace espalier
