// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// The stand-in device's clock. It is moved by hand: only work that is done on the device moves it, by what the work
/// says it takes, so that no busy machine changes a time. A runner's work shows in the judge's process, too: every
/// piece of device memory has one page more than was asked for, in which stands how long those worked who imported it.

/// Bytes of that page, behind the memory itself.
constexpr std::size_t clockPageBytes = 4096;

class ClockPage
{
public:
    /// Of the memory file `fd`, whose own bytes end at `offset`. `imported`: this process works, and its exporter
    /// looks.
    ClockPage(int fd, std::size_t offset, bool imported);
    ~ClockPage();
    ClockPage(const ClockPage&) = delete;
    ClockPage& operator=(const ClockPage&) = delete;

private:
    std::uint64_t* m_page;
    bool m_imported;
};

/// Nanoseconds that this process and those that imported its memory have worked.
std::uint64_t fakeNow();
void fakeWork(std::uint64_t nanoseconds);
