// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_clock.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <sys/mman.h>
#include <vector>

namespace {

struct DeviceClock {
    std::mutex mutex;
    std::uint64_t worked = 0;             ///< here, and through memory that is gone
    std::vector<std::uint64_t*> exported; ///< pages of this process's own memory
    std::vector<std::uint64_t*> imported; ///< one of them tells the exporter of each piece of work
};

DeviceClock& deviceClock()
{
    static auto* theClock = new DeviceClock; // outlives whatever static still holds memory
    return *theClock;
}

std::uint64_t read(std::uint64_t* page)
{
    return std::atomic_ref(*page).load();
}

} // namespace

ClockPage::ClockPage(int fd, std::size_t offset, bool imported) : m_imported(imported)
{
    void* mapped = ::mmap(nullptr, clockPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
    m_page = mapped == MAP_FAILED ? nullptr : static_cast<std::uint64_t*>(mapped);
    if (m_page) {
        std::lock_guard lock(deviceClock().mutex);
        (imported ? deviceClock().imported : deviceClock().exported).push_back(m_page);
    }
}

ClockPage::~ClockPage()
{
    if (m_page) {
        std::lock_guard lock(deviceClock().mutex);
        std::erase(m_imported ? deviceClock().imported : deviceClock().exported, m_page);
        deviceClock().worked += m_imported ? 0 : read(m_page);
        ::munmap(m_page, clockPageBytes);
    }
}

std::uint64_t fakeNow()
{
    std::lock_guard lock(deviceClock().mutex);
    return std::accumulate(deviceClock().exported.begin(), deviceClock().exported.end(), deviceClock().worked,
                           [](std::uint64_t sum, std::uint64_t* page) { return sum + read(page); });
}

void fakeWork(std::uint64_t nanoseconds)
{
    std::lock_guard lock(deviceClock().mutex);
    deviceClock().worked += nanoseconds;
    if (!deviceClock().imported.empty()) {
        std::atomic_ref(*deviceClock().imported.front()).fetch_add(nanoseconds);
    }
}

extern "C" {

/// What the judge's clock reads in place of the machine's (core/device/cuda/driver_api.h).
unsigned long long espalierDriverClock()
{
    return fakeNow();
}

/// For candidates: their work on the device takes so much longer.
void fakeDeviceWorks(unsigned microseconds)
{
    fakeWork(std::uint64_t{1000} * microseconds);
}
}
