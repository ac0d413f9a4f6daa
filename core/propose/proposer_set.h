// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/proposer.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Who takes part in a search, in the order in which they are asked. Others may take their place while it goes on.
/// Owns them. Thread: the engine's. Pointers hold until change().
class ProposerSet
{
public:
    using List = std::vector<std::unique_ptr<Proposer>>;

    ProposerSet() = default;
    explicit ProposerSet(List proposers) : m_proposers(std::move(proposers)) {}

    List::const_iterator begin() const { return m_proposers.begin(); }
    List::const_iterator end() const { return m_proposers.end(); }

    Proposer* named(std::string_view name) const; ///< nullptr: it takes no part
    Proposer* writer() const;                     ///< the first that writes what it is told: a model; nullptr: none
    std::optional<Held> held() const;             ///< the first one's reason where several are held

    /// Who would go with change(): those that are not named, and those in whose place one of `made` comes.
    std::vector<Proposer*> leaving(const std::vector<std::string>& names, const List& made) const;
    /// From now on those named take part, in this order: of `made`, else who is here. Nobody may be named who is
    /// neither.
    void change(const std::vector<std::string>& names, List made);

private:
    List m_proposers;
};

} // namespace espalier
