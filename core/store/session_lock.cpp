// SPDX-License-Identifier: Apache-2.0
#include "core/store/session_lock.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace espalier {

namespace {

/// Who holds the flock, from /proc/locks: "12: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF".
std::string holderOf(int fd)
{
    struct stat facts = {};
    if (::fstat(fd, &facts) != 0) {
        return {};
    }
    const auto table = readFile("/proc/locks");
    if (!table) {
        return {};
    }
    const std::string place = fmt::format("{:02x}:{:02x}:{}", major(facts.st_dev), minor(facts.st_dev), facts.st_ino);
    for (const std::string_view line : splitLines(*table)) {
        const auto at = line.find(place);
        if (line.find("FLOCK") == std::string_view::npos || at == std::string_view::npos || at == 0) {
            continue;
        }
        const std::string_view before = trimmed(line.substr(0, at));
        const std::string pid(before.substr(before.rfind(' ') + 1));
        const auto name = readFile(fmt::format("/proc/{}/comm", pid));
        return name ? fmt::format("process {} ({})", pid, trimmed(*name)) : fmt::format("process {}", pid);
    }
    return {};
}

} // namespace

Result<UniqueFd> lockSession(const std::filesystem::path& file)
{
    UniqueFd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd) {
        if (errno == ENOENT) {
            return fail(ErrorCode::NotFound, fmt::format("{} does not exist", file.string()));
        }
        return fail(ErrorCode::Io, fmt::format("cannot write {}: {}; choose a file you may write to", file.string(),
                                               std::strerror(errno)));
    }
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        const std::string holder = holderOf(fd.get());
        return fail(ErrorCode::Busy, fmt::format("{} is open in {}; close it there first", file.string(),
                                                 holder.empty() ? "another process" : holder));
    }
    return fd;
}

} // namespace espalier
