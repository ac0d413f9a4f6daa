// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace espalier;
namespace fs = std::filesystem;

TEST(File, WriteReadReplace)
{
    const auto scratch = ScratchFolder::create("espalier-file-test");
    ASSERT_TRUE(scratch);
    const fs::path path = scratch->path() / "a.txt";
    ASSERT_TRUE(writeFileAtomically(path, "one"));
    ASSERT_TRUE(writeFileAtomically(path, "two"));
    EXPECT_EQ(*readFile(path), "two");
    EXPECT_EQ(std::distance(fs::directory_iterator(scratch->path()), fs::directory_iterator()), 1); // no leftovers
}

TEST(File, ErrorsNameThePath)
{
    const auto missing = readFile("/nonexistent/file");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_EQ(missing.error().message, "/nonexistent/file does not exist");
    EXPECT_EQ(readFile("/tmp").error().code, ErrorCode::InvalidInput);
    const auto unwritable = writeFileAtomically("/proc/nothing/here", "x");
    ASSERT_FALSE(unwritable);
    EXPECT_NE(unwritable.error().message.find("/proc/nothing/here"), std::string::npos);
}

/// A file-size limit stands in for a full disk: the write fails half-way, the old file stays and nothing is left
/// behind.
TEST(File, NoRoomLeavesTheOldFile)
{
    const auto scratch = ScratchFolder::create("espalier-file-test");
    ASSERT_TRUE(scratch);
    const fs::path path = scratch->path() / "kept";
    ASSERT_TRUE(writeFileAtomically(path, "old"));
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit = {1000, 1000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const auto written = writeFileAtomically(path, std::string(5000, 'x'));
        ::_exit(!written && written.error().message.find(path.string()) != std::string::npos ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(*readFile(path), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(scratch->path()), fs::directory_iterator()), 1);
}

TEST(File, LimitIsEnforced)
{
    const auto scratch = ScratchFolder::create("espalier-file-test");
    ASSERT_TRUE(writeFileAtomically(scratch->path() / "big", std::string(1000, 'x')));
    EXPECT_TRUE(readFile(scratch->path() / "big", 1000));
    EXPECT_FALSE(readFile(scratch->path() / "big", 999));
    EXPECT_FALSE(readFile("/dev/zero", 100000)); // endless input ends
}

TEST(File, ScratchFolderGoesAway)
{
    fs::path path;
    {
        auto scratch = ScratchFolder::create("espalier-file-test");
        path = scratch->path();
        ScratchFolder moved = std::move(*scratch);
        EXPECT_TRUE(fs::exists(path));
    }
    EXPECT_FALSE(fs::exists(path));
}
