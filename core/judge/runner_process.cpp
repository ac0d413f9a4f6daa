// SPDX-License-Identifier: Apache-2.0
#include "core/judge/runner_process.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/judge/defences.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace espalier::judge {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t outputKept = 64 * 1024;

/// Longest time the judge spins for an answer before it sleeps: the wake-up of a sleeping judge would stand in its
/// clock.
constexpr auto spinTime = std::chrono::milliseconds(25);

} // namespace

RunnerProcess::RunnerProcess(DeviceSession& session, Subprocess process, MessageSocket socket, std::uint32_t client,
                             bool trusted)
    : m_session(session), m_process(std::move(process)),
      m_pidFd(static_cast<int>(::syscall(SYS_pidfd_open, m_process.pid(), 0))), m_socket(std::move(socket)),
      m_client(client), m_trusted(trusted)
{
    for (const UniqueFd* pipe : {&m_process.output(), &m_process.error()}) {
        ::fcntl(pipe->get(), F_SETFL, O_NONBLOCK);
    }
}

Result<std::unique_ptr<RunnerProcess>> RunnerProcess::start(DeviceSession& session, const std::string& worker,
                                                            const Sandbox* sandbox, Queues queues,
                                                            const CollectorSpec* collector)
{
    ESPALIER_TRY(RunnerPlan plan, session.planRunner(queues));
    ESPALIER_TRY(auto ends, MessageSocket::pair());
    ProcessSpec spec;
    spec.argv = {worker, collector ? "profiler" : "runner"};
    spec.argv.insert(spec.argv.end(), plan.arguments.begin(), plan.arguments.end());
    if (collector) {
        spec.argv.insert(spec.argv.end(), collector->arguments.begin(), collector->arguments.end());
    }
    if (sandbox) {
        const std::vector<std::string> weakened = collector ? std::vector<std::string>() : weakenedRunnerArguments();
        spec.argv.insert(spec.argv.end(), weakened.begin(), weakened.end());
        spec.argv = collector ? sandbox->wrap(spec.argv, collector->readOnly) : sandbox->wrap(spec.argv);
        spec.environment = sandbox->environment();
        spec.tree = sandbox->tree();
    }
    const UniqueFd runnerEnd = ends.second.release();
    spec.descriptors.push_back({runnerEnd.get(), 3});
    if (plan.deviceEnd) {
        spec.descriptors.push_back({plan.deviceEnd.get(), 4});
    }
    auto process = Subprocess::start(spec);
    if (!process) {
        session.drop(plan.client);
        return std::unexpected(process.error());
    }
    return std::unique_ptr<RunnerProcess>(
        new RunnerProcess(session, std::move(*process), std::move(ends.first), plan.client, sandbox == nullptr));
}

RunnerProcess::~RunnerProcess()
{
    kill();
    m_session.drop(m_client); // not before: what the device saw of its last call is still asked for
}

void RunnerProcess::kill()
{
    if (!m_alive) {
        return;
    }
    m_alive = false;
    m_process.kill();
    // The sandbox's inner processes die with its outer one, a moment later: the pipes close when the last of them has
    // gone.
    const auto end = Clock::now() + std::chrono::seconds(1);
    while ((m_process.output() || m_process.error()) && Clock::now() < end) {
        std::array<pollfd, 2> polled = {pollfd{m_process.output().get(), POLLIN, 0},
                                        pollfd{m_process.error().get(), POLLIN, 0}};
        ::poll(polled.data(), polled.size(), 20);
        drain(m_process.output());
        drain(m_process.error());
    }
}

void RunnerProcess::beginKill()
{
    if (m_alive) {
        m_process.beginKill();
    }
}

bool RunnerProcess::alive()
{
    pollfd polled = {m_pidFd.get(), POLLIN, 0};
    if (m_alive && ::poll(&polled, 1, 0) > 0) {
        kill();
    }
    return m_alive;
}

std::set<std::string> RunnerProcess::libraries() const
{
    std::set<std::string> names;
    const auto maps = readFile(fmt::format("/proc/{}/maps", m_process.pid()));
    for (const std::string_view line : splitLines(maps ? *maps : std::string())) {
        const std::string_view name = line.substr(line.rfind('/') + 1); // the whole line where there is no file
        if (line.find(" /") != std::string_view::npos && name.find(".so") != std::string_view::npos) {
            names.emplace(name);
        }
    }
    return names;
}

void RunnerProcess::drain(UniqueFd& pipe)
{
    char buffer[65536];
    for (int i = 0; i < 64 && pipe; ++i) { // bounded: a runner that prints for ever must not hold the judge
        const ssize_t got = ::read(pipe.get(), buffer, sizeof buffer);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (got <= 0) {
            pipe.reset();
            return;
        }
        const std::size_t keep =
            std::min(static_cast<std::size_t>(got), outputKept - std::min(outputKept, m_output.size()));
        m_output.append(buffer, keep);
        m_outputDropped += static_cast<std::uint64_t>(got) - keep;
    }
}

