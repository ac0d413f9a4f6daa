// SPDX-License-Identifier: Apache-2.0
#include "core/engine/engine.h"

#include "core/base/fd.h"
#include "core/engine/engine_core.h"
#include "core/engine/model_profiles.h"

#include <mutex>
#include <sys/eventfd.h>
#include <thread>
#include <vector>

namespace espalier {

/// The thread and the command queue around an EngineCore.
class Engine::Impl
{
public:
    Impl(std::unique_ptr<EngineCore> core, Observer observer)
        : m_core(std::move(core)), m_observer(std::move(observer)), m_wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
          m_thread([this] { loop(); })
    {
    }

    ~Impl()
    {
        post(command::Stop{});
        m_thread.join();
    }

    void post(command::Command command, std::uint64_t ticket = 0)
    {
        {
            const std::lock_guard lock(m_mutex);
            m_commands.push_back({std::move(command), ticket});
        }
        (void)::eventfd_write(m_wake.get(), 1);
    }

private:
    struct Posted {
        command::Command command;
        std::uint64_t ticket;
    };

    void loop()
    {
        m_core->begin();
        while (!m_core->ended()) {
            for (const auto& [command, ticket] : takeCommands()) {
                const Result<void> done = m_core->perform(command);
                if (ticket != 0) {
                    m_observer(event::Answered{ticket, done ? std::nullopt : std::optional(done.error())});
                }
            }
            m_core->turn(m_wake.get(), -1);
            eventfd_t ignored = 0;
            (void)::eventfd_read(m_wake.get(), &ignored);
        }
        const std::optional<Error> error = m_core->closedBecause();
        m_core.reset(); // judge and compilers end on the thread that started them; the session is free again
        m_observer(event::Closed{error});
    }

    std::vector<Posted> takeCommands()
    {
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_commands, {});
    }

    std::unique_ptr<EngineCore> m_core;
    Observer m_observer;
    UniqueFd m_wake;
    std::mutex m_mutex;
    std::vector<Posted> m_commands;
    std::thread m_thread; ///< last: it uses everything above
};

Engine::Engine(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options, Observer observer)
{
    for (std::size_t i = 0; i < options.modelNames.size(); ++i) {
        ESPALIER_TRY(llm::ModelProfile profile, savedProfile(options.modelNames[i]));
        options.models.insert(options.models.begin() + static_cast<std::ptrdiff_t>(i), std::move(profile));
    }
    EngineParts parts = realParts(options);
    return open(std::move(options), std::move(observer), std::move(parts));
}

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options, Observer observer, EngineParts parts)
{
    ESPALIER_TRY(std::unique_ptr<EngineCore> core, EngineCore::open(options, std::move(parts), observer));
    return std::unique_ptr<Engine>(new Engine(std::make_unique<Impl>(std::move(core), std::move(observer))));
}

void Engine::post(command::Command command, std::uint64_t ticket)
{
    m_impl->post(std::move(command), ticket);
}

} // namespace espalier
