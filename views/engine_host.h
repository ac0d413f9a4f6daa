// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/engine_link.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace espalier {

/// The engine of this process: opens, posts to and destroys Engine objects on one thread of its own, in order, because
/// opening reads files and closing may take two seconds. Thread: methods from the GUI thread. Ownership: the destructor
/// closes the session and joins.
class EngineHost : public EngineLink
{
public:
    EngineHost();
    ~EngineHost() override;
    void open(EngineOptions options, Engine::Observer observer) override;
    void post(command::Command command) override;
    void close() override;
    std::vector<std::string> modelNames() const override;
    std::vector<StrategyDescription> strategies() const override;

private:
    void enqueue(std::function<void()> job);
    void run();

    std::unique_ptr<Engine> m_engine; ///< host thread only
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<std::function<void()>> m_jobs;
    bool m_ending = false;
    std::thread m_thread; ///< last member: starts when the others exist
};

} // namespace espalier
