// SPDX-License-Identifier: Apache-2.0
#include "core/base/own_tree.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace espalier {

namespace {

/// How the keeper hears of its owner's end, or wish: SIGTERM is for the child alone.
constexpr int endAll = SIGUSR1;
constexpr int keeperPatience = 1000; ///< rounds of a millisecond that what is killed may take to go

/// fork(2) with new namespaces: unshare(2) would do it for the whole process, and not at all beside other threads.
pid_t cloneWith(unsigned long namespaces)
{
    return static_cast<pid_t>(::syscall(SYS_clone, namespaces | SIGCHLD, 0UL, nullptr, nullptr, 0UL));
}

bool writeWhole(const char* path, std::string_view text)
{
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(fd);
    return written;
}

/// SIGKILL to every child; false when they cannot be listed.
bool killChildren()
{
    const int fd = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    char text[4096];
    pid_t pid = 0;
    for (ssize_t got; (got = ::read(fd, text, sizeof text)) > 0;) {
        for (const char c : std::string_view(text, static_cast<std::size_t>(got))) {
            if (c >= '0' && c <= '9') {
                pid = pid * 10 + (c - '0');
            } else if (pid > 0) {
                ::kill(pid, SIGKILL);
                pid = 0;
            }
        }
    }
    ::close(fd);
    return true;
}

/// Ends all below: the children of one that is killed become the subreaper's own, until there is none.
void endAllBelow(pid_t child)
{
    for (int round = 0; round < keeperPatience; ++round) {
        pid_t reaped;
        while ((reaped = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
        }
        if (reaped < 0) {
            return;
        }
        if (!killChildren()) {
            ::kill(child, SIGKILL);
        }
        const timespec pause = {0, 1000000};
        ::nanosleep(&pause, nullptr);
    }
}

[[noreturn]] void endAs(int status)
{
    if (WIFSIGNALED(status)) {
        const rlimit noCore = {0, 0};
        ::setrlimit(RLIMIT_CORE, &noCore);
        ::signal(WTERMSIG(status), SIG_DFL);
        sigset_t none;
        ::sigemptyset(&none);
        ::kill(::getpid(), WTERMSIG(status));
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::_exit(128 + WTERMSIG(status));
    }
    ::_exit(WEXITSTATUS(status));
}

/// The keeper's whole life. It keeps no descriptor, so that the child's pipes close with the child.
[[noreturn]] void keep(pid_t child)
{
    ::close_range(0, ~0U, 0);
    sigset_t awaited;
    ::sigemptyset(&awaited);
    for (const int signal : {SIGCHLD, SIGTERM, endAll}) {
        ::sigaddset(&awaited, signal);
    }
    for (;;) {
        const int heard = ::sigwaitinfo(&awaited, nullptr);
        if (heard == endAll) {
            endAllBelow(child);
            endAs(W_EXITCODE(0, SIGKILL));
        }
        if (heard == SIGTERM) {
            ::kill(-child, SIGTERM);
        }
        int status = 0;
        for (pid_t reaped; (reaped = ::waitpid(-1, &status, WNOHANG)) > 0;) {
            if (reaped == child) {
                endAllBelow(child);
                endAs(status);
            }
        }
    }
}

bool works(OwnTree::Way way)
{
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = OwnTree(way).fork();
    if (pid == 0) {
        ::_exit(0);
    }
    int status = 1;
    if (pid > 0) {
        ::waitpid(pid, &status, 0);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return pid > 0 && status == 0;
}

} // namespace

OwnTree::Way OwnTree::possibleWay()
{
#ifdef __SANITIZE_THREAD__
    return Way::Keeper; // its runtime knows of fork() alone
#else
    static const Way way = works(Way::Namespace)       ? Way::Namespace
                           : works(Way::UserNamespace) ? Way::UserNamespace
                                                       : Way::Keeper;
    return way;
#endif
}

OwnTree::OwnTree(Way way)
    : m_owner(::getpid()), m_ownerEnds(static_cast<int>(::syscall(SYS_pidfd_open, m_owner, 0))),
      m_way(m_ownerEnds ? way : Way::Keeper), m_userMap(fmt::format("{0} {0} 1", ::geteuid())),
      m_groupMap(fmt::format("{0} {0} 1", ::getegid()))
{
}

pid_t OwnTree::fork()
{
    return m_way == Way::Keeper ? forkUnderKeeper() : forkIntoNamespace();
}

void OwnTree::end(pid_t keeper)
{
    ::kill(keeper, endAll);
}

pid_t OwnTree::forkIntoNamespace()
{
    const bool asUser = m_way == Way::UserNamespace;
    const pid_t pid = cloneWith(asUser ? CLONE_NEWPID | CLONE_NEWUSER : CLONE_NEWPID);
    if (pid != 0) {
        return pid;
    }
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // From in here the owner's number reads 0, whether it lives or not.
    pollfd owner = {m_ownerEnds.get(), POLLIN, 0};
    const bool orphaned = ::poll(&owner, 1, 0) != 0;
    const bool mapped =
        !asUser || (writeWhole("/proc/self/setgroups", "deny") && writeWhole("/proc/self/uid_map", m_userMap) &&
                    writeWhole("/proc/self/gid_map", m_groupMap));
    if (orphaned || !mapped) {
        ::_exit(127);
    }
    return 0;
}

pid_t OwnTree::forkUnderKeeper()
{
    const pid_t pid = ::fork();
    if (pid != 0) {
        return pid;
    }
    ::setpgid(0, 0);
    ::signal(SIGCHLD, SIG_DFL);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_PDEATHSIG, endAll);
    if (::getppid() != m_owner) {
        ::_exit(127);
    }
    const pid_t keeper = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        ::_exit(127);
    }
    ::setpgid(child, child); // of both: whoever is first
    if (child > 0) {
        keep(child);
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != keeper) {
        ::_exit(127);
    }
    return 0;
}

} // namespace espalier
