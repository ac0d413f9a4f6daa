// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/node_text.h"
#include "core/model/session.h"

#include <map>
#include <string>
#include <vector>

namespace espalier::ctl {

/// Progress of a run on standard error: one row for every node that finished, and, on a terminal, one status line below
/// that is rewritten in place (what runs, best so far, rate, time left). Thread: one.
class LiveTable
{
public:
    explicit LiveTable(bool terminal) : m_terminal(terminal) {}
    ~LiveTable() { clearStatus(); }

    void opened(const SessionInfo& info);
    void changed(const std::vector<NodeSummary>& nodes, const RunStatus& status);
    void line(const std::string& text); ///< above the status line
    void clearStatus();                 ///< before anything else is printed

private:
    void drawStatus();

    bool m_terminal;
    bool m_drawn = false;
    bool m_headed = false;
    std::map<std::int64_t, NodeState> m_seen;
    RunStatus m_status;
    Provenance m_provenance = Provenance::Model; ///< of the device's figures
};

/// One row: "#7   passed      ≈1.82x  ≈12.3 us  playbook  Row in registers".
std::string rowOf(const NodeSummary& node);

} // namespace espalier::ctl
