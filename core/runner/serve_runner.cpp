// SPDX-License-Identifier: Apache-2.0
#include "core/runner/runner_main.h"

#include "core/base/message_socket.h"
#include "core/runner/confinement.h"
#include "core/runner/entry_point_gate.h"
#include "core/runner/launch_gate.h"
#include "core/runner/native_call.h"
#include "core/runner/runner_messages.h"

#include <chrono>
#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace espalier::runner {

namespace {

class Server
{
public:
    Server(MessageSocket& socket, RunnerDevice& device, const RunnerSetup& setup, profile::Collector* collector)
        : m_socket(socket), m_device(device), m_spin(setup.spin), m_defences(setup.defences), m_collector(collector)
    {
    }

    int loop();

private:
    Result<Message> nextMessage();
    void answer(const Request& request, std::vector<UniqueFd>& descriptors, Reply& reply);
    Result<void> load(const Request& request, std::vector<UniqueFd>& descriptors, Reply& reply);
    Result<void> map(const Request& request, std::vector<UniqueFd>& descriptors);
    Result<void> unmap(const Request& request);
    Result<void> size(const Request& request, Reply& reply);
    Result<void> block(const Request& request, Reply& reply);
    Result<void> replay(const Request& request, Reply& reply);
    Result<void> collect(const Request& request, const std::vector<UniqueFd>& descriptors);
    Result<std::vector<NativeCall>> prepare(const std::vector<Call>& calls) const;
    Result<std::vector<DeviceCopy>> copiesOf(const Call& call) const;

    MessageSocket& m_socket;
    RunnerDevice& m_device;
    std::chrono::microseconds m_spin;
    RunnerDefences m_defences;
    profile::Collector* m_collector; ///< null: a runner like any other
    std::vector<std::uint64_t> m_slots;
    std::vector<void*> m_functions;
    UniqueFd m_library; ///< stays open: /proc/self/fd/N must stay what it was for debuggers and dladdr
};

/// Spins for a moment after each message before it sleeps: waking a sleeping process would be part of the judge's
/// clock.
Result<Message> Server::nextMessage()
{
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + m_spin;
    pollfd polled = {m_socket.fd(), POLLIN, 0};
    while (Clock::now() < end && ::poll(&polled, 1, 0) == 0) {
    }
    return m_socket.receive();
}

Result<void> Server::load(const Request& request, std::vector<UniqueFd>& descriptors, Reply& reply)
{
    if (descriptors.empty() || !m_functions.empty()) {
        return fail(ErrorCode::Protocol, "one library per runner, with its descriptor");
    }
    if (request.confined && m_defences.seccomp) {
        ESPALIER_CHECK(forbidNewProcesses());
    }
    installEntryPointGate(!request.confined || !m_defences.entryPointGate, m_device.stream());
    m_library = std::move(descriptors[0]);
    const std::string path = fmt::format("/proc/self/fd/{}", m_library.get());
    void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char* why = ::dlerror();
        return fail(ErrorCode::InvalidInput, why ? why : "dlopen failed");
    }
    m_functions.resize(request.names.size());
    for (std::size_t i = 0; i < request.names.size(); ++i) {
        m_functions[i] = ::dlsym(handle, request.names[i].c_str());
        reply.size |= m_functions[i] ? std::uint64_t{1} << i : 0;
    }
    return {};
}

Result<void> Server::map(const Request& request, std::vector<UniqueFd>& descriptors)
{
    constexpr std::uint32_t maxSlots = 1 << 16;
    if (request.slot >= maxSlots) {
        return fail(ErrorCode::Protocol, "slot number out of range");
    }
    UniqueFd handle = descriptors.empty() ? UniqueFd() : std::move(descriptors[0]);
    ESPALIER_TRY(const std::uint64_t address, m_device.map(request.grant, std::move(handle), request.offset));
    if (m_slots.size() <= request.slot) {
        m_slots.resize(request.slot + 1, 0);
    }
    m_slots[request.slot] = address;
    return {};
}

