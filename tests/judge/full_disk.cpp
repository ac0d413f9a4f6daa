// SPDX-License-Identifier: Apache-2.0
#include "tests/judge/full_disk.h"

#include "core/base/fd.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <unistd.h>

namespace espalier::test {

namespace {

/// As root directly, else as the root of a user name space of its own.
bool enterNameSpace()
{
    if (::unshare(CLONE_NEWNS) == 0) {
        return true;
    }
    const std::string user = std::to_string(::getuid()), group = std::to_string(::getgid());
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
        return false;
    }
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " + user + " 1";
    std::ofstream("/proc/self/gid_map") << "0 " + group + " 1";
    return ::getuid() == 0;
}

/// Until nothing fits; true when that is why it ends.
bool fill(const std::filesystem::path& file)
{
    const UniqueFd full(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    constexpr std::array<char, 4096> page = {};
    while (full && ::write(full.get(), page.data(), page.size()) > 0) {
    }
    return full && errno == ENOSPC;
}

} // namespace

bool mountFullDisk(const std::filesystem::path& folder)
{
    return enterNameSpace() && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", folder.c_str(), "tmpfs", 0, "size=64k") == 0 && fill(folder / "full");
}

void unmountFullDisk(const std::filesystem::path& folder)
{
    ::umount2(folder.c_str(), MNT_DETACH);
}

} // namespace espalier::test
