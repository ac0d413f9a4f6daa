// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/simgpu_client.h"

#include "core/simgpu/bulk_message.h"
#include "core/simgpu/client_memory.h"
#include "core/simgpu/report_wire.h"
#include "core/simgpu/simgpu_protocol.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>

namespace espalier::sim {

using std::chrono::milliseconds;

namespace {

/// What simgpu may take beyond any execution: parsing PTX, mapping, answering after a cancel.
constexpr milliseconds patience{10'000};
constexpr milliseconds pollStep{50};
constexpr int controlDescriptor = 3;

} // namespace

/// One flag in memory shared with simgpu: it stops a running launch without a second thread on either side.
class CancelFlag
{
public:
    static Result<std::pair<std::unique_ptr<CancelFlag>, UniqueFd>> create()
    {
        ESPALIER_TRY(UniqueFd fd, memfdOfSize("espalier-cancel", sizeof(std::atomic<bool>)));
        ESPALIER_TRY(HostMapping page, HostMapping::create(fd.get(), sizeof(std::atomic<bool>)));
        auto flag = std::make_unique<CancelFlag>();
        flag->m_page = std::move(page);
        return std::pair(std::move(flag), std::move(fd));
    }
    void set(bool value) { reinterpret_cast<std::atomic<bool>*>(m_page.data())->store(value); }

private:
    HostMapping m_page;
};

SimGpu::SimGpu(Subprocess process, MessageSocket control, std::unique_ptr<CancelFlag> cancel)
    : m_process(std::move(process)), m_control(std::move(control)), m_cancel(std::move(cancel))
{
}

SimGpu::SimGpu(SimGpu&&) noexcept = default;
SimGpu& SimGpu::operator=(SimGpu&&) noexcept = default;
SimGpu::~SimGpu() = default;

Result<SimGpu> SimGpu::start(const SimGpuSettings& settings)
{
    ESPALIER_TRY(auto ends, MessageSocket::pair());
    ESPALIER_TRY(auto cancel, CancelFlag::create());
    ProcessSpec spec;
    spec.argv = settings.command;
    spec.descriptors = {{ends.second.fd(), controlDescriptor}};
    spec.standardOutput = ProcessSpec::Stream::Null;
    spec.standardError = ProcessSpec::Stream::Inherit;
    ESPALIER_TRY(Subprocess process, Subprocess::start(spec));
    SimGpu device(std::move(process), std::move(ends.first), std::move(cancel.first));
    ends.second.release().reset();
    ByteWriter setup;
    setup.put(Control::Setup).text(settings.profileJson).text(settings.profileName).put(settings.clientBytes);
    ESPALIER_CHECK(device.ask(setup.bytes(), {cancel.second.get()}, patience, {}));
    return device;
}

/// Sends one request and waits for its answer. Past `limit`, or when asked to stop, it raises the cancel flag and gives
/// simgpu `patience` to come back; then simgpu is lost.
Result<std::string> SimGpu::ask(const std::string& request, const std::vector<int>& descriptors, milliseconds limit,
                                std::stop_token stop)
{
    using Clock = std::chrono::steady_clock;
    ESPALIER_CHECK(m_control.send(request, descriptors));
    auto end = Clock::now() + limit;
    bool cancelled = false;
    Result<Message> message = fail(ErrorCode::WorkerLost, {});
    for (;;) {
        const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
        const bool over = left.count() <= 0 || (stop.stop_requested() && !cancelled);
        if (over && cancelled) {
            m_process.kill();
            return fail(ErrorCode::WorkerLost, "the simulated device's process does not answer and was ended");
        }
        if (over) {
            m_cancel->set(true);
            cancelled = true;
            end = Clock::now() + patience;
            continue;
        }
        message = m_control.receive(std::min(left + milliseconds(1), pollStep));
        if (message) {
            break;
        }
        if (auto status = m_process.poll()) {
            return fail(ErrorCode::WorkerLost,
                        fmt::format("the simulated device's process ended unexpectedly ({})", status->text()));
        }
    }
    m_cancel->set(false);
    auto body = bulkOf(std::move(*message));
    if (!body || body->empty()) {
        return fail(ErrorCode::Protocol, "the simulated device's process sent a malformed answer");
    }
    if (body->front() == 1) {
        return body->substr(1);
    }
    ByteReader from(std::string_view(*body).substr(1));
    const auto code = static_cast<ErrorCode>(from.get<std::int32_t>());
    return fail(code, std::string(from.text()));
}

Result<SimGpu::NewClient> SimGpu::createClient()
{
    ESPALIER_TRY(auto ends, MessageSocket::pair());
    ESPALIER_TRY(const std::string body,
                 ask(ByteWriter().put(Control::CreateClient).bytes(), {ends.first.fd()}, patience, {}));
    return NewClient{ByteReader(body).get<std::uint32_t>(), ends.second.release()};
}

Result<std::uint64_t> SimGpu::grant(SimClientId client, const SimGrant& grant)
{
    ESPALIER_TRY(const UniqueFd descriptor, grant.buffer->share());
    ByteWriter request;
    request.put(Control::Grant).put(client).put(grant.offset).put(grant.bytes);
    request.put(std::uint64_t{grant.buffer->bytes()}).put(grant.access).text(grant.name);
    ESPALIER_TRY(const std::string body, ask(request.bytes(), {descriptor.get()}, patience, {}));
    return ByteReader(body).get<std::uint64_t>();
}

Result<void> SimGpu::beginBlock(SimClientId client, const BlockLimits& limits)
{
    ByteWriter request;
    request.put(Control::BeginBlock).put(client).put(limits.maxThreadInstructions);
    ESPALIER_CHECK(ask(request.bytes(), {}, patience, {}));
    return {};
}

Result<BlockReport> SimGpu::execute(const std::string& request, milliseconds limit, std::stop_token stop)
{
    ESPALIER_TRY(const std::string body, ask(request, {}, limit, std::move(stop)));
    ByteReader from(body);
    BlockReport report;
    if (!getReport(from, report) || !from.done()) {
        return fail(ErrorCode::Protocol, "the simulated device's process sent a malformed report");
    }
    return report;
}

Result<BlockReport> SimGpu::finishBlock(SimClientId client, milliseconds limit, std::stop_token stop)
{
    return execute(ByteWriter().put(Control::FinishBlock).put(client).take(), limit, std::move(stop));
}

Result<BlockReport> SimGpu::releaseDeferred(SimClientId client, milliseconds limit, std::stop_token stop)
{
    return execute(ByteWriter().put(Control::Release).put(client).take(), limit, std::move(stop));
}

Result<void> SimGpu::dropClient(SimClientId client)
{
    // It may be running something of this client's for a cudaStreamSynchronize: end that first.
    m_cancel->set(true);
    ESPALIER_CHECK(ask(ByteWriter().put(Control::Drop).put(client).bytes(), {}, patience, {}));
    return {};
}

} // namespace espalier::sim
