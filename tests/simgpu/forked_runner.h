// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/message_socket.h"
#include "core/device/runner_device.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace espalier::sim::test {

/// What the child knows when it calls an entry: the device addresses of its grants, in their order.
struct RunnerView {
    RunnerDevice& device;
    void* library = nullptr;
    std::vector<std::uint64_t> addresses;
};

/// One call of the library's function `entry`; returns what it returned.
using CallEntry = std::function<int(RunnerView& view, void* entry)>;

/// A runner in a forked child: maps its grants, loads a library against the shim and calls entries of it when told.
/// Thread: the test's. The destructor kills the child.
class ForkedRunner
{
public:
    ForkedRunner(UniqueFd client, const std::string& library, std::vector<std::pair<BufferGrant, std::size_t>> grants,
                 CallEntry call);
    ~ForkedRunner();

    bool ready(); ///< library loaded, grants mapped
    /// Runs a block of `count` calls; the first non-zero status, or nullopt when the child died or lost its device.
    std::optional<int> block(const std::string& entry, std::size_t count = 1);
    int waitForSignal(); ///< signal that ended the child, 0 when it left by itself

private:
    void runChild(UniqueFd client, const std::string& library,
                  const std::vector<std::pair<BufferGrant, std::size_t>>& grants, const CallEntry& call,
                  MessageSocket& parent);

    std::optional<MessageSocket> m_child;
    pid_t m_pid = -1;
};

} // namespace espalier::sim::test
