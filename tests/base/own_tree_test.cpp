// SPDX-License-Identifier: Apache-2.0
// Trees of processes whose owner or root is killed: nothing of them may stay.
#include "core/base/own_tree.h"

#include "core/base/file.h"
#include "core/base/subprocess.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <vector>

using namespace espalier;
using namespace std::chrono_literals;

namespace {

/// A number of seconds to sleep that no other process has among its arguments.
std::string mark()
{
    static int count = 0;
    return "86400." + std::to_string(::getpid()) + std::to_string(++count);
}

/// Processes that have `mark` among their arguments and are no zombies (those have no arguments).
std::vector<pid_t> marked(const std::string& mark)
{
    std::vector<pid_t> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename();
        const std::string words = readFile(entry.path() / "cmdline").value_or(""); // it may end meanwhile
        if (name.find_first_not_of("0123456789") == std::string::npos && words.find(mark) != std::string::npos) {
            found.push_back(std::stoi(name));
        }
    }
    return found;
}

/// Whether it comes to `count` marked processes. The limit is for a machine that has other things to do.
bool comesTo(const std::string& mark, std::size_t count)
{
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (marked(mark).size() != count) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

pid_t startTree(OwnTree::Way way, const std::string& script)
{
    OwnTree tree(way);
    sigset_t all, before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t pid = tree.fork();
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (pid == 0) {
        ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
        ::_exit(126);
    }
    return pid;
}

/// Two that have left the group, one of them as a grandchild.
std::string scattering(const std::string& mark)
{
    return "setsid sleep " + mark + " & sh -c 'setsid sleep " + mark + " & exit 0'; ";
}

class OwnTreeWays : public testing::TestWithParam<OwnTree::Way>
{
};

} // namespace

TEST_P(OwnTreeWays, EndsWithItsOwner)
{
    const std::string seconds = mark();
    const std::string sleeping = "sleep " + seconds; // not the script itself
    const pid_t owner = ::fork();
    if (owner == 0) {
        startTree(GetParam(), scattering(seconds) + "exec sleep " + seconds);
        ::pause();
    }
    EXPECT_TRUE(comesTo(seconds, 3));
    ::kill(owner, SIGKILL);
    ::waitpid(owner, nullptr, 0);
    EXPECT_TRUE(comesTo(seconds, 0));
}

TEST_P(OwnTreeWays, EndsWithItsRootAndEndsAsThatDid)
{
    const std::string seconds = mark();
    for (const std::string last : {"exit 3", "kill -TERM $$"}) {
        // A shell that is the first process of its namespace does not hear itself: another one dies for it.
        const pid_t root = startTree(GetParam(), scattering(seconds) + "sh -c '" + last + "'; exit $?");
        int status = 0;
        ASSERT_EQ(::waitpid(root, &status, 0), root);
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), last == "exit 3" ? 3 : 128 + SIGTERM);
        EXPECT_TRUE(marked(seconds).empty()); // at once: it was waited for
    }
}

/// In its group or in none, whatever the way.
TEST(OwnTree, OfAKilledProcessNothingBelowStays)
{
    for (const auto tree : {ProcessSpec::Tree::Own, ProcessSpec::Tree::Kept}) {
        const std::string seconds = mark();
        ProcessSpec spec;
        spec.argv = {"/bin/sh", "-c", scattering(seconds) + "sleep " + seconds + " & exec sleep " + seconds};
        spec.tree = tree;
        auto process = Subprocess::start(spec);
        ASSERT_TRUE(process);
        EXPECT_TRUE(comesTo(seconds, 4));
        process->kill();
        ASSERT_TRUE(process->poll());
        EXPECT_EQ(process->poll()->signal, SIGKILL);
        EXPECT_TRUE(marked(seconds).empty()); // at once: it was waited for
    }
}

TEST(OwnTree, AKeeperHandsOnTheWishToEnd)
{
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", "trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done"};
    spec.tree = ProcessSpec::Tree::Kept;
    auto process = Subprocess::start(spec);
    ASSERT_TRUE(process);
    char ready[6];
    ASSERT_EQ(::read(process->output().get(), ready, sizeof ready), 6);
    const auto status = process->stop(60s);
    ASSERT_TRUE(status);
    EXPECT_EQ(status->code, 3);
}

/// Its number is one that /proc knows and its abort() is heard, unlike those of a name space's first process.
TEST(OwnTree, UnderAKeeperAProcessIsLikeAnyOther)
{
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", "[ $$ -gt 1 ] && [ /proc/$$/exe -ef /proc/self/exe ] || echo $$; kill -ABRT $$"};
    spec.tree = ProcessSpec::Tree::Kept;
    const auto result = runToEnd(spec, {}, 60s);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->out, "");
    EXPECT_EQ(result->status.signal, SIGABRT);
}

INSTANTIATE_TEST_SUITE_P(Both, OwnTreeWays, testing::Values(OwnTree::possibleWay(), OwnTree::Way::Keeper));

TEST(OwnTree, AKeeperEndsByTheSignalThatEndedItsChild)
{
    const pid_t root = startTree(OwnTree::Way::Keeper, "kill -TERM $$");
    int status = 0;
    ASSERT_EQ(::waitpid(root, &status, 0), root);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

/// What was seen: bubblewrap's inner process left behind, in a session of its own, waiting for an outer one that was
/// killed before it had told that the user namespace is ready.
TEST(OwnTree, BubblewrapThatIsKilledWhileItStartsLeavesNothing)
{
    const std::string seconds = mark();
    ProcessSpec spec;
    spec.argv = {"bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/",
                 "sleep", seconds};
    std::mt19937 random(7);
    for (const auto tree : {ProcessSpec::Tree::Own, ProcessSpec::Tree::Kept}) {
        spec.tree = tree;
        for (int round = 0; round < 60; ++round) {
            auto started = Subprocess::start(spec);
            ASSERT_TRUE(started) << started.error().message;
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
            started->kill();
            EXPECT_TRUE(started->poll());
        }
        EXPECT_TRUE(comesTo(seconds, 0)) << marked(seconds).size() << " left";
    }
}

TEST(OwnTree, OwnersKilledWhileBubblewrapStartsLeaveNothing)
{
    const std::string seconds = mark();
    ProcessSpec spec;
    spec.argv = {"bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/",
                 "sleep", seconds};
    spec.tree = ProcessSpec::Tree::Own;
    std::mt19937 random(6);
    for (int round = 0; round < 60; ++round) {
        const pid_t owner = ::fork();
        if (owner == 0) {
            for (;;) {
                const auto started = Subprocess::start(spec);
                if (!started) {
                    ::_exit(1);
                }
            }
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
        ::kill(owner, SIGKILL);
        int status = 0;
        ::waitpid(owner, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status)) << "bubblewrap could not be started";
    }
    EXPECT_TRUE(comesTo(seconds, 0)) << marked(seconds).size() << " left";
}
