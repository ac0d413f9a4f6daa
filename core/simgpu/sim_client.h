// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/message_socket.h"
#include "core/simgpu/call_executor.h"
#include "core/simgpu/client_memory.h"
#include "core/simgpu/module_cache.h"
#include "core/simgpu/sim_report.h"
#include "core/simgpu/simgpu_client.h"
#include "core/simgpu/simgpu_protocol.h"
#include "core/simgpu/work_queue.h"

#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace espalier::sim {

/// What all clients of one simgpu process share.
struct SharedDevice {
    DeviceProfile profile;
    DeviceLimits limits;
    std::uint64_t clientBytes = 0;
    const std::atomic<bool>* cancel = nullptr;
    ModuleCache modules;
};

/// One runner as simgpu sees it: its memory, modules, streams and the calls of its open block. Whatever the runner
/// sends is checked; a message that a correct runtime cannot have sent ends the connection, and only this one.
/// Thread: simgpu's main thread. Owns the socket's end.
class SimClient
{
public:
    SimClient(MessageSocket socket, SharedDevice& device);

    int fd() const { return m_socket ? m_socket->fd() : -1; } ///< -1: disconnected
    /// Reads and handles one message that is there; disconnects on a broken one.
    void serveOne();

    Result<std::uint64_t> grant(const GrantRequest& request, const UniqueFd& descriptor);
    Result<void> beginBlock(const BlockLimits& limits);
    BlockReport finishBlock();
    BlockReport releaseDeferred();

private:
    enum class BlockState { Idle, Open, Ended };
    struct EndedCall {
        CallReport report;
        std::vector<WorkId> ends; ///< of the given stream when the call ended
        WorkId first = 0, last = 0;
    };
    using Handled = Result<void>;

    Handled handle(Request request, ByteReader& from, Message& message);
    Handled handleMemory(Request request, ByteReader& from);
    Handled handleModule(ByteReader& from, Message& message);
    Handled handleKernel(ByteReader& from);
    Handled handleVariable(ByteReader& from);
    Handled handleStream(Request request, ByteReader& from);
    Handled handleLaunch(ByteReader& from);
    Handled handleTransfer(Request request, ByteReader& from);
    Handled handleCall(Request request, ByteReader& from);
    Handled synchronize(std::uint32_t stream);
    Handled enqueue(std::uint32_t stream, Work work);
    Handled answer(const ByteWriter& writer);
    Handled broken(std::string_view what) const;

    LoadedModule load(std::string_view fatbin);
    std::string placeVariables(LoadedModule& loaded);
    bool execute(const std::vector<WorkId>& ids, CallReport& report);
    void finishCall(EndedCall& call);
    void note(std::vector<std::string>& list, std::string_view text) const;
    void disconnect(std::string why);
    void drain();

    SharedDevice& m_device;
    std::optional<MessageSocket> m_socket;
    std::string m_disconnected;
    ClientMemory m_memory;
    std::deque<LoadedModule> m_modules; ///< a deque: kernels point into it
    std::vector<LoadedKernel> m_kernels;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> m_kernelByName;
    WorkQueue m_queue;
    std::uint64_t m_queuedBytes = 0;
    CallExecutor m_executor;

    BlockState m_block = BlockState::Idle;
    BlockLimits m_limits;
    bool m_callOpen = false;
    CallReport m_current; ///< of the open call, or of what runs before the first
    WorkId m_currentFirst = 1;
    std::vector<EndedCall> m_ended;
    std::uint64_t m_stray = 0;
    bool m_stopped = false; ///< after a fault or something unsupported nothing runs any more
    int m_stickyError = 0;
};

} // namespace espalier::sim
