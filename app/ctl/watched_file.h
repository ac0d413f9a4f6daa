// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

#include <filesystem>
#include <optional>
#include <string>

namespace espalier::ctl {

/// One file that an editor saves: in place, or written aside and renamed over it (the folder is watched, not the file,
/// so both are seen). Thread: one. Errors: Io naming the folder that cannot be watched.
class WatchedFile
{
public:
    static Result<WatchedFile> open(const std::filesystem::path& file);
    int descriptor() const { return m_fd.get(); }
    /// The text when it was saved and differs from what was last seen (or taken as seen); nullopt: nothing new, or it
    /// is gone for the moment between two steps of a save.
    std::optional<std::string> take();
    const std::filesystem::path& path() const { return m_file; }

private:
    std::filesystem::path m_file;
    UniqueFd m_fd;
    std::string m_seen;
};

} // namespace espalier::ctl
