// SPDX-License-Identifier: Apache-2.0
#include "core/base/subprocess.h"

#include "core/base/own_tree.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

extern char** environ;

namespace espalier {

namespace {

using Clock = std::chrono::steady_clock;

/// Further descriptors a child may be given.
constexpr std::size_t maxDescriptors = 16;

struct PipeEnds {
    UniqueFd reader, writer;
};

Result<PipeEnds> makePipe()
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return fail(ErrorCode::Internal, fmt::format("cannot create a pipe: {}", std::strerror(errno)));
    }
    return PipeEnds{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void limitResource(int resource, std::uint64_t value)
{
    if (value > 0) {
        const rlimit limit = {value, value};
        ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
    }
}

/// Everything the child needs, prepared before fork: after it only async-signal-safe calls are allowed.
struct ChildPlan {
    const char* program;
    char* const* argv;
    char* const* environment;
    const char* folder;
    int standard[3];
    const ProcessSpec* spec;
    pid_t parent;
    int failurePipe;
};

[[noreturn]] void giveUp(const ChildPlan& plan)
{
    const int error = errno;
    (void)!::write(plan.failurePipe, &error, sizeof error);
    ::_exit(127);
}

/// Moves descriptors above every target first, so that no dup2 overwrites a source that is still needed.
int movedHigh(int fd, int floor)
{
    return ::fcntl(fd, F_DUPFD_CLOEXEC, floor);
}

[[noreturn]] void runChild(ChildPlan plan)
{
    if (plan.spec->tree == ProcessSpec::Tree::Group) { // else it has been seen to
        ::setpgid(0, 0);
        if (!plan.spec->outliveParent) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != plan.parent) {
                ::_exit(127);
            }
        }
    }
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action = {};
        action.sa_handler = SIG_DFL;
        ::sigaction(number, &action, nullptr);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);

    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC); // also what our own parent leaked into us
    int floor = 64;
    for (const auto& descriptor : plan.spec->descriptors) {
        floor = std::max(floor, descriptor.target + 1);
    }
    plan.failurePipe = movedHigh(plan.failurePipe, floor);
    std::array<int, 3> standard = {};
    for (int i = 0; i < 3; ++i) {
        standard[static_cast<std::size_t>(i)] = plan.standard[i] >= 0 ? movedHigh(plan.standard[i], floor) : -1;
    }
    std::array<int, maxDescriptors> moved = {}; // start() checked the count; nothing may allocate here
    const std::size_t count = plan.spec->descriptors.size();
    for (std::size_t i = 0; i < count; ++i) {
        moved[i] = movedHigh(plan.spec->descriptors[i].source, floor);
    }
    for (int i = 0; i < 3; ++i) {
        const int fd = standard[static_cast<std::size_t>(i)];
        if (fd >= 0 && ::dup2(fd, i) < 0) {
            giveUp(plan);
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (::dup2(moved[i], plan.spec->descriptors[i].target) < 0) {
            giveUp(plan);
        }
    }
    if (plan.folder && ::chdir(plan.folder) != 0) {
        giveUp(plan);
    }
    limitResource(RLIMIT_AS, plan.spec->addressSpaceLimit);
    limitResource(RLIMIT_FSIZE, plan.spec->fileSizeLimit);
    limitResource(RLIMIT_CPU, plan.spec->cpuSecondsLimit);
    ::execve(plan.program, plan.argv, plan.environment);
    giveUp(plan);
}

