// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/engine/session_view.h"
#include "views/engine_link.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace espalier {

/// The engine of this process: opens, posts to and destroys Engine objects on one thread of its own, in order, because
/// opening reads files and closing may take two seconds. A session that cannot be searched here is opened to be looked
/// at. Thread: methods from the GUI thread. Ownership: the destructor closes the session and joins.
class EngineHost : public EngineLink
{
public:
    EngineHost();
    ~EngineHost() override;
    void open(EngineOptions options, Engine::Observer observer) override;
    void takeOver() override;
    void post(command::Command command, std::uint64_t ticket) override;
    void close(std::function<void()> closed) override;
    std::vector<std::string> modelNames() const override;
    std::vector<StrategyDescription> strategies() const override;

private:
    /// One open session: searched or looked at; neither: none.
    struct Seat {
        std::filesystem::path file;
        std::unique_ptr<Engine> engine;
        std::unique_ptr<SessionView> view;
        std::shared_ptr<std::atomic<bool>> ended; ///< the engine has, by itself or by command::Stop
    };

    void openNext(EngineOptions options, const Engine::Observer& observer);
    void enqueue(std::function<void()> job);
    void run();
    std::function<void()> nextJob();

    Seat m_seat, m_next;                                                     ///< host thread only
    std::chrono::steady_clock::duration m_between = std::chrono::seconds(1); ///< two looks at what others write
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<std::function<void()>> m_jobs;
    bool m_ending = false;
    std::thread m_thread; ///< last member: starts when the others exist
};

} // namespace espalier
