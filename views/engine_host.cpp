// SPDX-License-Identifier: GPL-3.0-only
#include "views/engine_host.h"

#include "core/engine/model_profiles.h"

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
        m_engine.reset();
        Result<std::unique_ptr<Engine>> opened = Engine::open(std::move(options), observer);
        if (opened) {
            m_engine = std::move(*opened);
        } else {
            observer(event::Closed{opened.error()});
        }
    });
}

void EngineHost::post(command::Command command)
{
    enqueue([this, command = std::move(command)]() mutable {
        if (m_engine) {
            m_engine->post(std::move(command));
        }
    });
}

void EngineHost::close()
{
    enqueue([this] { m_engine.reset(); });
}

void EngineHost::enqueue(std::function<void()> job)
{
    {
        const std::lock_guard lock(m_mutex);
        m_jobs.push_back(std::move(job));
    }
    m_wake.notify_one();
}

void EngineHost::run()
{
    for (;;) {
        std::function<void()> job;
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait(lock, [this] { return m_ending || !m_jobs.empty(); });
            if (m_jobs.empty()) {
                break;
            }
            job = std::move(m_jobs.front());
            m_jobs.pop_front();
        }
        job();
    }
    m_engine.reset();
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
