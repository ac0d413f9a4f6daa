// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/simgpu_server.h"

#include "core/simgpu/bulk_message.h"
#include "core/simgpu/report_wire.h"
#include "core/simgpu/sim_client.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <poll.h>

namespace espalier::sim {

namespace {

DeviceLimits limitsOf(const DeviceProfile& profile)
{
    DeviceLimits limits;
    limits.smMajor = profile.info.smMajor;
    limits.smMinor = profile.info.smMinor;
    limits.multiprocessors = profile.info.multiprocessors;
    limits.maxThreadsPerMultiprocessor = profile.maxThreadsPerMultiprocessor;
    limits.maxBlocksPerMultiprocessor = profile.maxBlocksPerMultiprocessor;
    limits.sharedPerMultiprocessor = profile.sharedPerMultiprocessor;
    // CUDA keeps 1 KiB of each block's share for itself, so one block gets that much less than the multiprocessor has.
    limits.sharedPerBlockOptin = profile.sharedPerMultiprocessor - limits.sharedReservedPerBlock;
    limits.l2Bytes = profile.info.l2Bytes;
    limits.totalBytes = profile.info.totalBytes;
    profile.info.name.copy(limits.name, sizeof limits.name - 1);
    return limits;
}

/// Serves one judge until it closes. Thread: simgpu's main thread; the only other party is the judge's cancel flag.
class Server
{
public:
    explicit Server(MessageSocket control) : m_control(std::move(control)) {}

    int run()
    {
        while (serveControlOrClients()) {
        }
        return 0;
    }

private:
    bool serveControlOrClients();
    bool serveControl();
    Result<std::string> answer(Control request, ByteReader& from, Message& message);
    Result<std::string> setUp(ByteReader& from, Message& message);
    Result<std::string> createClient(Message& message);
    Result<std::string> grant(ByteReader& from, Message& message);
    Result<SimClient*> client(ByteReader& from);

    MessageSocket m_control;
    HostMapping m_cancelPage;
    SharedDevice m_device;
    std::map<std::uint32_t, std::unique_ptr<SimClient>> m_clients;
    std::uint32_t m_nextClient = 1;
};

bool Server::serveControlOrClients()
{
    std::vector<pollfd> polled = {{m_control.fd(), POLLIN, 0}};
    std::vector<SimClient*> clients;
    for (const auto& [id, client] : m_clients) {
        if (client->fd() >= 0) {
            polled.push_back({client->fd(), POLLIN, 0});
            clients.push_back(client.get());
        }
    }
    if (::poll(polled.data(), polled.size(), -1) < 0) {
        return errno == EINTR;
    }
    // The judge first: it may be about to drop the client that keeps sending.
    if (polled[0].revents != 0) {
        return serveControl();
    }
    for (std::size_t i = 0; i < clients.size(); ++i) {
        if (polled[i + 1].revents != 0) {
            clients[i]->serveOne();
        }
    }
    return true;
}

bool Server::serveControl()
{
    auto message = m_control.receive();
    if (!message) {
        return false;
    }
    ByteReader from(message->bytes);
    const auto request = static_cast<Control>(from.get<std::uint8_t>());
    const Result<std::string> body = answer(request, from, *message);
    ByteWriter to;
    to.put(static_cast<std::uint8_t>(body.has_value()));
    if (!body) {
        to.put(static_cast<std::int32_t>(body.error().code)).text(body.error().message);
    }
    return sendBulk(m_control, to.take() + body.value_or("")).has_value();
}

Result<std::string> Server::answer(Control request, ByteReader& from, Message& message)
{
    if (request == Control::Setup) {
        return setUp(from, message);
    }
    if (!m_cancelPage.data()) {
        return fail(ErrorCode::Protocol, "simgpu has not been set up");
    }
    switch (request) {
    case Control::CreateClient:
        return createClient(message);
    case Control::Grant:
        return grant(from, message);
    case Control::Drop:
        m_clients.erase(from.get<std::uint32_t>());
        return std::string();
    case Control::Setup:
    case Control::BeginBlock:
    case Control::FinishBlock:
    case Control::Release:
        break;
    }
    ESPALIER_TRY(SimClient * client, this->client(from));
    if (request == Control::BeginBlock) {
        ESPALIER_CHECK(client->beginBlock({from.get<std::uint64_t>()}));
        return std::string();
    }
    if (request != Control::FinishBlock && request != Control::Release) {
        return fail(ErrorCode::Protocol, "simgpu got a request of unknown kind");
    }
    ByteWriter to;
    putReport(to, request == Control::FinishBlock ? client->finishBlock() : client->releaseDeferred());
    return to.take();
}

Result<std::string> Server::setUp(ByteReader& from, Message& message)
{
    const std::string json(from.text());
    const std::string name(from.text());
    m_device.clientBytes = from.get<std::uint64_t>();
    if (!from.done() || message.descriptors.size() != 1) {
        return fail(ErrorCode::Protocol, "simgpu got a malformed set-up");
    }
    ESPALIER_TRY(m_device.profile, DeviceProfile::parse(json, name));
    m_device.limits = limitsOf(m_device.profile);
    ESPALIER_TRY(m_cancelPage, HostMapping::create(message.descriptors.front().get(), sizeof(std::atomic<bool>)));
    m_device.cancel = reinterpret_cast<const std::atomic<bool>*>(m_cancelPage.data());
    return std::string();
}

Result<std::string> Server::createClient(Message& message)
{
    if (message.descriptors.size() != 1) {
        return fail(ErrorCode::Protocol, "simgpu got no socket for a new runner");
    }
    const std::uint32_t id = m_nextClient++;
    m_clients[id] = std::make_unique<SimClient>(MessageSocket(std::move(message.descriptors.front())), m_device);
    return ByteWriter().put(id).take();
}

Result<SimClient*> Server::client(ByteReader& from)
{
    const auto found = m_clients.find(from.get<std::uint32_t>());
    if (found == m_clients.end()) {
        return fail(ErrorCode::Protocol, "simgpu does not know that runner");
    }
    return found->second.get();
}

Result<std::string> Server::grant(ByteReader& from, Message& message)
{
    ESPALIER_TRY(SimClient * owner, client(from));
    GrantRequest request;
    request.offset = from.get<std::uint64_t>();
    request.bytes = from.get<std::uint64_t>();
    request.mappedBytes = from.get<std::uint64_t>();
    request.access = from.get<std::uint8_t>() == 0 ? Grant::ReadOnly : Grant::ReadWrite;
    request.name = from.text();
    if (!from.done() || message.descriptors.size() != 1) {
        return fail(ErrorCode::Protocol, "simgpu got a malformed grant");
    }
    ESPALIER_TRY(const std::uint64_t address, owner->grant(request, message.descriptors.front()));
    return ByteWriter().put(address).take();
}

} // namespace

int runSimGpuServer(UniqueFd control)
{
    std::signal(SIGPIPE, SIG_IGN);
    return Server(MessageSocket(std::move(control))).run();
}

} // namespace espalier::sim
