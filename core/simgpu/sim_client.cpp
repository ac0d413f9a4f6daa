// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/sim_client.h"

#include "core/base/text.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

namespace espalier::sim {

namespace {

constexpr std::size_t maxQueued = 65536;
constexpr std::uint64_t maxQueuedBytes = std::uint64_t{256} << 20;
constexpr std::size_t maxDrained = 4 * maxQueued;
constexpr std::size_t maxCalls = 4096;
constexpr std::size_t maxNotes = 32;
constexpr std::size_t maxNoteBytes = 300;

/// What a real context answers once a launch was not possible at all.
constexpr int notSupported = 801;

} // namespace

SimClient::SimClient(MessageSocket socket, SharedDevice& device)
    : m_device(device), m_socket(std::move(socket)), m_memory(device.clientBytes),
      m_executor(device.profile, *device.cancel, m_memory, m_kernels)
{
    // An answer that the runner does not fetch must not stop the device for everybody else.
    const int flags = ::fcntl(m_socket->fd(), F_GETFL);
    ::fcntl(m_socket->fd(), F_SETFL, flags | O_NONBLOCK);
}

void SimClient::disconnect(std::string why)
{
    m_disconnected = std::move(why);
    m_socket.reset();
}

void SimClient::serveOne()
{
    auto message = m_socket->receive(std::chrono::milliseconds(0));
    if (!message) {
        disconnect(message.error().message);
        return;
    }
    ByteReader from(message->bytes);
    const auto request = static_cast<Request>(from.get<std::uint8_t>());
    if (const Handled handled = handle(request, from, *message); !handled) {
        disconnect(handled.error().message);
    }
}

/// Handles what the runner had sent by now, up to the end of its block. Bounded: a runner that never stops sending
/// must not hold the device.
void SimClient::drain()
{
    const BlockState before = m_block;
    for (std::size_t handled = 0; m_socket && m_block == before && !m_device.cancel->load(); ++handled) {
        char byte;
        if (::recv(m_socket->fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0) {
            return;
        }
        if (handled > maxDrained) {
            disconnect("the runner floods the simulated device with messages");
            return;
        }
        serveOne();
    }
}

SimClient::Handled SimClient::broken(std::string_view what) const
{
    return fail(ErrorCode::Protocol, fmt::format("the runner broke the simulated device's protocol: {}", what));
}

SimClient::Handled SimClient::answer(const ByteWriter& writer)
{
    return m_socket->send(writer.bytes());
}

SimClient::Handled SimClient::handle(Request request, ByteReader& from, Message& message)
{
    switch (request) {
    case Request::Hello: {
        ByteWriter to;
        to.put(m_device.limits);
        return answer(to);
    }
    case Request::MapNext:
    case Request::Unmap:
    case Request::Malloc:
        return handleMemory(request, from);
    case Request::Module:
        return handleModule(from, message);
    case Request::Kernel:
        return handleKernel(from);
    case Request::Variable:
        return handleVariable(from);
    case Request::StreamCreate:
    case Request::StreamDestroy:
    case Request::EventRecord:
    case Request::StreamWait:
        return handleStream(request, from);
    case Request::Launch:
        return handleLaunch(from);
    case Request::Memset:
    case Request::CopyDevice:
    case Request::CopyIn:
    case Request::Free:
        return handleTransfer(request, from);
    case Request::Synchronize:
    case Request::Status:
    case Request::Misuse:
    case Request::Unsupported:
    case Request::BeginCall:
    case Request::EndCall:
    case Request::EndBlock:
        return handleCall(request, from);
    }
    return broken("a message of unknown kind");
}

SimClient::Handled SimClient::handleMemory(Request request, ByteReader& from)
{
    ByteWriter to;
    if (request == Request::MapNext) {
        const auto bytes = from.get<std::uint64_t>();
        const auto access = from.get<std::uint8_t>();
        const auto offset = from.get<std::uint64_t>();
        if (!from.done() || access > static_cast<std::uint8_t>(Grant::ReadWrite)) {
            return broken("a malformed map request");
        }
        const auto address = m_memory.fetchGrant(bytes, static_cast<Grant>(access), offset);
        to.put(static_cast<std::uint8_t>(address.has_value())).put(address.value_or(0));
        return answer(to);
    }
    const auto value = from.get<std::uint64_t>();
    if (!from.done()) {
        return broken("a malformed memory request");
    }
    if (request == Request::Unmap) {
        return m_memory.dropGrant(value) ? Handled{} : broken("it unmapped an address that is not mapped");
    }
    to.put(m_memory.allocate(value, Access::ReadWrite, "memory of cudaMallocAsync").value_or(0));
    return answer(to);
}

SimClient::Handled SimClient::handleStream(Request request, ByteReader& from)
{
    const auto first = from.get<std::uint32_t>();
    bool good = from.ok();
    switch (request) {
    case Request::StreamCreate: {
        const bool blocking = from.get<std::uint8_t>() != 0;
        good = from.done() && m_queue.createStream(first, blocking);
        break;
    }
    case Request::StreamDestroy:
        good = from.done() && m_queue.destroyStream(first);
        break;
    case Request::EventRecord: {
        const auto stream = from.get<std::uint32_t>();
        good = from.done() && m_queue.recordEvent(first, stream);
        break;
    }
    default: {
        const auto event = from.get<std::uint32_t>();
        good = from.done() && m_queue.waitEvent(first, event);
        break;
    }
    }
    return good ? Handled{} : broken("a stream or event that cannot be, or too many of them");
}

SimClient::Handled SimClient::enqueue(std::uint32_t stream, Work work)
{
    if (!m_queue.hasStream(stream)) {
        return broken("work for a stream that does not exist");
    }
    if (m_stopped) {
        return {};
    }
    // Between the judge's preparing a block and its beginning, or after its end, nobody covers the work: it is dropped.
    if (m_block != BlockState::Open && work.kind != Work::Kind::Free) {
        ++m_stray;
        return {};
    }
    m_queuedBytes += work.data.size();
    if (m_queue.size() >= maxQueued || m_queuedBytes > maxQueuedBytes) {
        return broken(fmt::format("more than {} launches or {} in one block", maxQueued, bytesText(maxQueuedBytes)));
    }
    m_queue.enqueue(stream, std::move(work));
    return {};
}

SimClient::Handled SimClient::handleLaunch(ByteReader& from)
{
    Work work;
    const auto stream = from.get<std::uint32_t>();
    work.kernel = from.get<std::uint32_t>();
    for (Dim3* dim : {&work.grid, &work.block}) {
        dim->x = from.get<std::uint32_t>();
        dim->y = from.get<std::uint32_t>();
        dim->z = from.get<std::uint32_t>();
    }
    work.dynamicShared = from.get<std::uint32_t>();
    work.data = from.text();
    if (!from.done() || work.kernel >= m_kernels.size()) {
        return broken("a malformed launch");
    }
    const KernelFacts& facts = *m_kernels[work.kernel].facts;
    const Dim3 &grid = work.grid, &block = work.block;
    const bool blockFits = block.x >= 1 && block.y >= 1 && block.z >= 1 && block.x <= 1024 && block.y <= 1024 &&
                           block.z <= 64 && block.x * block.y * block.z <= 1024;
    const bool gridFits =
        grid.x >= 1 && grid.y >= 1 && grid.z >= 1 && grid.x <= 0x7fffffff && grid.y <= 65535 && grid.z <= 65535;
    const bool sharedFits =
        std::uint64_t{facts.staticSharedBytes} + work.dynamicShared <= m_device.limits.sharedPerBlockOptin;
    if (!blockFits || !gridFits || !sharedFits || work.data.size() != facts.paramBytes) {
        return broken(fmt::format("a launch of {} that CUDA refuses", facts.name));
    }
    return enqueue(stream, std::move(work));
}

SimClient::Handled SimClient::handleTransfer(Request request, ByteReader& from)
{
    Work work;
    const auto stream = from.get<std::uint32_t>();
    work.to = from.get<std::uint64_t>();
    switch (request) {
    case Request::Memset:
        work.kind = Work::Kind::Memset;
        work.value = from.get<std::uint8_t>();
        work.bytes = from.get<std::uint64_t>();
        break;
    case Request::CopyDevice:
        work.kind = Work::Kind::CopyDevice;
        work.from = from.get<std::uint64_t>();
        work.bytes = from.get<std::uint64_t>();
        break;
    case Request::CopyIn:
        work.kind = Work::Kind::CopyIn;
        work.data = from.text();
        work.bytes = work.data.size();
        break;
    default:
        work.kind = Work::Kind::Free;
        break;
    }
    if (!from.done() || (work.kind != Work::Kind::Free && work.bytes == 0)) {
        return broken("a malformed copy");
    }
    return enqueue(stream, std::move(work));
}

SimClient::Handled SimClient::synchronize(std::uint32_t stream)
{
    if (stream != allStreams && !m_queue.hasStream(stream)) {
        return broken("it waits for a stream that does not exist");
    }
    // Only while the candidate's own call runs: otherwise waiting would pull work out of the judge's order.
    if (m_block == BlockState::Open && m_callOpen) {
        execute(m_queue.reachableFrom(m_queue.endOf(stream)), m_current);
    }
    return answer(ByteWriter().put(std::int32_t{m_stickyError}));
}

SimClient::Handled SimClient::handleCall(Request request, ByteReader& from)
{
    switch (request) {
    case Request::Synchronize: {
        const auto stream = from.get<std::uint32_t>();
        return from.done() ? synchronize(stream) : broken("a malformed synchronize");
    }
    case Request::Status:
        return answer(ByteWriter().put(std::int32_t{m_stickyError}));
    case Request::Misuse:
        note(m_current.misuse, from.text());
        return {};
    case Request::Unsupported:
        note(m_current.unsupported, from.text());
        return {};
    case Request::BeginCall:
        if (m_block != BlockState::Open || m_callOpen) {
            return broken("a call begins outside a block");
        }
        m_callOpen = true;
        return answer(ByteWriter().put(std::int32_t{m_stickyError}));
    case Request::EndCall: {
        m_current.hostStatus = from.get<std::int32_t>();
        m_current.hostMicroseconds = from.get<double>();
        if (!from.done() || !m_callOpen || m_ended.size() >= maxCalls) {
            return broken("a call ends that did not begin");
        }
        m_callOpen = false;
        m_ended.push_back({std::exchange(m_current, {}), m_queue.endOf(givenStream), m_currentFirst, m_queue.lastId()});
        m_currentFirst = m_queue.lastId() + 1;
        return {};
    }
    default:
        if (m_block != BlockState::Open || m_callOpen) {
            return broken("a block ends that did not begin");
        }
        m_block = BlockState::Ended;
        return {};
    }
}

void SimClient::note(std::vector<std::string>& list, std::string_view text) const
{
    std::string clean = printable(text, maxNoteBytes);
    if (list.size() < maxNotes && std::ranges::find(list, clean) == list.end()) {
        list.push_back(std::move(clean));
    }
}

Result<std::uint64_t> SimClient::grant(const GrantRequest& request, const UniqueFd& descriptor)
{
    return m_memory.grant(request, descriptor);
}

Result<void> SimClient::beginBlock(const BlockLimits& limits)
{
    if (m_block != BlockState::Idle) {
        return fail(ErrorCode::Protocol, "a block of this runner is still open: finish it first");
    }
    // What the runner sent until now is handled first, so it cannot slip into the new block.
    drain();
    m_block = BlockState::Open;
    m_limits = limits;
    return {};
}

/// Executes in order and keeps to the call's budget; false once nothing may run any more.
bool SimClient::execute(const std::vector<WorkId>& ids, CallReport& report)
{
    for (const WorkId id : ids) {
        if (m_stopped) {
            return false;
        }
        const std::uint64_t used = report.counters.threadInstructions;
        const std::uint64_t limit = m_limits.maxThreadInstructions;
        const std::uint64_t left = limit == 0 ? 0 : std::max<std::uint64_t>(limit - std::min(limit, used), 1);
        const Work& work = m_queue.work(id);
        m_queuedBytes -= work.data.size();
        if (!m_executor.execute(work, left, report)) {
            m_stopped = true;
            m_stickyError = report.fault ? report.fault->cudaCode : notSupported;
            m_queue.clear();
            m_queuedBytes = 0;
            return false;
        }
        m_queue.finished(id);
    }
    return true;
}

void SimClient::finishCall(EndedCall& call)
{
    if (!execute(m_queue.reachableFrom(call.ends), call.report)) {
        return;
    }
    for (const WorkId id : m_queue.pending()) {
        if (id >= call.first && id <= call.last && m_queue.work(id).kind != Work::Kind::Free) {
            ++call.report.unjoined;
        }
    }
}

BlockReport SimClient::finishBlock()
{
    drain();
    BlockReport report;
    report.ended = m_block == BlockState::Ended;
    for (EndedCall& call : m_ended) {
        finishCall(call);
        report.calls.push_back(std::move(call.report));
        if (m_stopped) {
            break;
        }
    }
    // A call that never ended still says what went wrong in it.
    if (m_callOpen && (m_current.fault || !m_current.unsupported.empty() || !m_current.misuse.empty())) {
        report.calls.push_back(std::move(m_current));
    }
    report.stray = std::exchange(m_stray, 0);
    report.disconnected = m_disconnected;
    m_ended.clear();
    m_current = {};
    m_currentFirst = m_queue.lastId() + 1;
    m_callOpen = false;
    m_block = BlockState::Idle;
    return report;
}

BlockReport SimClient::releaseDeferred()
{
    BlockReport report;
    report.ended = true;
    report.calls.emplace_back();
    execute(m_queue.pending(), report.calls.back());
    report.stray = std::exchange(m_stray, 0);
    report.disconnected = m_disconnected;
    return report;
}

} // namespace espalier::sim
