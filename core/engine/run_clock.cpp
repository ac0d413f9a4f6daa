// SPDX-License-Identifier: Apache-2.0
#include "core/engine/run_clock.h"

namespace espalier {

void RunClock::start()
{
    if (!m_since) {
        m_since = m_now();
    }
}

void RunClock::stop()
{
    if (m_since) {
        m_ended += m_now() - *m_since;
        m_since.reset();
    }
}

double RunClock::total() const
{
    return m_before + m_ended + (m_since ? m_now() - *m_since : 0);
}

double RunClock::rate() const
{
    const double seconds = total() - m_before;
    return m_evaluated > 0 && seconds > 0 ? static_cast<double>(m_evaluated) / seconds : 0;
}

} // namespace espalier
