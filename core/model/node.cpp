// SPDX-License-Identifier: Apache-2.0
#include "core/model/node.h"

#include "core/model/enum_names.h"

namespace espalier {

namespace {

constexpr std::array<EnumName<NodeKind>, 3> kinds = {{
    {NodeKind::Root, "root"},
    {NodeKind::Idea, "idea"},
    {NodeKind::Candidate, "candidate"},
}};

constexpr std::array<EnumName<NodeState>, 4> states = {{
    {NodeState::Draft, "draft"},
    {NodeState::Queued, "queued"},
    {NodeState::Running, "running"},
    {NodeState::Done, "done"},
}};

constexpr std::array<EnumName<EdgeRole>, 3> roles = {{
    {EdgeRole::Primary, "primary"},
    {EdgeRole::Crossover, "crossover"},
    {EdgeRole::Repair, "repair"},
}};

} // namespace

std::string_view nameOf(NodeKind kind)
{
    return nameIn(kinds, kind);
}

std::string_view nameOf(NodeState state)
{
    return nameIn(states, state);
}

std::string_view nameOf(EdgeRole role)
{
    return nameIn(roles, role);
}

std::optional<NodeKind> nodeKindNamed(std::string_view name)
{
    return namedIn(kinds, name);
}

std::optional<NodeState> nodeStateNamed(std::string_view name)
{
    return namedIn(states, name);
}

std::optional<EdgeRole> edgeRoleNamed(std::string_view name)
{
    return namedIn(roles, name);
}

BranchSpending BranchSpending::operator+(const BranchSpending& other) const
{
    return {evaluations + other.evaluations, tokens + other.tokens, usd + other.usd, seconds + other.seconds};
}

BranchSpending BranchSpending::operator-(const BranchSpending& other) const
{
    return {evaluations - other.evaluations, tokens - other.tokens, usd - other.usd, seconds - other.seconds};
}

bool BranchSpending::reaches(const BranchBudget& budget) const
{
    return (budget.evaluations && evaluations >= *budget.evaluations) || (budget.tokens && tokens >= *budget.tokens) ||
           (budget.usd && usd >= *budget.usd) || (budget.seconds && seconds >= *budget.seconds);
}

} // namespace espalier
