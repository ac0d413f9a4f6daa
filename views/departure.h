// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QObject>
#include <functional>

class QWidget;

namespace espalier {

class ClosingPause;
class Workbench;

/// Whatever ends a session: it asks before a running search ends, and the window closes once the session has ended.
/// Thread: GUI. The window owns it and calls mayClose() from its closeEvent.
class Departure : public QObject
{
    Q_OBJECT
public:
    Departure(Workbench& bench, QWidget* window);

    /// Does `then` at once where no search runs, else after the person has agreed. `what` ends the search: "Opening
    /// big.espalier"; `act`: the button's words.
    void askFirst(const QString& what, const QString& act, std::function<void()> then);

    /// Whether the window closes now. Else it asks, or waits for an answer that is coming and for the session to end,
    /// and closes the window itself; who closes it a second time while it waits does not wait.
    bool mayClose();
    /// The session had not ended when the window was closed: the process is to end without waiting for it.
    bool isCutShort() const { return m_cutShort; }

signals:
    void waiting(const QString& sentence); ///< for the session to end, with what it still does

private:
    QString whatRuns() const;

    Workbench& m_bench;
    QWidget* m_window;
    ClosingPause* m_pause; ///< for an answer that is coming
    bool m_agreed = false, m_waiting = false, m_ended = false, m_cutShort = false;
};

} // namespace espalier