std::vector<char*> pointersTo(const std::vector<std::string>& texts)
{
    std::vector<char*> pointers;
    for (const std::string& text : texts) {
        pointers.push_back(const_cast<char*>(text.c_str()));
    }
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace

std::string ExitStatus::text() const
{
    return signal ? fmt::format("signal {} ({})", signal, ::strsignal(signal)) : fmt::format("exit code {}", code);
}

namespace {

bool isRegularFile(const std::string& path)
{
    struct stat facts = {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

bool isStartable(const std::string& path)
{
    return isRegularFile(path) && ::access(path.c_str(), X_OK) == 0;
}

/// A script without its first line is started by a shell, and by nobody else. Of what is no text the kernel decides: it
/// may know an interpreter for it (binfmt_misc).
bool isScriptWithoutInterpreter(const std::string& path)
{
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char buffer[256];
    const ssize_t got = file ? ::read(file.get(), buffer, sizeof buffer) : -1;
    const std::string_view begin(buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    const auto isControl = [](char c) { return (c >= 0 && c < ' ' && !(c >= '\t' && c <= '\r')) || c == '\177'; };
    return got >= 0 && !begin.starts_with("#!") && std::none_of(begin.begin(), begin.end(), isControl);
}

std::string interpreterOf(std::string_view path)
{
    return path.ends_with(".py") ? "python3" : path.ends_with(".js") ? "node" : path.ends_with(".pl") ? "perl" : "sh";
}

} // namespace

std::string whyNotStartable(std::string_view name)
{
    const std::string path(name), found = findProgram(name);
    if (!found.empty()) {
        return isScriptWithoutInterpreter(found)
                   ? fmt::format("{0} is a script without a #! line: name its interpreter before it ({1} {0})", found,
                                 interpreterOf(found))
                   : std::string();
    }
    if (path.find('/') == std::string::npos) {
        return fmt::format("the program {} was not found; install it or put it on the PATH{}", path,
                           isRegularFile(path) ? fmt::format(" (the file in this folder is ./{})", path) : "");
    }
    if (isRegularFile(path)) {
        return fmt::format("{0} may not be executed: chmod +x {0}, or name its interpreter before it ({1} {0})", path,
                           interpreterOf(path));
    }
    return ::access(path.c_str(), F_OK) == 0 ? fmt::format("{} is no file that could be started: name a program", path)
                                             : fmt::format("there is no program {}: check its path", path);
}

std::string findProgram(std::string_view name)
{
    if (name.find('/') != std::string_view::npos) {
        const std::string path(name);
        return isStartable(path) ? path : std::string();
    }
    const char* path = std::getenv("PATH");
    for (const std::string_view folder : splitOn(path ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
        const std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
        if (isStartable(candidate)) {
            return candidate;
        }
    }
    return {};
}

Result<Subprocess> Subprocess::start(const ProcessSpec& spec)
{
    const std::string program = findProgram(spec.argv.at(0));
    if (program.empty()) {
        return fail(ErrorCode::NotFound, whyNotStartable(spec.argv[0]));
    }
    if (spec.descriptors.size() > maxDescriptors) {
        return fail(ErrorCode::Internal, fmt::format("{} was given more than {} descriptors", program, maxDescriptors));
    }
    Subprocess process;
    ESPALIER_TRY(PipeEnds failure, makePipe());
    UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    ChildPlan plan = {};
    std::array<UniqueFd, 3> childEnds;
    const std::array<ProcessSpec::Stream, 3> modes = {spec.standardInput, spec.standardOutput, spec.standardError};
    const std::array<UniqueFd*, 3> ownEnds = {&process.m_input, &process.m_output, &process.m_error};
    for (std::size_t i = 0; i < 3; ++i) {
        plan.standard[i] = modes[i] == ProcessSpec::Stream::Inherit ? -1 : null.get();
        if (modes[i] == ProcessSpec::Stream::Pipe) {
            ESPALIER_TRY(PipeEnds ends, makePipe());
            childEnds[i] = std::move(i == 0 ? ends.reader : ends.writer);
            *ownEnds[i] = std::move(i == 0 ? ends.writer : ends.reader);
            plan.standard[i] = childEnds[i].get();
        }
    }
    const std::vector<char*> arguments = pointersTo(spec.argv);
    const std::vector<std::string> environment = spec.environment.value_or(std::vector<std::string>{});
    const std::vector<char*> variables = pointersTo(environment);
    plan.program = program.c_str();
    plan.argv = arguments.data();
    plan.environment = spec.environment ? variables.data() : environ;
    plan.folder = spec.workingDirectory.empty() ? nullptr : spec.workingDirectory.c_str();
    plan.spec = &spec;
    plan.parent = ::getpid();
    plan.failurePipe = failure.writer.get();

    std::optional<OwnTree> tree;
    if (spec.tree != ProcessSpec::Tree::Group) {
        tree.emplace(spec.tree == ProcessSpec::Tree::Kept ? OwnTree::Way::Keeper : OwnTree::possibleWay());
    }
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before); // no handler of ours may run in the child before it resets them
    const pid_t pid = tree ? tree->fork() : ::fork();
    if (pid == 0) {
        runChild(plan);
    }
    const int forkError = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0) {
        return fail(ErrorCode::Internal, fmt::format("cannot start {}: {}", program, std::strerror(forkError)));
    }
    process.m_pid = pid;
    process.m_kept = tree && tree->isKept();
    ::setpgid(pid, pid); // also from here: a kill right after start must reach the group
    failure.writer.reset();
    int error = 0;
    ssize_t got;
    do {
        got = ::read(failure.reader.get(), &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    if (got == sizeof error) {
        process.kill();
        if (error == ENOEXEC) {
            const std::string why = whyNotStartable(spec.argv[0]);
            return fail(ErrorCode::NotFound,
                        why.empty() ? fmt::format("cannot start {}: {}; it is damaged or built for another kind of "
                                                  "machine: name a program that runs on this one",
                                                  program, std::strerror(error))
                                    : why);
        }
        return fail(error == ENOENT ? ErrorCode::NotFound : ErrorCode::Internal,
                    fmt::format("cannot start {}: {}", program, std::strerror(error)));
    }
    return process;
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : m_pid(std::exchange(other.m_pid, -1)), m_kept(other.m_kept), m_status(other.m_status),
      m_input(std::move(other.m_input)), m_output(std::move(other.m_output)), m_error(std::move(other.m_error))
{
}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept
{
    std::swap(m_pid, other.m_pid);
    std::swap(m_kept, other.m_kept);
    std::swap(m_status, other.m_status);
    std::swap(m_input, other.m_input);
    std::swap(m_output, other.m_output);
    std::swap(m_error, other.m_error);
    return *this;
}

Subprocess::~Subprocess()
{
    if (m_pid > 0 && !m_status) {
        kill();
    }
}

std::optional<ExitStatus> Subprocess::poll()
{
    if (m_status || m_pid <= 0) {
        return m_status;
    }
    int raw = 0;
    const pid_t got = ::waitpid(m_pid, &raw, WNOHANG);
    if (got == m_pid) {
        m_status = WIFSIGNALED(raw) ? ExitStatus{0, WTERMSIG(raw)} : ExitStatus{WEXITSTATUS(raw), 0};
    } else if (got < 0 && errno == ECHILD) {
        m_status = ExitStatus{255, 0};
    }
    return m_status;
}

std::optional<ExitStatus> Subprocess::wait(std::chrono::milliseconds limit)
{
    const auto end = Clock::now() + limit;
    auto pause = std::chrono::microseconds(100);
    while (!poll()) {
        if (Clock::now() >= end) {
            return std::nullopt;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::microseconds(5000));
    }
    return m_status;
}

void Subprocess::beginKill()
{
    if (m_pid <= 0) {
        return;
    }
    if (!m_kept) {
        ::kill(-m_pid, SIGKILL);
    } else if (!m_status) { // once it has ended nothing is left below it
        OwnTree::end(m_pid);
    }
}

void Subprocess::kill()
{
    constexpr std::chrono::milliseconds ofAKeeper(2000), ofAnyProcess(1000);
    beginKill();
    if (m_pid > 0 && !m_status && !(m_kept && wait(ofAKeeper))) {
        ::kill(m_pid, SIGKILL);
        wait(ofAnyProcess);
    }
}

std::optional<ExitStatus> Subprocess::stop(std::chrono::milliseconds patience)
{
    m_input.reset();
    if (!wait(std::chrono::milliseconds(0))) {
        ::kill(-m_pid, SIGTERM);
        if (!wait(patience)) {
            kill();
        }
    }
    return m_status;
}

namespace {

/// Reads what is there; false at the end of the stream.
bool drain(UniqueFd& fd, std::string& into, std::size_t cap, std::uint64_t& dropped)
{
    char buffer[65536];
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
        return true;
    }
    if (got <= 0) {
        fd.reset();
        return false;
    }
    const std::size_t keep = std::min(static_cast<std::size_t>(got), cap - std::min(cap, into.size()));
    into.append(buffer, keep);
    dropped += static_cast<std::uint64_t>(got) - keep;
    return true;
}

void feed(UniqueFd& fd, std::string_view& input)
{
    const ssize_t put = ::write(fd.get(), input.data(), input.size());
    if (put > 0) {
        input.remove_prefix(static_cast<std::size_t>(put));
    }
    if ((put < 0 && errno != EAGAIN && errno != EINTR) || input.empty()) {
        fd.reset();
    }
}

} // namespace

Result<RunResult> runToEnd(ProcessSpec spec, std::string_view input, std::chrono::milliseconds deadline,
                           std::size_t outputCap, std::stop_token stop)
{
    spec.standardInput = input.empty() ? ProcessSpec::Stream::Null : ProcessSpec::Stream::Pipe;
    const auto begin = Clock::now();
    ESPALIER_TRY(Subprocess process, Subprocess::start(spec));
    if (process.input()) {
        ::fcntl(process.input().get(), F_SETFL, O_NONBLOCK);
    }
    RunResult result;
    while (process.output() || process.error() || !process.poll()) {
        std::array<pollfd, 3> polled = {pollfd{process.output().get(), POLLIN, 0},
                                        pollfd{process.error().get(), POLLIN, 0},
                                        pollfd{process.input().get(), POLLOUT, 0}};
        ::poll(polled.data(), polled.size(), process.output() || process.error() ? 20 : 1);
        if (polled[0].revents) {
            drain(process.output(), result.out, outputCap, result.dropped);
        }
        if (polled[1].revents) {
            drain(process.error(), result.err, outputCap, result.dropped);
        }
        if (polled[2].revents) {
            feed(process.input(), input);
        }
        const bool late = Clock::now() - begin > deadline;
        if (late || stop.stop_requested()) {
            result.timedOut = late;
            result.cancelled = !late;
            process.kill();
            break;
        }
        if (process.poll() && !polled[0].revents && !polled[1].revents) {
            break; // a grandchild may hold the pipes open for ever; the child itself has ended
        }
    }
    process.kill(); // whatever the child left behind in its group
    result.status = process.poll().value_or(ExitStatus{0, SIGKILL});
    result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return result;
}

} // namespace espalier
