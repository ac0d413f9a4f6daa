// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"

#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>
#include <vector>

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

/// What a killed process left is deleted by the next one; what a living one holds stays.
TEST(File, AScratchFolderOfAKilledProcessIsDeletedByTheNext)
{
    const auto base = ScratchFolder::create("espalier-file-test");
    ASSERT_TRUE(base);
    const fs::path record = base->path() / "record";
    const auto startOwner = [&] {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::setenv("TMPDIR", base->path().c_str(), 1);
            const auto folder = ScratchFolder::create("espalier-file-test");
            (void)writeFileAtomically(folder->path() / "content", "x");
            (void)writeFileAtomically(record, folder->path().string());
            ::pause();
        }
        return pid;
    };
    const auto madeFolder = [&] {
        for (int i = 0; i < 6000 && !fs::exists(record); ++i) {
            ::usleep(10000);
        }
        const fs::path folder = readFile(record).value_or("");
        fs::remove(record);
        return folder;
    };
    const auto end = [](pid_t pid) {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
    };
    const pid_t first = startOwner();
    const fs::path abandoned = madeFolder();
    end(first);
    const pid_t second = startOwner();
    const fs::path held = madeFolder();
    EXPECT_TRUE(fs::exists(abandoned / "content")) << "it is young: its owner may be about to lock it";
    const fs::path marker = ".espalier-scratch";
    ASSERT_TRUE(fs::exists(abandoned.parent_path() / marker));
    std::vector<fs::path> old = {abandoned.parent_path(), held.parent_path()}, alike;
    for (const auto& [name, marked, mode] :
         {std::tuple("results.scratch.abcdef", true, 0700), std::tuple("espalier-results.scratch.2025-11", true, 0700),
          std::tuple("espalier-results.scratch.2025", true, 0700),
          std::tuple("espalier-results.scratch.abcdef.kept", true, 0700),
          std::tuple("espalier-results.scratch.abcdef", false, 0700),
          std::tuple("espalier-results.scratch.abcdeg", true, 0755)}) {
        const fs::path folder = base->path() / name;
        fs::create_directories(folder / "content");
        fs::permissions(folder, static_cast<fs::perms>(mode));
        ASSERT_TRUE(writeFileAtomically(folder / (marked ? marker : fs::path("notes")), "x"));
        alike.push_back(folder);
        old.push_back(folder);
    }
    for (const fs::path& folder : old) {
        fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    const pid_t third = startOwner();
    EXPECT_TRUE(fs::exists(madeFolder() / "content"));
    EXPECT_FALSE(fs::exists(abandoned.parent_path()));
    for (const fs::path& folder : alike) {
        EXPECT_TRUE(fs::exists(folder / "content")) << folder << " is not ours";
    }
    EXPECT_TRUE(fs::exists(held / "content"));
    end(second);
    end(third);
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
    EXPECT_FALSE(fs::exists(path.parent_path()));
}
