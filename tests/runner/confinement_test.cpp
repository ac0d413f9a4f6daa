// SPDX-License-Identifier: Apache-2.0
#include "core/runner/confinement.h"

#include <csignal>
#include <functional>
#include <gtest/gtest.h>
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
