// SPDX-License-Identifier: Apache-2.0
#include "core/runner/confinement.h"

#include <cerrno>
#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace espalier::runner {
namespace {

/// Wait status of a confined child that does `what`.
int confined(const std::function<int()>& what)
{
    const pid_t child = ::fork();
    if (child == 0) {
        limitResources();
        if (!forbidNewProcesses()) {
            ::_exit(99);
        }
        ::_exit(what());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

TEST(Confinement, ThreadsAreAllowed)
{
    const int status = confined([] {
        int value = 0;
        std::thread([&] { value = 5; }).join();
        return value;
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST(Confinement, WaysOutOfASandboxAreRefusedAndLocalSocketsAreNot)
{
    const auto refused = [](long number, long first = 0) {
        return ::syscall(number, first, 0, 0, 0, 0, 0) == -1 && errno == EPERM;
    };
    const int status = confined([&] {
        int open = 0;
        for (const long number :
             {SYS_mount, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_io_uring_setup,
              SYS_open_by_handle_at, SYS_setns, SYS_unshare, SYS_kexec_load, SYS_syslog, SYS_chroot}) {
            open += refused(number) ? 0 : 1;
        }
        open += refused(SYS_socket, AF_INET) && refused(SYS_socket, AF_NETLINK) ? 0 : 1;
        const int local = ::socket(AF_UNIX, SOCK_STREAM, 0);
        return open + (local >= 0 ? 0 : 100);
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "calls that went through, plus 100 without local sockets";
}

TEST(Confinement, ReachingIntoAnotherProcessEndsThisOne)
{
    for (const long number : {SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd}) {
        const int status = confined([&] {
            ::syscall(number, 16, 1, 0, 0, 0, 0);
            return 0;
        });
        ASSERT_TRUE(WIFSIGNALED(status)) << number;
        EXPECT_EQ(WTERMSIG(status), SIGSYS) << number;
    }
}

TEST(Confinement, ForkAndExecEndTheProcess)
{
    const int forked = confined([] { return ::fork() >= 0 ? 1 : 2; });
    ASSERT_TRUE(WIFSIGNALED(forked));
    EXPECT_EQ(WTERMSIG(forked), SIGSYS);
    const int replaced = confined([] {
        ::execl("/bin/true", "true", nullptr);
        return 1;
    });
    ASSERT_TRUE(WIFSIGNALED(replaced));
    EXPECT_EQ(WTERMSIG(replaced), SIGSYS);
}

} // namespace
} // namespace espalier::runner
