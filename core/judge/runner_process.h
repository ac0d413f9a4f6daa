// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/message_socket.h"
#include "core/base/subprocess.h"
#include "core/judge/device_session.h"
#include "core/judge/interrupts.h"
#include "core/judge/sandbox.h"
#include "core/runner/runner_messages.h"

#include <array>
#include <chrono>
#include <expected>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace espalier::judge {

/// How a runner was lost. Everything but Cancelled and Infrastructure is what the candidate did.
enum class Loss { Exited, Deadline, Protocol, DeviceLost, Cancelled, Infrastructure };

struct RunnerFailure {
    Loss loss = Loss::Exited;
    std::string text;                 ///< "signal 11 (Segmentation fault)", "CUDA 700 …"
    std::optional<ExitStatus> status; ///< Exited
};

template <typename T>
using Asked = std::expected<T, RunnerFailure>;

/// What makes a runner a profiler (core/runner/profiler_main.h).
struct CollectorSpec {
    std::vector<std::string> arguments; ///< "--collect", "ranges", …
    std::vector<std::string> readOnly;  ///< folders bound in its sandbox: CUPTI's
};

/// One runner process. Every request waits for its answer while it drains what the runner prints, watches the process
/// and listens to the engine. After a failure the process tree has been killed and the object is only good for its
/// output. Thread: the judge's. Owns the process.
class RunnerProcess
{
public:
    /// Starts the process; it is ready once awaitReady() says so. `sandbox` null: a trusted runner, not confined.
    static Result<std::unique_ptr<RunnerProcess>> start(DeviceSession& session, const std::string& worker,
                                                        const Sandbox* sandbox, Queues queues,
                                                        const CollectorSpec* collector = nullptr);
    ~RunnerProcess();

    Asked<void> awaitReady(std::chrono::milliseconds limit, Interrupts& interrupts);
    bool pollReady(); ///< true once the ready message is there; never blocks

    using Millis = std::chrono::milliseconds;
    /// Found names as a bit set. In two steps where several runners load side by side; nothing else may be asked
    /// between.
    Asked<void> beginLoad(int library, const std::vector<std::string>& names);
    Asked<std::uint64_t> finishLoad(Millis limit, Interrupts& interrupts);
    Asked<std::uint64_t> load(int library, const std::vector<std::string>& names, Millis limit, Interrupts& interrupts);
    Asked<std::uint64_t> size(const runner::Call& call, Millis limit, Interrupts& interrupts);
    /// The slot of a region, mapped at the first call. `name` is for messages ("output y").
    Asked<runner::CallValue> place(const Region& region, Grant access, const std::string& name, Interrupts& interrupts);
    /// Gives back every mapping of the buffer (before the judge frees it).
    Asked<void> forget(std::uint64_t serial, Interrupts& interrupts);

    struct Block {
        BlockClock clock;            ///< claim
        double wallMicroseconds = 0; ///< the judge's own, from message to answer
    };
    /// `wake`: makes sure beforehand that the runner does not sleep; its waking would stand in the judge's time.
    Asked<Block> block(const std::vector<runner::Call>& calls, bool displaceL2, Millis limit, Interrupts& interrupts,
                       bool wake = true);
    /// Captures the calls into one graph that replay() launches. Not on the simulated device.
    Asked<GraphFacts> capture(const std::vector<runner::Call>& calls, Millis limit, Interrupts& interrupts);
    Asked<Block> replay(bool displaceL2, Millis limit, Interrupts& interrupts);
    /// A profiler makes the calls and tells what it saw: JSON, a claim like everything else. Once in its life.
    Asked<std::string> collect(const std::vector<runner::Call>& calls, Millis limit, Interrupts& interrupts);
    Asked<Block> emptyBlock(std::uint32_t calls, bool displaceL2, Millis limit, Interrupts& interrupts);

    void kill();
    void beginKill(); ///< sends the signal only: many processes are then gone together
    bool alive();     ///< looks: a process that somebody killed while it was idle is found here, not in the next call
    bool trusted() const { return m_trusted; }
    bool loaded() const { return m_loaded; }
    std::uint32_t client() const { return m_client; }
    int runtimeVersion() const { return m_runtimeVersion; } ///< 13000
    /// Names of the shared libraries that it has mapped, as the files call themselves: "libcublas.so.13.1.0.3".
    std::set<std::string> libraries() const;
    /// What it printed, capped and printable.
    std::string output();
    /// W0(B): the judge's time of empty blocks, with and without displacing the L2 cache.
    std::map<std::uint32_t, double>& emptyWall(bool displaceL2 = true) { return m_emptyWall[displaceL2 ? 1 : 0]; }

private:
    RunnerProcess(DeviceSession& session, Subprocess process, MessageSocket socket, std::uint32_t client, bool trusted);
    Asked<void> send(runner::Request request, const std::vector<int>& descriptors);
    Asked<runner::Reply> ask(runner::Request request, const std::vector<int>& descriptors, Millis limit,
                             Interrupts& interrupts);
    Asked<void> wake(Interrupts& interrupts);
    Asked<Block> timed(runner::Request request, Millis limit, Interrupts& interrupts, Loss onFailure,
                       bool wakeFirst = true);
    Asked<runner::Reply> receive(std::uint64_t sequence, Millis limit, Interrupts& interrupts);
    Asked<runner::Reply> read(std::uint64_t sequence);
    std::unexpected<RunnerFailure> lose(Loss loss, std::string text);
    void drain(UniqueFd& pipe);
    std::unexpected<RunnerFailure> exited();

    struct MapKey {
        std::uint64_t serial, offset, bytes;
        Grant access;
        auto operator<=>(const MapKey&) const = default;
    };

    DeviceSession& m_session;
    Subprocess m_process;
    UniqueFd m_pidFd;
    MessageSocket m_socket;
    std::uint32_t m_client;
    bool m_trusted;
    bool m_alive = true;
    bool m_ready = false;
    bool m_loaded = false;
    int m_runtimeVersion = 0;
    std::uint64_t m_sequence = 0;
    std::map<MapKey, std::uint32_t> m_slots;
    std::uint32_t m_nextSlot = 0;
    std::vector<std::uint32_t> m_freeSlots;
    std::array<std::map<std::uint32_t, double>, 2> m_emptyWall;
    std::string m_output;
    std::uint64_t m_outputDropped = 0;
};

} // namespace espalier::judge
