// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/live_table.h"

#include "app/ctl/output.h"
#include "app/ctl/status_line.h"

#include <cstdio>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace espalier::ctl {

namespace {

/// fmt counts bytes of a text without a locale.
std::string padded(const std::string& text, std::size_t width)
{
    const std::size_t columns = columnsOf(text);
    return text + std::string(columns < width ? width - columns : 1, ' ');
}

/// Of the terminal as it is now: a window is made smaller during a run.
std::size_t terminalColumns()
{
    constexpr std::size_t usual = 80;
    winsize size = {};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

// Where the status line begins is kept by the terminal: lines that it wraps anew in another width are then cleared
// whole.
constexpr const char* keepPlace = "\0337";
constexpr const char* backAndClear = "\0338\033[J";

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
    m_provenance = info.provenance;
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
        std::fputs(backAndClear, stderr);
        m_drawn = false;
    }
}

void LiveTable::drawStatus()
{
    if (!m_terminal || m_status.state == RunState::Idle) {
        return;
    }
    clearStatus();
    // The last column stays free: some terminals go to the next line once it is written to.
    const std::string text = keepPlace + statusLine(m_status, m_provenance, terminalColumns() - 1);
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
    m_drawn = true;
}

} // namespace espalier::ctl