std::string RunnerProcess::output()
{
    if (m_alive) { // what it printed before its last answer may still be in the pipes
        drain(m_process.output());
        drain(m_process.error());
    }
    std::string text = printable(m_output, outputKept);
    if (m_outputDropped > 0) {
        text += fmt::format("\n[{} more bytes dropped]", m_outputDropped);
    }
    return text;
}

std::unexpected<RunnerFailure> RunnerProcess::lose(Loss loss, std::string text)
{
    kill();
    return std::unexpected(RunnerFailure{loss, std::move(text), std::nullopt});
}

std::unexpected<RunnerFailure> RunnerProcess::exited()
{
    ExitStatus status = m_process.wait(std::chrono::milliseconds(1000)).value_or(ExitStatus{0, SIGKILL});
    kill();
    if (status.signal == 0 && status.code > 128 && status.code < 128 + NSIG) {
        status = {0, status.code - 128}; // how bubblewrap and shells report a signal
    }
    return std::unexpected(RunnerFailure{Loss::Exited, status.text(), status});
}

Asked<runner::Reply> RunnerProcess::read(std::uint64_t sequence)
{
    auto message = m_socket.receive(std::chrono::milliseconds(0));
    if (!message) {
        if (message.error().code == ErrorCode::Protocol) {
            return lose(Loss::Protocol, message.error().message);
        }
        return exited(); // closed: it ends, or closed the socket by itself and is ended now
    }
    auto reply = runner::decodeReply(message->bytes);
    if (!reply || !message->descriptors.empty()) {
        return lose(Loss::Protocol, reply ? "a reply came with descriptors" : reply.error().message);
    }
    if (reply->sequence != sequence) {
        return lose(Loss::Protocol, "a reply answers no question");
    }
    if (reply->status == runner::Status::Lost) {
        const std::string words = printable(reply->text, 500);
        return lose(Loss::DeviceLost, words);
    }
    if (reply->status == runner::Status::NoMemory) { // nobody passes by claiming it
        return lose(Loss::Infrastructure,
                    fmt::format("a runner found no memory left on the device ({}): free some and evaluate again",
                                printable(trimmed(reply->text), 300)));
    }
    return std::move(*reply);
}

Asked<runner::Reply> RunnerProcess::receive(std::uint64_t sequence, Millis limit, Interrupts& interrupts)
{
    const auto start = Clock::now();
    const auto spinEnd = start + (m_session.simulated() ? Millis(0) : Millis(spinTime));
    const auto end = start + limit;
    for (;;) {
        std::array<pollfd, 5> polled = {pollfd{m_socket.fd(), POLLIN, 0}, pollfd{m_pidFd.get(), POLLIN, 0},
                                        pollfd{m_process.output().get(), POLLIN, 0},
                                        pollfd{m_process.error().get(), POLLIN, 0},
                                        pollfd{interrupts.descriptor(), POLLIN, 0}};
        const auto now = Clock::now();
        const auto left = std::chrono::duration_cast<Millis>(end - now).count() + 1;
        const int wait = now < spinEnd ? 0 : static_cast<int>(std::clamp<long long>(left, 0, 1000));
        ::poll(polled.data(), polled.size(), wait);
        if (polled[0].revents) {
            return read(sequence);
        }
        if (polled[2].revents) {
            drain(m_process.output());
        }
        if (polled[3].revents) {
            drain(m_process.error());
        }
        if (polled[4].revents) {
            interrupts.service();
            if (interrupts.cancelled()) {
                return lose(Loss::Cancelled, "cancelled");
            }
        }
        if (polled[1].revents) {
            return exited();
        }
        if (Clock::now() >= end) {
            return lose(Loss::Deadline, fmt::format("{} s", static_cast<double>(limit.count()) / 1000));
        }
    }
}

Asked<void> RunnerProcess::send(runner::Request request, const std::vector<int>& descriptors)
{
    if (!m_alive) {
        return std::unexpected(RunnerFailure{Loss::Infrastructure, "the runner is gone", std::nullopt});
    }
    request.sequence = ++m_sequence;
    if (!m_socket.send(runner::encode(request), descriptors)) {
        return exited();
    }
    return {};
}

Asked<runner::Reply> RunnerProcess::ask(runner::Request request, const std::vector<int>& descriptors, Millis limit,
                                        Interrupts& interrupts)
{
    if (auto sent = send(std::move(request), descriptors); !sent) {
        return std::unexpected(std::move(sent.error()));
    }
    return receive(m_sequence, limit, interrupts);
}

