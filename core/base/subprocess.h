// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <vector>

namespace espalier {

/// How to start a child. The child gets its own process group, no inherited descriptors but those named, default
/// signals, and dies with the thread that started it (PDEATHSIG) unless `outliveParent`.
struct ProcessSpec {
    std::vector<std::string> argv;                       ///< argv[0] is looked up on the PATH
    std::optional<std::vector<std::string>> environment; ///< "NAME=value"; nullopt: inherited
    std::string workingDirectory;                        ///< empty: inherited
    struct Descriptor {
        int source;
        int target;
    };
    std::vector<Descriptor> descriptors; ///< further descriptors the child sees as `target`
    enum class Stream { Null, Pipe, Inherit };
    Stream standardInput = Stream::Null;
    Stream standardOutput = Stream::Pipe;
    Stream standardError = Stream::Pipe;
    std::uint64_t addressSpaceLimit = 0; ///< bytes; 0: none
    std::uint64_t fileSizeLimit = 0;     ///< bytes; 0: none
    std::uint64_t cpuSecondsLimit = 0;
    bool outliveParent = false;
    /// What ends with it, and with the thread that started it. Own: whatever it starts, in whatever group or session
    /// (own_tree.h); it may be the first process of a pid namespace, which hears SIGTERM and its own abort() only with
    /// a handler, and whose number is not the one that /proc knows. Kept: the same without such a namespace.
    enum class Tree { Group, Own, Kept };
    Tree tree = Tree::Group;
};

struct ExitStatus {
    int code = 0; ///< exit code when signal == 0
    int signal = 0;
    bool success() const { return code == 0 && signal == 0; }
    std::string text() const; ///< "exit code 3", "signal 9 (Killed)"
};

/// One child process. Thread: one owner at a time. Owns the child: the destructor kills its whole group, or tree, and
/// reaps it.
class Subprocess
{
public:
    static Result<Subprocess> start(const ProcessSpec& spec);
    Subprocess(Subprocess&& other) noexcept;
    Subprocess& operator=(Subprocess&& other) noexcept;
    ~Subprocess();

    pid_t pid() const { return m_pid; }
    UniqueFd& input() { return m_input; }
    UniqueFd& output() { return m_output; }
    UniqueFd& error() { return m_error; }
    /// nullopt while it runs. Never blocks.
    std::optional<ExitStatus> poll();
    /// Waits up to `limit`; nullopt when it still runs then.
    std::optional<ExitStatus> wait(std::chrono::milliseconds limit);
    /// SIGKILL to the whole group or tree, then reaps. Bounded: about three seconds at most.
    void kill();
    /// The signal only: many processes are then gone together.
    void beginKill();
    /// Ask (SIGTERM), wait, kill.
    std::optional<ExitStatus> stop(std::chrono::milliseconds patience);

private:
    Subprocess() = default;
    pid_t m_pid = -1;
    bool m_kept = false; ///< it is a keeper's number (own_tree.h)
    std::optional<ExitStatus> m_status;
    UniqueFd m_input, m_output, m_error;
};

struct RunResult {
    ExitStatus status;
    bool timedOut = false;
    bool cancelled = false;
    std::string out; ///< at most the cap, the rest is read and dropped
    std::string err;
    std::uint64_t dropped = 0; ///< bytes over the cap
    double seconds = 0;
};

/// Runs a child to its end, feeding `input` and collecting both outputs. A missed deadline or a requested stop kills
/// the child's whole group. Errors: NotFound when the program does not exist.
Result<RunResult> runToEnd(ProcessSpec spec, std::string_view input, std::chrono::milliseconds deadline,
                           std::size_t outputCap = std::size_t{1} << 20, std::stop_token stop = {});

/// Path of a program: as it is where it names a folder, else from the PATH. Empty: there is none, or it may not be run.
std::string findProgram(std::string_view name);
/// Why a program cannot be started, and the remedy; empty: nothing speaks against it.
std::string whyNotStartable(std::string_view name);

} // namespace espalier
