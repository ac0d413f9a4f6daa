// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/engine/engine.h"
#include "core/engine/strategies.h"

namespace espalier {

/// What the window needs of an engine, so that tests feed it scripted events and a later version a socket.
/// Thread: GUI. Everything returns at once and happens in the order of the calls. The destructor closes and waits
/// (bounded, about two seconds).
class EngineLink
{
public:
    virtual ~EngineLink() = default;
    /// Opens a session beside the one that is open, which goes on. The answer comes through the observer, on any
    /// thread: event::SessionOpened, or event::Closed with the error.
    virtual void open(EngineOptions options, Engine::Observer observer) = 0;
    /// What was opened last takes the place of the session before it, which is closed.
    virtual void takeOver() = 0;
    /// To the session that was taken over last. `ticket`: as Engine::post's.
    virtual void post(command::Command command, std::uint64_t ticket) = 0;
    /// Closes whatever is open or opening; `closed` is called then, on any thread.
    virtual void close(std::function<void()> closed) = 0;
    /// Names of the models that are saved for the user; quick, any time.
    virtual std::vector<std::string> modelNames() const { return {}; }
    /// What may take over the search; quick, any time.
    virtual std::vector<StrategyDescription> strategies() const { return {}; }
};

} // namespace espalier
