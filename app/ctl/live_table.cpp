// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/live_table.h"

#include "app/ctl/output.h"
#include "core/base/text.h"

#include <cstdio>
#include <fmt/format.h>

namespace espalier::ctl {

namespace {

/// fmt counts bytes of a text without a locale; "≈" is three bytes and one column.
std::string padded(const std::string& text, std::size_t width)
{
    std::size_t columns = 0;
    for (const char c : text) {
        columns += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    }
    return text + std::string(columns < width ? width - columns : 1, ' ');
}

std::string budgetText(const RunStatus& status)
{
    std::string text = fmt::format("{}", status.evaluations);
    if (status.budget.evaluations) {
        text += fmt::format("/{}", *status.budget.evaluations);
    }
    return text + " evaluations";
}

} // namespace

std::string rowOf(const NodeSummary& node)
{
    const Provenance provenance = node.provenance.value_or(Provenance::Model);
    std::string row = padded(fmt::format("#{}", node.id.value), 6) + padded(outcomeText(node), 16);
    row += padded(node.speedupRoot ? speedupText(*node.speedupRoot, provenance) : "", 22);
    row += padded(node.timeUs ? timeText(node.timeUs->value, provenance) : "", 11);
    row += padded(node.proposer, 10) + node.title;
    const std::string reason = reasonText(node);
    if ((node.outcome != Outcome::Passed || node.overturned) && !reason.empty()) {
        row += fmt::format("\n      {}", reason);
    }
    return row;
}

void LiveTable::opened(const SessionInfo& info)
{
    if (m_headed || info.deviceName.empty()) {
        return; // a new session is announced once before its device is known and once after
    }
    m_headed = true;
    line(fmt::format("task {} on {} ({}), strategy {}, seed {}", info.taskId, info.deviceName,
                     info.provenance == Provenance::Model ? "figures are modelled, marked ≈" : "figures are measured",
                     info.strategy, info.seed));
    line(padded("node", 6) + padded("outcome", 16) + padded("speed-up of root", 22) + padded("time", 11) +
         padded("by", 10) + "idea");
}

void LiveTable::changed(const std::vector<NodeSummary>& nodes, const RunStatus& status)
{
    m_status = status;
    for (const NodeSummary& node : nodes) {
        const bool news = node.state == NodeState::Done && m_seen[node.id.value] != NodeState::Done;
        m_seen[node.id.value] = node.state;
        if (news && node.kind != NodeKind::Idea) {
            line(rowOf(node));
        }
    }
    drawStatus();
}

void LiveTable::line(const std::string& text)
{
    clearStatus();
    note(text);
    drawStatus();
}

void LiveTable::clearStatus()
{
    if (m_drawn) {
        std::fputs("\r\033[K", stderr);
        m_drawn = false;
    }
}

void LiveTable::drawStatus()
{
    if (!m_terminal || m_status.state == RunState::Idle) {
        return;
    }
    clearStatus();
    std::string text = fmt::format("{}: {} building, {} judging, {}", nameOf(m_status.state), m_status.building,
                                   m_status.judging, budgetText(m_status));
    if (m_status.bestSpeedupRoot) {
        text += fmt::format(", best {:.2f}x (#{})", m_status.bestSpeedupRoot->value,
                            m_status.best ? m_status.best->value : 0);
    }
    if (m_status.evaluationsPerSecond > 0) {
        text += fmt::format(", {:.2f}/s", m_status.evaluationsPerSecond);
    }
    if (m_status.secondsLeft) {
        text += fmt::format(", {} left", durationText(*m_status.secondsLeft));
    }
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
    m_drawn = true;
}

} // namespace espalier::ctl
