// SPDX-License-Identifier: Apache-2.0
#include "core/search/planner.h"

#include "core/analysis/fresh_runs.h"
#include "core/search/standing.h"

#include <algorithm>
#include <utility>

namespace espalier {

Planner::Planner(Setup setup, const Strategy& strategy, ProposerSet& proposers, SessionJournal& journal,
                 ActHistory& acts, NodeBook& book, CandidatePipeline& pipeline)
    : m_setup(std::move(setup)), m_strategy(&strategy), m_proposers(proposers), m_journal(journal), m_acts(acts),
      m_book(book), m_pipeline(pipeline), m_heldTask(m_setup.task), m_nextRequest(m_setup.firstRequest)
{
}

Planner::State Planner::pump(std::int64_t room, std::optional<int>& steps)
{
    const State state = decide(room, steps);
    showBranchBudgets();
    return state;
}

Planner::State Planner::decide(std::int64_t room, std::optional<int>& steps)
{
    requestUnanswered(steps);
    while (!m_trouble) {
        if (m_asking) {
            return State::Working;
        }
        if ((!m_heldIdeas.empty() || !m_askAgain.empty() || !m_postponed.empty()) && !m_proposers.held()) {
            goOn(); // its hold has ended by itself
            requestUnanswered(steps);
            if (m_asking) {
                return State::Working;
            }
        }
        applyHolds();
        if (!m_ideaRequests.empty()) {
            const IdeaRequest request = m_ideaRequests.front();
            if (!m_proposers.held()) {
                askIdeas(request.parent, &request, "the engineer asked");
                continue;
            }
        }
        if (const auto cutOff = std::exchange(m_cutOffAsk, std::nullopt); cutOff && m_tree.isParent(*cutOff)) {
            askIdeas(*cutOff, nullptr, whyAsked(*cutOff));
            continue;
        }
        if (room - unfinished() <= 0 || steps == 0) {
            return State::Limited;
        }
        if (static_cast<int>(m_inFlight.size()) >= m_setup.window) {
            if (consumeHead()) {
                continue;
            }
            // Pruned nodes may just have left the window.
            if (static_cast<int>(m_inFlight.size()) >= m_setup.window) {
                return State::Working;
            }
        }
        if (const auto failed = nextRepair()) {
            if (implement(*m_tree.at(*failed).parent, failed, "it repairs what failed") && steps) {
                --*steps;
            }
            continue;
        }
        if (const auto crossed = crossedByHand()) {
            if (implement(*crossed, std::nullopt, "the engineer crossed two kernels") && steps) {
                --*steps;
            }
            continue;
        }
        const Decision decision = m_strategy->next(m_tree);
        if (const auto* ask = std::get_if<decision::AskIdeas>(&decision)) {
            askIdeas(ask->parent, nullptr, ask->why);
        } else if (const auto* expand = std::get_if<decision::Implement>(&decision)) {
            if (implement(expand->idea, std::nullopt, expand->why) && steps) {
                --*steps;
            }
        } else if (const auto* crossing = std::get_if<decision::Crossover>(&decision)) {
            crossOver(*crossing);
        } else if (!consumeHead()) {
            return m_inFlight.empty() ? State::Exhausted : State::Working;
        }
    }
    return State::Working;
}

/// Candidates that were requested and have no outcome yet.
std::int64_t Planner::unfinished() const
{
    return std::count_if(m_inFlight.begin(), m_inFlight.end(),
                         [this](NodeId id) { return id != taskRoot && !m_arrived.contains(id) && !m_book.pruned(id); });
}

bool Planner::consumeHead()
{
    while (!m_inFlight.empty()) {
        const NodeId head = m_inFlight.front();
        const auto arrived = m_arrived.find(head);
        if (arrived == m_arrived.end()) {
            const NodeSummary* summary = m_book.find(head);
            if (!m_book.pruned(head) || (summary && summary->state == NodeState::Running)) {
                return false;
            }
            m_parked.insert(head);
            m_inFlight.pop_front();
            continue;
        }
        if (awaitsFullTime(head)) {
            return false;
        }
        const std::int64_t consumed = std::max(m_consumed, head.value);
        if (const auto result = m_journal.setValue(consumedKey, std::to_string(consumed)); !result) {
            trouble(result.error());
            return false;
        }
        m_consumed = consumed;
        m_tree.find(head)->verdict = arrived->second;
        m_arrived.erase(arrived);
        m_inFlight.pop_front();
        m_whys.erase(head);
        settleSpending(head);
        return true;
    }
    return false;
}

/// What may be better than the best of all that was consumed, by more than a tie, is timed in the full tier before
/// anything is decided by it: the search does not build on a lucky figure. Nothing is built on what left the search
/// meanwhile. A function of the tree and the record, so a reopened session asks the same.
bool Planner::awaitsFullTime(NodeId head)
{
    const Verdict& verdict = m_arrived.at(head);
    const bool reaches = head != taskRoot && m_tree.inSearch(head) && !m_tree.at(head).banned &&
                         verdict.outcome == Outcome::Passed && verdict.frame == m_tree.frame() &&
                         verdict.speedupAtMost &&
                         *verdict.speedupAtMost > m_tree.bestScore() * (1 + statistics::leastDifference);
    if (!m_setup.takeFullTime || !reaches || verdict.fullTier) {
        return false;
    }
    return m_pipeline.judgedAgain(head) || (m_fullTimeAsked.insert(head).second && m_setup.takeFullTime(head));
}

void Planner::onEnded(NodeId node, const Evaluation& evaluation)
{
    m_arrived.insert_or_assign(node, verdictOf(evaluation, m_tree.frame().provenance));
    noteBan(node, evaluation);
}

void Planner::onMeasuredAgain(NodeId node, const Evaluation& evaluation, double seconds)
{
    noteBan(node, evaluation);
    const auto renew = [&](Verdict& verdict) {
        const double before = verdict.deviceSeconds;
        verdict = verdictOf(evaluation, m_tree.frame().provenance);
        verdict.deviceSeconds = before + seconds;
        if (const auto& overturned = m_book.find(node)->overturned) {
            verdict.outcome = overturned->as;
        }
    };
    TreeNode* entry = m_tree.find(node);
    if (entry && entry->verdict) {
        renew(*entry->verdict);
        settleSpending(node);
    } else if (const auto arrived = m_arrived.find(node); arrived != m_arrived.end()) {
        renew(arrived->second);
    }
}

std::optional<Error> Planner::takeTrouble()
{
    return std::exchange(m_trouble, std::nullopt);
}

} // namespace espalier
