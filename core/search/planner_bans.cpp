// SPDX-License-Identifier: Apache-2.0
// Techniques that the engineer does not want: said in every prompt, and held by the judge where there is a predicate.
#include "core/search/planner.h"

#include "core/search/bans.h"
#include "core/search/standing.h"

#include <fmt/format.h>
#include <utility>

namespace espalier {

Result<void> Planner::ban(const std::string& text, const std::string& predicate)
{
    ESPALIER_TRY(BannedTechnique one, checkedBan(text, predicate));
    const Json before = toJson(m_bans);
    std::vector<BannedTechnique> bans = m_bans;
    bans.push_back(one);
    return m_acts.perform({{"act", "ban"}, {"text", one.text}, {"predicate", one.predicate}},
                          {.field = "bans", .value = before}, bansChange(std::move(bans)));
}

Result<void> Planner::liftBan(int number)
{
    if (number < 1 || number > static_cast<int>(m_bans.size())) {
        std::vector<std::string> texts;
        for (const BannedTechnique& ban : m_bans) {
            texts.push_back(ban.text);
        }
        return fail(ErrorCode::NotFound, fmt::format("There is no ban {}: {}.", number, numberedChoices(texts)));
    }
    const Json before = toJson(m_bans);
    std::vector<BannedTechnique> bans = m_bans;
    const std::string text = bans[static_cast<std::size_t>(number - 1)].text;
    bans.erase(bans.begin() + number - 1);
    return m_acts.perform({{"act", "lift-ban"}, {"number", number}, {"text", text}}, {.field = "bans", .value = before},
                          bansChange(std::move(bans)));
}

Change Planner::bansChange(std::vector<BannedTechnique> bans)
{
    return {[this, bans] {
                return m_journal.setValue(bansKey, toJson(bans).dump(-1, ' ', false, Json::error_handler_t::replace));
            },
            [this, bans] {
                m_bans = bans;
                applyBans();
            }};
}

void Planner::applyBans()
{
    m_heldTask = taskUnder(m_bans, m_setup.task);
    m_pipeline.setBans(limitsOf(m_bans), m_heldTask);
    m_book.setBans(limitsOf(m_bans));
    for (const auto& [id, node] : m_tree.nodes()) {
        followBook(id);
    }
}

/// What the book has found banned is so in the tree.
void Planner::followBook(NodeId id)
{
    const bool banned = !m_book.find(id)->banned.empty();
    if (std::as_const(m_tree).at(id).banned != banned) {
        m_tree.find(id)->banned = banned;
    }
}

/// A candidate has ended, for the first time or again.
void Planner::noteBan(NodeId node, const Evaluation& evaluation)
{
    followBook(node);
    if (endedByBan(evaluation)) {
        m_endedByBan.insert(node);
    } else {
        m_endedByBan.erase(node);
    }
}

/// The node that has this kernel already. A ban that was lifted gives free what ended by it alone; what left the search
/// before it had a verdict stands in nobody's way.
std::optional<NodeId> Planner::twinOf(const std::string& identity) const
{
    const auto found = m_sources.find(identity);
    const bool free = found == m_sources.end() || prunedUnjudged(found->second) ||
                      (m_endedByBan.contains(found->second) && m_book.find(found->second)->banned.empty());
    return free ? std::nullopt : std::optional(found->second);
}

bool Planner::prunedUnjudged(NodeId node) const
{
    return m_book.find(node)->state != NodeState::Done && m_book.pruned(node); // the way up may be long
}

Result<void> Planner::restoreBans()
{
    ESPALIER_TRY(m_bans, bansIn(m_journal.store()));
    applyBans();
    return {};
}

std::vector<std::string> Planner::hintsForPrompts() const
{
    std::vector<std::string> hints = m_hints;
    for (const BannedTechnique& ban : m_bans) {
        hints.push_back(hintOf(ban));
    }
    return hints;
}

} // namespace espalier
