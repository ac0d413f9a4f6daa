// SPDX-License-Identifier: Apache-2.0
#include "core/search/refine.h"

#include <cmath>
#include <fmt/format.h>

namespace espalier {
namespace {

/// A model's ideas do not end, so its kernels cannot wait for a time without new ones to be tuned: the first tries of a
/// series under one of the fastest come before the next idea. Series of a playbook's kernels come after its ideas,
/// which are few.
std::optional<NodeId> untunedByModel(const SearchTree& tree, const Refine::Parameters& parameters)
{
    std::size_t looked = 0;
    for (const Ranked& series : tree.openIdeas(true)) {
        if (++looked > parameters.seriesParents) {
            break;
        }
        const TreeNode& idea = tree.at(series.id);
        if (!idea.oneByOne && idea.tries() < Refine::firstTries && tree.writtenByModel(idea.parent)) {
            return series.id;
        }
    }
    return std::nullopt;
}

/// The series that is worth most now: of the fastest parents and of everything pinned, each less with every try.
std::optional<NodeId> bestSeries(const SearchTree& tree, const Refine::Parameters& parameters)
{
    std::optional<Ranked> best;
    std::size_t kept = 0;
    const auto consider = [&](NodeId id) {
        const OpenIdea idea = tree.openIdea(id);
        const Ranked tired{idea.weight * std::pow(parameters.fatigue, idea.tries), id};
        if (!best || tired < *best) {
            best = tired;
        }
    };
    for (const Ranked& series : tree.openIdeas(true)) {
        if (++kept > parameters.seriesParents) {
            break;
        }
        consider(series.id);
    }
    for (const NodeId parent : tree.pinnedParents()) {
        for (const NodeId id : tree.openIdeasUnder(parent)) {
            if (tree.at(id).planned > 1) {
                consider(id);
            }
        }
    }
    for (const NodeId id : tree.pinnedIdeas()) {
        if (tree.at(id).planned > 1) {
            consider(id);
        }
    }
    return best ? std::optional(best->id) : std::nullopt;
}

} // namespace

Decision Refine::next(const SearchTree& tree) const
{
    if (!tree.unasked().empty()) {
        return decision::AskIdeas{*tree.unasked().begin(), "it passed and was not asked for ideas yet"};
    }
    if (const auto series = untunedByModel(tree, m_parameters)) {
        return decision::Implement{*series, fmt::format("one of the first tries on a model's kernel (try {})",
                                                        tree.openIdea(*series).tries + 1)};
    }
    if (const auto& single = tree.openIdeas(false); !single.empty()) {
        return decision::Implement{
            single.begin()->id, fmt::format("the new idea under the fastest parent ({:.2f}x)", single.begin()->weight)};
    }
    if (tree.discoveryAwaited()) {
        return decision::Wait{};
    }
    if (const auto series = bestSeries(tree, m_parameters)) {
        return decision::Implement{
            *series, fmt::format("try {} of the series that promises most", tree.openIdea(*series).tries + 1)};
    }
    return decision::Wait{};
}

} // namespace espalier
