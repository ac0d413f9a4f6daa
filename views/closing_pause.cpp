// SPDX-License-Identifier: GPL-3.0-only
#include "views/closing_pause.h"

#include "views/workbench.h"

#include <QTimer>

namespace espalier {

namespace {
constexpr int patienceMilliseconds = 2000; ///< with an engine that has something better to do than to pause
}

ClosingPause::ClosingPause(Workbench& bench, QObject* parent) : QObject(parent), m_bench(bench)
{
    connect(&bench.nodes(), &NodeStore::statusChanged, this, &ClosingPause::follow);
    connect(&bench, &Workbench::sessionClosed, this, &ClosingPause::end);
}

bool ClosingPause::mayClose()
{
    const RunStatus& status = m_bench.nodes().status();
    const bool active = status.state == RunState::Running || status.state == RunState::Pausing;
    if (m_state != State::Open || !m_bench.session() || !active || status.asking == 0) {
        return true;
    }
    m_state = State::Waiting;
    m_bench.bridge().send(command::Pause{});
    QTimer::singleShot(patienceMilliseconds, this, [this] {
        if (m_bench.nodes().status().state == RunState::Running) {
            end();
        }
    });
    follow();
    return false;
}

void ClosingPause::follow()
{
    const RunStatus& status = m_bench.nodes().status();
    if (m_state != State::Waiting || status.state == RunState::Running) {
        return;
    }
    if (status.state == RunState::Pausing && status.readsOn) {
        emit waits(tr("An answer of a model is coming: the window closes when it is there, in %1 s at most. Close it "
                      "again not to wait.")
                       .arg(*status.readsOn));
    } else {
        end(); // a stage that runs is abandoned, as ever
    }
}

void ClosingPause::end()
{
    if (m_state == State::Waiting) {
        m_state = State::Over;
        emit closeNow();
    }
}

} // namespace espalier
