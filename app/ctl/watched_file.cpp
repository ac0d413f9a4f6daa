// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/watched_file.h"

#include "core/base/file.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/inotify.h>

namespace espalier::ctl {

namespace {

constexpr std::size_t longestSource = std::size_t{1} << 20;

} // namespace

Result<WatchedFile> WatchedFile::open(const std::filesystem::path& file)
{
    WatchedFile watched;
    watched.m_file = std::filesystem::absolute(file);
    ESPALIER_TRY(watched.m_seen, readFile(watched.m_file, longestSource));
    watched.m_fd.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    const auto folder = watched.m_file.parent_path();
    if (!watched.m_fd || ::inotify_add_watch(watched.m_fd.get(), folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
        return fail(ErrorCode::Io,
                    fmt::format("The folder {} cannot be watched: {}", folder.string(), std::strerror(errno)));
    }
    return watched;
}

std::optional<std::string> WatchedFile::take()
{
    bool ours = false;
    alignas(inotify_event) char buffer[8192];
    for (ssize_t got = 0; (got = ::read(m_fd.get(), buffer, sizeof buffer)) > 0;) {
        for (ssize_t at = 0; at < got;) {
            const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
            // Too many events at once: some were lost, so the file is looked at.
            ours = ours || (event->mask & IN_Q_OVERFLOW) != 0 || (event->len > 0 && m_file.filename() == event->name);
            at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
        }
    }
    if (!ours) {
        return std::nullopt;
    }
    auto text = readFile(m_file, longestSource);
    if (!text || *text == m_seen) {
        return std::nullopt;
    }
    m_seen = *text;
    return std::move(*text);
}

} // namespace espalier::ctl
