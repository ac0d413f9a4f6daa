// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"

#include <csignal>
#include <pthread.h>
#include <sys/signalfd.h>

namespace espalier::ctl {

/// Ctrl-C and SIGTERM as a readable descriptor. Construct before any other thread exists: the signals are blocked in
/// this thread and in all that it starts (children reset their mask).
class Interrupts
{
public:
    Interrupts()
    {
        sigset_t set;
        ::sigemptyset(&set);
        ::sigaddset(&set, SIGINT);
        ::sigaddset(&set, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
        m_fd.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    }
    int descriptor() const { return m_fd.get(); }
    /// The next one: SIGINT or SIGTERM; 0: none has come.
    int take()
    {
        signalfd_siginfo info = {};
        return ::read(m_fd.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
    }

private:
    UniqueFd m_fd;
};

} // namespace espalier::ctl
