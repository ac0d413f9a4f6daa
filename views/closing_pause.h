// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QObject>

namespace espalier {

class Workbench;

/// Between the wish to close the window and its end: an answer of a model that is coming has been paid for and is read
/// on, for as long as the engine allows; nothing else is waited for. Thread: GUI. The bench outlives it.
class ClosingPause : public QObject
{
    Q_OBJECT
public:
    explicit ClosingPause(Workbench& bench, QObject* parent = nullptr);
    /// Whether the window may close now. False: the engine was asked to pause, and closeNow() comes when what it waits
    /// for has ended. Who asks a second time does not wait.
    bool mayClose();
    bool isWaiting() const { return m_state == State::Waiting; }

signals:
    void waits(const QString& sentence); ///< again and again, with the seconds left
    void closeNow();

private:
    void follow();
    void end();

    Workbench& m_bench;
    enum class State { Open, Waiting, Over } m_state = State::Open;
};

} // namespace espalier
