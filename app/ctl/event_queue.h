// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/model/event.h"

#include <deque>
#include <mutex>
#include <sys/eventfd.h>

namespace espalier::ctl {

/// Carries events from the engine's thread to the main one. push() from any thread; the rest from the main thread:
/// wait for descriptor() to become readable, then take().
class EventQueue
{
public:
    EventQueue() : m_wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

    void push(event::Event event)
    {
        {
            const std::lock_guard lock(m_mutex);
            m_events.push_back(std::move(event));
        }
        ::eventfd_write(m_wake.get(), 1);
    }

    int descriptor() const { return m_wake.get(); }

    std::deque<event::Event> take()
    {
        eventfd_t ignored = 0;
        ::eventfd_read(m_wake.get(), &ignored);
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_events, {});
    }

private:
    UniqueFd m_wake;
    std::mutex m_mutex;
    std::deque<event::Event> m_events;
};

} // namespace espalier::ctl