Result<void> Server::unmap(const Request& request)
{
    if (request.slot >= m_slots.size() || m_slots[request.slot] == 0) {
        return fail(ErrorCode::Protocol, "the slot is not mapped");
    }
    return m_device.unmap(std::exchange(m_slots[request.slot], 0));
}

Result<void> Server::size(const Request& request, Reply& reply)
{
    if (request.calls.size() != 1 || request.calls[0].function >= m_functions.size() ||
        !m_functions[request.calls[0].function]) {
        return fail(ErrorCode::Protocol, "no such function");
    }
    const Call& call = request.calls[0];
    ESPALIER_TRY(const NativeCall native, NativeCall::prepare(m_functions[call.function], call, m_slots,
                                                              m_device.stream(), NativeCall::Returns::Size));
    reply.size = native.callSize();
    return {};
}

Result<std::vector<NativeCall>> Server::prepare(const std::vector<Call>& calls) const
{
    std::vector<NativeCall> natives;
    for (const Call& call : calls) {
        if (call.function >= m_functions.size() || !m_functions[call.function]) {
            return fail(ErrorCode::Protocol, "no such function");
        }
        ESPALIER_TRY(NativeCall native, NativeCall::prepare(m_functions[call.function], call, m_slots,
                                                            m_device.stream(), NativeCall::Returns::Int));
        natives.push_back(std::move(native));
    }
    return natives;
}

Result<std::vector<DeviceCopy>> Server::copiesOf(const Call& call) const
{
    std::vector<DeviceCopy> copies;
    for (const Snapshot& snapshot : call.snapshots) {
        for (const std::uint32_t slot : {snapshot.fromSlot, snapshot.toSlot}) {
            if (slot >= m_slots.size() || m_slots[slot] == 0) {
                return fail(ErrorCode::Protocol, "the slot of a snapshot is not mapped");
            }
        }
        copies.push_back({m_slots[snapshot.fromSlot] + snapshot.fromOffset,
                          m_slots[snapshot.toSlot] + snapshot.toOffset, snapshot.bytes});
    }
    return copies;
}

Result<void> Server::block(const Request& request, Reply& reply)
{
    BlockPlan plan;
    plan.displaceL2 = request.displaceL2;
    if (request.verb == Verb::Empty) {
        plan.calls = request.emptyCalls;
        plan.call = [](std::size_t) { return 0; };
        ESPALIER_TRY(reply.clock, m_device.runBlock(plan));
        return {};
    }
    ESPALIER_TRY(const std::vector<NativeCall> calls, prepare(request.calls));
    plan.calls = calls.size();
    plan.call = [&calls](std::size_t i) { return calls[i].callInt(); };
    if (request.verb == Verb::Capture) {
        ESPALIER_TRY(reply.graph, m_device.capture(plan));
        return {};
    }
    for (const Call& call : request.calls) {
        ESPALIER_TRY(plan.snapshots.emplace_back(), copiesOf(call));
    }
    takeRefusedLaunch(); // of earlier calls
    ESPALIER_TRY(reply.clock, m_device.runBlock(plan));
    reply.clock.refused = takeRefusedLaunch();
    return {};
}

Result<void> Server::replay(const Request& request, Reply& reply)
{
    ESPALIER_TRY(reply.clock, m_device.replay(request.displaceL2));
    return {};
}

Result<void> Server::collect(const Request& request, const std::vector<UniqueFd>& descriptors)
{
    if (!m_collector || descriptors.empty() || request.calls.empty()) {
        return fail(ErrorCode::Protocol, "only a profiler collects, and needs calls and a file");
    }
    ESPALIER_TRY(const std::vector<NativeCall> calls, prepare(request.calls));
    const profile::Workload work{&m_device, calls.size(), [&calls](std::size_t i) { return calls[i].callInt(); }};
    ESPALIER_TRY(const Json seen, std::exchange(m_collector, nullptr)->collect(work));
    const std::string text = seen.dump(-1, ' ', false, Json::error_handler_t::replace);
    for (std::size_t written = 0; written < text.size();) {
        const ssize_t more = ::write(descriptors[0].get(), text.data() + written, text.size() - written);
        if (more <= 0) {
            return fail(ErrorCode::Io, "what was collected could not be written");
        }
        written += static_cast<std::size_t>(more);
    }
    return {};
}

