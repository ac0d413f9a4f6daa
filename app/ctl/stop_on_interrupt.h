// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/ctl/interrupts.h"
#include "core/base/fd.h"

#include <poll.h>
#include <stop_token>
#include <sys/eventfd.h>
#include <thread>

namespace espalier::ctl {

/// Turns Ctrl-C into a stop request while a blocking call runs. Construct before the call starts threads.
class StopOnInterrupt
{
public:
    StopOnInterrupt()
        : m_wake(::eventfd(0, EFD_CLOEXEC)), m_thread([this](const std::stop_token& ended) { watch(ended); })
    {
    }
    ~StopOnInterrupt()
    {
        m_thread.request_stop();
        ::eventfd_write(m_wake.get(), 1);
    }
    std::stop_token token() const { return m_source.get_token(); }

private:
    void watch(const std::stop_token& ended)
    {
        while (!ended.stop_requested()) {
            pollfd polled[2] = {{m_interrupts.descriptor(), POLLIN, 0}, {m_wake.get(), POLLIN, 0}};
            ::poll(polled, 2, -1);
            if (m_interrupts.take()) {
                m_source.request_stop();
            }
        }
    }

    Interrupts m_interrupts;
    UniqueFd m_wake;
    std::stop_source m_source;
    std::jthread m_thread; ///< last: started when the rest is there
};

} // namespace espalier::ctl
