// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

namespace espalier::test {

/// Seconds of processor time that this thread has used: what a piece of work costs, whatever else the machine does.
inline double cpuSeconds()
{
    timespec time = {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

} // namespace espalier::test
