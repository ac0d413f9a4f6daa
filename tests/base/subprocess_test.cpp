// SPDX-License-Identifier: Apache-2.0
#include "core/base/subprocess.h"

#include "core/base/file.h"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <thread>

using namespace espalier;
using namespace std::chrono_literals;

namespace {

ProcessSpec shell(std::string script)
{
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", std::move(script)};
    return spec;
}

/// A process that ended but was not reaped yet by its new parent is dead too.
bool alive(pid_t pid)
{
    const auto stat = readFile("/proc/" + std::to_string(pid) + "/stat");
    return stat && stat->substr(stat->rfind(')') + 2, 1) != "Z";
}

} // namespace

TEST(Subprocess, CollectsOutputAndCode)
{
    const auto result = runToEnd(shell("cat; echo err >&2; exit 3"), "hello", 60s);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->out, "hello");
    EXPECT_EQ(result->err, "err\n");
    EXPECT_EQ(result->status.code, 3);
    EXPECT_FALSE(result->timedOut);
}

TEST(Subprocess, MissingProgramIsOneSentence)
{
    const auto result = runToEnd({.argv = {"no-such-program-here"}}, "", 1s);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::NotFound);
    EXPECT_EQ(result.error().message,
              "the program no-such-program-here was not found; install it or put it on the PATH");
}

TEST(Subprocess, WhatCannotBeStartedNamesItsRemedy)
{
    const auto folder = std::move(*ScratchFolder::create("espalier-startable"));
    const std::string script = (folder.path() / "agent.py").string();
    ASSERT_TRUE(writeFileAtomically(script, "print(1)\n"));
    std::filesystem::permissions(script, std::filesystem::perms(0644));
    EXPECT_EQ(whyNotStartable(script), script + " may not be executed: chmod +x " + script +
                                           ", or name its interpreter before it (python3 " + script + ")");
    std::filesystem::permissions(script, std::filesystem::perms(0755));
    EXPECT_NE(whyNotStartable(script).find("without a #! line"), std::string::npos);
    const auto started = Subprocess::start({.argv = {script}});
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().message, whyNotStartable(script));
    EXPECT_NE(whyNotStartable(folder.path().string()).find("no file that could be started"), std::string::npos);
    EXPECT_NE(whyNotStartable(folder.path().string() + "/x").find("there is no program"), std::string::npos);
    EXPECT_EQ(whyNotStartable("sh"), "");
    for (const std::string_view begin : {"\177ELF\2\1\1 of another machine", "MZ\220\3", "PK\3\4"}) {
        const std::string program = (folder.path() / "binary").string();
        ASSERT_TRUE(writeFileAtomically(program, begin));
        std::filesystem::permissions(program, std::filesystem::perms(0755));
        EXPECT_EQ(whyNotStartable(program), "") << "the kernel may know how";
        const auto refused = Subprocess::start({.argv = {program}});
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().message.find(program + ": Exec format error"), std::string::npos)
            << refused.error().message;
        EXPECT_NE(refused.error().message.find("name a program that runs on this one"), std::string::npos);
    }
    EXPECT_EQ(findProgram(""), "");
}

TEST(Subprocess, DeadlineKillsTheWholeTree)
{
    const auto result = runToEnd(shell("sleep 1000 & echo $!; sleep 1000"), "", 2s);
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->timedOut);
    EXPECT_LT(result->seconds, 60);
    const pid_t grandchild = std::atoi(result->out.c_str());
    ASSERT_GT(grandchild, 0);
    for (int i = 0; i < 6000 && alive(grandchild); ++i) {
        std::this_thread::sleep_for(10ms);
    }
    EXPECT_FALSE(alive(grandchild));
}

TEST(Subprocess, ManyBytesAreCappedAndDrained)
{
    const auto result = runToEnd(shell("head -c 100000000 /dev/zero"), "", 120s, 1000);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->out.size(), 1000u);
    EXPECT_EQ(result->dropped, 100000000u - 1000u);
    EXPECT_TRUE(result->status.success());
}

TEST(Subprocess, StopTokenCancels)
{
    std::stop_source source;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(100ms);
        source.request_stop();
    });
    const auto result = runToEnd(shell("sleep 1000"), "", 600s, 1000, source.get_token());
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->cancelled);
    EXPECT_LT(result->seconds, 60);
}

TEST(Subprocess, ChildThatIgnoresTermIsKilled)
{
    auto process = Subprocess::start(shell("trap '' TERM; echo ready; while :; do sleep 0.1; done"));
    ASSERT_TRUE(process);
    char ready[6];
    ASSERT_EQ(::read(process->output().get(), ready, sizeof ready), 6);
    const auto begin = std::chrono::steady_clock::now();
    const auto status = process->stop(200ms);
    ASSERT_TRUE(status);
    EXPECT_EQ(status->signal, SIGKILL);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

TEST(Subprocess, NoDescriptorLeaksIn)
{
    const int leaked = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const auto result = runToEnd(shell("ls /proc/self/fd"), "", 60s);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->out, "0\n1\n2\n3\n"); // 3: ls itself reading the folder
    ::close(leaked);
}

TEST(Subprocess, NamedDescriptorArrives)
{
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ProcessSpec spec = shell("echo through >&7");
    spec.descriptors = {{ends[1], 7}};
    const auto result = runToEnd(spec, "", 60s);
    ASSERT_TRUE(result);
    ::close(ends[1]);
    char buffer[16] = {};
    EXPECT_EQ(::read(ends[0], buffer, sizeof buffer), 8);
    ::close(ends[0]);
}

TEST(Subprocess, EnvironmentIsExactlyWhatIsGiven)
{
    ProcessSpec spec;
    spec.argv = {"/usr/bin/env"};
    spec.environment = {"ONLY=this"};
    const auto result = runToEnd(spec, "", 60s);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->out, "ONLY=this\n");
}
