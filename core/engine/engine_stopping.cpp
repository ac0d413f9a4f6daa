// SPDX-License-Identifier: Apache-2.0
// Enough: the session's own rules end a run, and only what holds when everything has ended counts.
#include "core/engine/engine_core.h"
#include "core/engine/stopping_rules.h"

#include <fmt/format.h>

namespace espalier {

/// Why the run has enough now; nullopt: it goes on. A step of the engineer's is never refused for that. `ending`:
/// nothing runs any more.
std::optional<std::string> EngineCore::enough(bool ending)
{
    Budget rules = m_journal.info().budget;
    if (m_step.isOn() || (!rules.target && !rules.roofPercent && !rules.plateau)) {
        return std::nullopt;
    }
    const auto best = m_book.best();
    const NodeSummary* node = best ? m_book.find(*best) : nullptr;
    if (!node || node->state != NodeState::Done) {
        return std::nullopt;
    }
    // One lucky figure is no goal reached: on a device it takes a second measurement, and one that could not be had is
    // none.
    const bool confirmed = node->measuredAgain || node->provenance != Provenance::Measured;
    if (!confirmed && (ending || m_measuredAgain.contains(*best))) {
        rules.target.reset();
        rules.roofPercent.reset();
    }
    return goalReached(rules, m_book, m_incumbent.has_value(), rules.roofPercent ? floorOf(*node) : 0);
}

/// Goal floor of a node's objective, in microseconds; read from its record once, and again when that is another one.
double EngineCore::floorOf(const NodeSummary& node)
{
    if (!m_floor || m_floor->node != node.id || m_floor->timeUs != node.timeUs) {
        const auto full = detail(node.id);
        const double floor = full && full->evaluation.timing ? goalFloorUs(*full->evaluation.timing, *m_task) : 0;
        m_floor = Floor{node.id, node.timeUs, floor};
        if (floor <= 0 && !m_toldNoFloor) {
            m_toldNoFloor = true;
            log(fmt::format(
                "The rule \"within {:g} % of the roof\" has nothing to stand on: no goal floor of task {} is known "
                "on {}; the other limits hold.",
                *m_journal.info().budget.roofPercent, m_task->id, m_journal.info().deviceName));
        }
    }
    return m_floor->us;
}

/// What was under way, and the second measurements, have their say: true when it is enough still.
bool EngineCore::enoughStill()
{
    const std::string before = *m_enough;
    m_enough = enough(true);
    if (m_enough) {
        return true;
    }
    m_winners = 0; // other kernels may have to be confirmed later
    log(fmt::format("The search goes on; no longer true: {}.", before));
    return false;
}

} // namespace espalier