Asked<void> RunnerProcess::awaitReady(Millis limit, Interrupts& interrupts)
{
    if (m_ready) {
        return {};
    }
    auto reply = receive(0, limit, interrupts);
    if (!reply) {
        RunnerFailure failure = std::move(reply.error());
        if (failure.loss != Loss::Cancelled) { // nothing of the candidate's has run yet
            failure.text = fmt::format("a fresh runner did not start ({}){}{}", failure.text,
                                       m_output.empty() ? "" : ": ", printable(trimmed(m_output), 300));
            failure.loss = Loss::Infrastructure;
        }
        return std::unexpected(std::move(failure));
    }
    if (reply->status != runner::Status::Ok) {
        return lose(Loss::Infrastructure, printable(reply->text, 500));
    }
    m_ready = true;
    m_runtimeVersion = static_cast<int>(reply->size);
    return {};
}

bool RunnerProcess::pollReady()
{
    if (!m_ready && m_alive) {
        pollfd polled = {m_socket.fd(), POLLIN, 0};
        if (::poll(&polled, 1, 0) > 0) {
            NoInterrupts nobody;
            (void)awaitReady(Millis(1000), nobody);
        }
    }
    return m_ready;
}

Asked<void> RunnerProcess::beginLoad(int library, const std::vector<std::string>& names)
{
    runner::Request request;
    request.verb = runner::Verb::Load;
    request.names = names;
    request.confined = !m_trusted;
    m_loaded = true;
    return send(std::move(request), {library});
}

Asked<std::uint64_t> RunnerProcess::finishLoad(Millis limit, Interrupts& interrupts)
{
    if (!m_alive) {
        return std::unexpected(RunnerFailure{Loss::Infrastructure, "the runner is gone", std::nullopt});
    }
    auto reply = receive(m_sequence, limit, interrupts);
    if (!reply) {
        return std::unexpected(reply.error());
    }
    if (reply->status != runner::Status::Ok) {
        return lose(Loss::Protocol, printable(reply->text, 500));
    }
    return reply->size;
}

Asked<std::uint64_t> RunnerProcess::load(int library, const std::vector<std::string>& names, Millis limit,
                                         Interrupts& interrupts)
{
    if (auto begun = beginLoad(library, names); !begun) {
        return std::unexpected(std::move(begun.error()));
    }
    return finishLoad(limit, interrupts);
}

Asked<std::uint64_t> RunnerProcess::size(const runner::Call& call, Millis limit, Interrupts& interrupts)
{
    runner::Request request;
    request.verb = runner::Verb::Size;
    request.calls = {call};
    auto reply = ask(std::move(request), {}, limit, interrupts);
    if (!reply) {
        return std::unexpected(reply.error());
    }
    if (reply->status != runner::Status::Ok) {
        return lose(Loss::Protocol, printable(reply->text, 500));
    }
    return reply->size;
}

Asked<runner::CallValue> RunnerProcess::place(const Region& region, Grant access, const std::string& name,
                                              Interrupts& interrupts)
{
    const bool exact = m_session.exactGrants();
    const MapKey key =
        exact ? MapKey{region.serial, region.offset, region.bytes, access} : MapKey{region.serial, 0, 0, access};
    const std::uint64_t within = exact ? 0 : region.offset;
    if (const auto found = m_slots.find(key); found != m_slots.end()) {
        return runner::CallValue{runner::ValueKind::Pointer, found->second, within};
    }
    auto order = m_session.map(m_client, region, access, name);
    if (!order) {
        return lose(Loss::Infrastructure, order.error().message);
    }
    runner::Request request;
    request.verb = runner::Verb::Map;
    request.grant = order->grant;
    request.offset = order->offset;
    if (m_freeSlots.empty()) {
        request.slot = m_nextSlot++;
    } else {
        request.slot = m_freeSlots.back();
        m_freeSlots.pop_back();
    }
    const std::uint32_t slot = request.slot;
    std::vector<int> descriptors;
    if (order->handle) {
        descriptors.push_back(order->handle.get());
    }
    auto reply = ask(std::move(request), descriptors, Millis(10000), interrupts);
    if (!reply) {
        return std::unexpected(reply.error());
    }
    if (reply->status != runner::Status::Ok) {
        return lose(Loss::Infrastructure,
                    fmt::format("mapping {} in the runner failed: {}", name, printable(reply->text, 300)));
    }
    m_slots.emplace(key, slot);
    return runner::CallValue{runner::ValueKind::Pointer, slot, within};
}

