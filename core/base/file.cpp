// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace espalier {

namespace fs = std::filesystem;

namespace {

std::string causeOf(int error)
{
    switch (error) {
    case ENOSPC:
        return "the disk is full; free some space and try again";
    case EROFS:
    case EACCES:
    case EPERM:
        return "permission denied; choose a folder you may write to";
    default:
        return std::strerror(error);
    }
}

fs::path xdgFolder(const char* variable, const char* fallback)
{
    if (const char* value = std::getenv(variable); value && *value == '/') {
        return fs::path(value) / "espalier";
    }
    const char* home = std::getenv("HOME");
    return fs::path(home && *home ? home : "/tmp") / fallback / "espalier";
}

// A scratch folder is $TMPDIR/espalier-WHAT.scratch.XXXXXX, with a marker and its user's content in it.
constexpr std::string_view scratchPrefix = "espalier-", scratchMark = ".scratch.", scratchNumber = "XXXXXX";
constexpr const char* markerName = ".espalier-scratch";
constexpr const char* contentName = "content";

/// Locked by the process that uses it, until that ends in whatever way.
UniqueFd lockFolder(const fs::path& folder)
{
    UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        fd.reset();
    }
    return fd;
}

/// Whether it is one that we made: others give their folders names like ours, and theirs are never touched.
bool isScratchFolder(const fs::path& folder)
{
    const std::string name = folder.filename();
    const std::size_t ending = scratchMark.size() + scratchNumber.size();
    struct stat facts = {}, marker = {};
    return name.starts_with(scratchPrefix) && name.size() > scratchPrefix.size() + ending &&
           name.compare(name.size() - ending, scratchMark.size(), scratchMark) == 0 &&
           ::lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && (facts.st_mode & 0777) == 0700 &&
           facts.st_uid == ::geteuid() && ::lstat((folder / markerName).c_str(), &marker) == 0 &&
           S_ISREG(marker.st_mode) && marker.st_uid == ::geteuid();
}

/// The marker last: what is left of a deletion that was killed is still known for ours.
void deleteScratchFolder(const fs::path& folder)
{
    std::error_code ignored; // a leftover in the temporary folder is no reason to fail
    fs::remove_all(folder / contentName, ignored);
    if (!ignored) {
        fs::remove_all(folder, ignored);
    }
}

/// Deletes this user's scratch folders that nobody holds any more. A young one may be about to be locked.
void deleteAbandoned(const fs::path& base)
{
    constexpr auto young = std::chrono::minutes(1);
    std::error_code error;
    for (fs::directory_iterator at(base, error), end; !error && at != end; at.increment(error)) {
        std::error_code gone;
        if (!isScratchFolder(at->path()) || fs::file_time_type::clock::now() - at->last_write_time(gone) < young) {
            continue;
        }
        if (const UniqueFd lock = lockFolder(at->path())) {
            deleteScratchFolder(at->path());
        }
    }
}

} // namespace

Result<std::string> readFile(const fs::path& path, std::size_t limit)
{
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) {
        if (errno == ENOENT) {
            return fail(ErrorCode::NotFound, fmt::format("{} does not exist", path.string()));
        }
        return fail(ErrorCode::Io, fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
    }
    struct stat facts = {};
    if (::fstat(fd.get(), &facts) == 0 && S_ISDIR(facts.st_mode)) {
        return fail(ErrorCode::InvalidInput, fmt::format("{} is a folder, a file was expected", path.string()));
    }
    std::string content;
    char buffer[65536];
    for (;;) {
        const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return fail(ErrorCode::Io, fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
        }
        if (got == 0) {
            return content;
        }
        content.append(buffer, static_cast<std::size_t>(got));
        if (content.size() > limit) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("{} is larger than {} bytes, which is the limit for this kind of file",
                                    path.string(), limit));
        }
    }
}

Result<void> writeFileAtomically(const fs::path& path, std::string_view content)
{
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::string pattern = (folder / ("." + path.filename().string() + ".XXXXXX")).string();
    UniqueFd fd(::mkostemp(pattern.data(), O_CLOEXEC));
    if (!fd) {
        return fail(ErrorCode::Io, fmt::format("cannot write {}: {}", path.string(), causeOf(errno)));
    }
    const auto giveUp = [&](int error) {
        ::unlink(pattern.c_str());
        return fail(ErrorCode::Io, fmt::format("cannot write {}: {}", path.string(), causeOf(error)));
    };
    while (!content.empty()) {
        const ssize_t put = ::write(fd.get(), content.data(), content.size());
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return giveUp(errno);
        }
        content.remove_prefix(static_cast<std::size_t>(put));
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(fd.get(), 0666 & ~mask);
    if (::fsync(fd.get()) != 0 || ::rename(pattern.c_str(), path.c_str()) != 0) {
        return giveUp(errno);
    }
    return {};
}

Result<void> makeDirectories(const fs::path& path)
{
    std::error_code error;
    fs::create_directories(path, error);
    if (error) {
        return fail(ErrorCode::Io,
                    fmt::format("cannot create the folder {}: {}", path.string(), causeOf(error.value())));
    }
    return {};
}

Result<ScratchFolder> ScratchFolder::create(std::string_view prefix)
{
    const char* base = std::getenv("TMPDIR");
    const std::string folder = base && *base ? base : "/tmp";
    deleteAbandoned(folder);
    std::string pattern = fmt::format("{}/{}{}{}{}", folder, prefix.starts_with(scratchPrefix) ? "" : scratchPrefix,
                                      prefix, scratchMark, scratchNumber);
    if (!::mkdtemp(pattern.data())) {
        return fail(ErrorCode::Io, fmt::format("cannot create a scratch folder {}: {}", pattern, causeOf(errno)));
    }
    UniqueFd lock = lockFolder(pattern);
    const fs::path made(pattern), content = made / contentName;
    const UniqueFd marker(::open((made / markerName).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!marker || ::mkdir(content.c_str(), 0700) != 0) {
        const int error = errno;
        deleteScratchFolder(made);
        return fail(ErrorCode::Io, fmt::format("cannot create a scratch folder {}: {}", pattern, causeOf(error)));
    }
    return ScratchFolder(content, std::move(lock));
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : m_path(std::exchange(other.m_path, {})), m_lock(std::move(other.m_lock))
{
}

ScratchFolder& ScratchFolder::operator=(ScratchFolder&& other) noexcept
{
    std::swap(m_path, other.m_path);
    std::swap(m_lock, other.m_lock);
    return *this;
}

ScratchFolder::~ScratchFolder()
{
    if (!m_path.empty()) {
        deleteScratchFolder(m_path.parent_path());
    }
}

fs::path cacheFolder()
{
    return xdgFolder("XDG_CACHE_HOME", ".cache");
}
fs::path dataFolder()
{
    return xdgFolder("XDG_DATA_HOME", ".local/share");
}
fs::path configFolder()
{
    return xdgFolder("XDG_CONFIG_HOME", ".config");
}

fs::path executableFolder()
{
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path(".") : self.parent_path();
}

} // namespace espalier
