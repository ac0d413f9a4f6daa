// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/engine/engine.h"
#include "core/engine/strategies.h"

namespace espalier {

/// What the window needs of an engine, so that tests feed it scripted events and a later version a socket.
/// Thread: GUI. open() returns at once; its answer comes through the observer, on any thread: event::SessionOpened, or
/// event::Closed with the error. close() returns at once too; a later open() waits, off the GUI thread, until the old
/// session is shut. The destructor closes and waits (bounded, about two seconds).
class EngineLink
{
public:
    virtual ~EngineLink() = default;
    virtual void open(EngineOptions options, Engine::Observer observer) = 0;
    virtual void post(command::Command command) = 0;
    virtual void close() = 0;
    /// Names of the models that are saved for the user; quick, any time.
    virtual std::vector<std::string> modelNames() const { return {}; }
    /// What may take over the search; quick, any time.
    virtual std::vector<StrategyDescription> strategies() const { return {}; }
};

} // namespace espalier
