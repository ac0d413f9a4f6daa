// SPDX-License-Identifier: GPL-3.0-only
#include "views/engine_host.h"

#include "core/engine/model_profiles.h"

#include <algorithm>
#include <utility>

namespace espalier {

EngineHost::EngineHost() : m_thread([this] { run(); }) {}

EngineHost::~EngineHost()
{
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
    }
    m_wake.notify_one();
    m_thread.join();
}

void EngineHost::open(EngineOptions options, Engine::Observer observer)
{
    enqueue([this, options = std::move(options), observer = std::move(observer)]() mutable {
        openNext(std::move(options), observer);
    });
}

void EngineHost::openNext(EngineOptions options, const Engine::Observer& observer)
{
    m_next = {};
    if (m_seat.ended && *m_seat.ended) {
        m_seat = {}; // its file is free
    }
    const std::filesystem::path file = options.session;
    std::error_code ignored;
    if (m_seat.engine && std::filesystem::equivalent(file, m_seat.file, ignored)) {
        return observer(
            event::Closed{Error{ErrorCode::Busy, file.filename().string() + " is open in this window already."}});
    }
    auto ended = std::make_shared<std::atomic<bool>>(false);
    Result<std::unique_ptr<Engine>> opened = Engine::open(std::move(options), [observer, ended](const auto& event) {
        *ended = *ended || std::holds_alternative<event::Closed>(event);
        observer(event);
    });
    if (opened) {
        m_next = {file, std::move(*opened), nullptr, ended};
        return;
    }
    Result<std::unique_ptr<SessionView>> viewed =
        SessionView::open(file, opened.error().message, realListingSource(), observer);
    if (viewed) {
        m_next = {file, nullptr, std::move(*viewed), nullptr};
        return;
    }
    observer(event::Closed{opened.error()});
}

void EngineHost::takeOver()
{
    enqueue([this] { m_seat = std::exchange(m_next, {}); });
}

void EngineHost::post(command::Command command, std::uint64_t ticket)
{
    enqueue([this, command = std::move(command), ticket]() mutable {
        if (m_seat.engine) {
            m_seat.engine->post(std::move(command), ticket);
        } else if (m_seat.view) {
            m_seat.view->handle(command, ticket);
        }
    });
}

void EngineHost::close(std::function<void()> closed)
{
    enqueue([this, closed = std::move(closed)] {
        m_next = {};
        m_seat = {};
        if (closed) {
            closed();
        }
    });
}

void EngineHost::enqueue(std::function<void()> job)
{
    {
        const std::lock_guard lock(m_mutex);
        m_jobs.push_back(std::move(job));
    }
    m_wake.notify_one();
}

/// Empty: there is none, and it is time to look at what others have written, or to end.
std::function<void()> EngineHost::nextJob()
{
    std::unique_lock lock(m_mutex);
    const auto something = [this] { return m_ending || !m_jobs.empty(); };
    if (m_seat.view) {
        m_wake.wait_for(lock, m_between, something);
    } else {
        m_wake.wait(lock, something);
    }
    if (m_jobs.empty()) {
        return {};
    }
    std::function<void()> job = std::move(m_jobs.front());
    m_jobs.pop_front();
    return job;
}

void EngineHost::run()
{
    for (;;) {
        if (const std::function<void()> job = nextJob()) {
            job();
            continue;
        }
        if (const std::lock_guard lock(m_mutex); m_ending) {
            break;
        }
        // A large session takes seconds to read: whoever looks at it does not keep a core busy with that.
        const auto began = std::chrono::steady_clock::now();
        m_seat.view->refresh();
        m_between = std::max<std::chrono::steady_clock::duration>(std::chrono::seconds(1),
                                                                  10 * (std::chrono::steady_clock::now() - began));
    }
    m_next = {};
    m_seat = {};
}

std::vector<std::string> EngineHost::modelNames() const
{
    return savedProfileNames();
}

std::vector<StrategyDescription> EngineHost::strategies() const
{
    return strategyDescriptions();
}

} // namespace espalier
