// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

#include <chrono>
#include <string>

namespace espalier::judge {

/// The counters of one GPU, which serve one process at a time: a lock file that every Espalier on the machine takes
/// before it starts a counter run. Held while the object lives; a process that dies gives it back.
class CounterLock
{
public:
    /// Waits at most `patience`. Errors: Busy. Where no lock file can be made, it goes on without one: CUPTI itself
    /// then answers 26, which is retried.
    static Result<CounterLock> take(const std::string& uuid, std::chrono::milliseconds patience);

private:
    explicit CounterLock(UniqueFd file) : m_file(std::move(file)) {}
    UniqueFd m_file;
};

} // namespace espalier::judge