Asked<void> RunnerProcess::forget(std::uint64_t serial, Interrupts& interrupts)
{
    for (auto it = m_slots.begin(); it != m_slots.end();) {
        if (it->first.serial != serial) {
            ++it;
            continue;
        }
        runner::Request request;
        request.verb = runner::Verb::Unmap;
        request.slot = it->second;
        if (auto reply = ask(std::move(request), {}, Millis(10000), interrupts); !reply) {
            return std::unexpected(reply.error());
        }
        m_freeSlots.push_back(it->second);
        it = m_slots.erase(it);
    }
    return {};
}

/// A runner that slept while the judge prepared its buffers would wake up within the judge's clock (core/README.md).
Asked<void> RunnerProcess::wake(Interrupts& interrupts)
{
    if (m_session.simulated()) {
        return {};
    }
    runner::Request request;
    request.verb = runner::Verb::Ping;
    if (auto reply = ask(std::move(request), {}, Millis(5000), interrupts); !reply) {
        return std::unexpected(reply.error());
    }
    return {};
}

Asked<RunnerProcess::Block> RunnerProcess::timed(runner::Request request, Millis limit, Interrupts& interrupts,
                                                 Loss onFailure, bool wakeFirst)
{
    if (wakeFirst) {
        if (auto awake = wake(interrupts); !awake) {
            return std::unexpected(awake.error());
        }
    }
    const auto start = m_session.now();
    auto reply = ask(std::move(request), {}, limit, interrupts);
    const double wall = std::chrono::duration<double, std::micro>(m_session.now() - start).count();
    if (!reply) {
        return std::unexpected(reply.error());
    }
    if (reply->status != runner::Status::Ok) {
        return lose(onFailure, printable(reply->text, 500));
    }
    return Block{std::move(reply->clock), wall};
}

Asked<RunnerProcess::Block> RunnerProcess::block(const std::vector<runner::Call>& calls, bool displaceL2, Millis limit,
                                                 Interrupts& interrupts, bool wake)
{
    runner::Request request;
    request.verb = runner::Verb::Block;
    request.calls = calls;
    request.displaceL2 = displaceL2;
    auto block = timed(std::move(request), limit, interrupts, Loss::Protocol, wake);
    if (!block) {
        return block;
    }
    const std::size_t answered = block->clock.calls.size();
    const bool whole = answered == calls.size() || (block->clock.status != 0 && answered <= calls.size());
    if (!whole) {
        return lose(Loss::Protocol, fmt::format("{} calls were asked for, {} answered", calls.size(), answered));
    }
    return block;
}

Asked<GraphFacts> RunnerProcess::capture(const std::vector<runner::Call>& calls, Millis limit, Interrupts& interrupts)
{
    runner::Request request;
    request.verb = runner::Verb::Capture;
    request.calls = calls;
    auto reply = ask(std::move(request), {}, limit, interrupts);
    if (!reply) {
        return std::unexpected(reply.error());
    }
    if (reply->status != runner::Status::Ok) {
        return lose(Loss::Protocol, printable(reply->text, 500));
    }
    return std::move(reply->graph);
}

Asked<RunnerProcess::Block> RunnerProcess::replay(bool displaceL2, Millis limit, Interrupts& interrupts)
{
    runner::Request request;
    request.verb = runner::Verb::Replay;
    request.displaceL2 = displaceL2;
    return timed(std::move(request), limit, interrupts, Loss::Protocol);
}

Asked<std::string> RunnerProcess::collect(const std::vector<runner::Call>& calls, Millis limit, Interrupts& interrupts)
{
    UniqueFd file(::memfd_create("espalier-collected", MFD_CLOEXEC));
    if (!file) {
        return lose(Loss::Infrastructure, "no memory file could be made for what is collected");
    }
    runner::Request request;
    request.verb = runner::Verb::Collect;
    request.calls = calls;
    auto reply = ask(std::move(request), {file.get()}, limit, interrupts);
    if (!reply) {
        return std::unexpected(reply.error());
    }
    if (reply->status != runner::Status::Ok) {
        return lose(Loss::Protocol, printable(reply->text, 1000));
    }
    std::string text(runner::maxCollected, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t more = ::pread(file.get(), text.data() + size, text.size() - size, static_cast<off_t>(size));
        if (more <= 0) {
            break;
        }
        size += static_cast<std::size_t>(more);
    }
    text.resize(size);
    return text;
}

Asked<RunnerProcess::Block> RunnerProcess::emptyBlock(std::uint32_t calls, bool displaceL2, Millis limit,
                                                      Interrupts& interrupts)
{
    runner::Request request;
    request.verb = runner::Verb::Empty;
    request.emptyCalls = calls;
    request.displaceL2 = displaceL2;
    return timed(std::move(request), limit, interrupts, Loss::Infrastructure);
}

} // namespace espalier::judge