void Server::answer(const Request& request, std::vector<UniqueFd>& descriptors, Reply& reply)
{
    Result<void> result;
    switch (request.verb) {
    case Verb::Load:
        result = load(request, descriptors, reply);
        break;
    case Verb::Map:
        result = map(request, descriptors);
        break;
    case Verb::Unmap:
        result = unmap(request);
        break;
    case Verb::Size:
        result = size(request, reply);
        break;
    case Verb::Block:
    case Verb::Empty:
    case Verb::Capture:
        result = block(request, reply);
        break;
    case Verb::Replay:
        result = replay(request, reply);
        break;
    case Verb::Collect:
        result = collect(request, descriptors);
        break;
    case Verb::Ping:
        break;
    }
    if (!result) {
        const ErrorCode code = result.error().code;
        reply.status = code == ErrorCode::WorkerLost    ? Status::Lost
                       : code == ErrorCode::OutOfMemory ? Status::NoMemory
                                                        : Status::Failed;
        reply.text = result.error().message;
    }
}

int Server::loop()
{
    for (;;) {
        auto message = nextMessage();
        if (!message) {
            return 0; // the judge is gone or done with us
        }
        auto request = decodeRequest(message->bytes);
        Reply reply;
        if (request) {
            reply.sequence = request->sequence;
            answer(*request, message->descriptors, reply);
        } else {
            reply.status = Status::Failed;
            reply.text = request.error().message;
        }
        if (!m_socket.send(encode(reply))) {
            return 1;
        }
        if (reply.status == Status::Lost) {
            return 1;
        }
    }
}

} // namespace

int serveRunner(UniqueFd control, const RunnerSetup& setup)
{
    limitResources();
    MessageSocket socket(std::move(control));
    Reply ready;
    auto device = setup.openDevice();
    std::unique_ptr<profile::Collector> collector;
    if (device && setup.openCollector) {
        auto opened = setup.openCollector();
        const Result<void> prepared = opened ? (*opened)->prepare() : std::unexpected(opened.error());
        if (!prepared) {
            ready.status = Status::Failed;
            ready.text = prepared.error().message;
        } else {
            collector = std::move(*opened);
        }
    }
    if (device && ready.status == Status::Ok) {
        if (const auto version = setup.bindRuntime()) {
            ready.size = static_cast<std::uint64_t>(*version);
        } else {
            ready.status = Status::Failed;
            ready.text = version.error().message;
        }
    } else if (!device) {
        ready.status = Status::Failed;
        ready.text = device.error().message;
    }
    if (!socket.send(encode(ready)) || ready.status != Status::Ok) {
        return 1;
    }
    const int code = Server(socket, **device, setup, collector.get()).loop();
    // Not a return: destructors and exit handlers of a foreign library would run, and may never end.
    std::fflush(stdout);
    ::_exit(code);
}

Result<int> bindCudaRuntime(const std::string& path)
{
    const char* file = path.empty() ? "libcudart.so.13" : path.c_str();
    void* handle = ::dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    if (!handle) {
        const char* why = ::dlerror();
        return fail(ErrorCode::NotFound,
                    fmt::format("the CUDA runtime library could not be loaded ({}); install the CUDA toolkit 13.x "
                                "or name its libcudart.so.13 with ESPALIER_CUDART",
                                why ? why : file));
    }
    using VersionFunction = int (*)(int*);
    int version = 0;
    if (auto* get = reinterpret_cast<VersionFunction>(::dlsym(handle, "cudaRuntimeGetVersion"))) {
        get(&version);
    }
    return version;
}

} // namespace espalier::runner
