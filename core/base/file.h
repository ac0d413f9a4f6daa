// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace espalier {

/// The whole file. Errors: NotFound / Io, naming the path; InvalidInput when it is larger than `limit`.
Result<std::string> readFile(const std::filesystem::path& path, std::size_t limit = std::size_t{64} << 20);

/// Writes beside the target, syncs and renames: a reader sees the old file or the new one, never half of it.
/// Errors: Io naming the path and the cause (read-only folder, full disk).
Result<void> writeFileAtomically(const std::filesystem::path& path, std::string_view content);

Result<void> makeDirectories(const std::filesystem::path& path);

/// A fresh private folder (mode 0700), empty, that is deleted with the object. Base: $TMPDIR or /tmp. What a process
/// left there that was killed goes with the first folder that a later one makes.
class ScratchFolder
{
public:
    static Result<ScratchFolder> create(std::string_view prefix);
    ScratchFolder(ScratchFolder&& other) noexcept;
    ScratchFolder& operator=(ScratchFolder&& other) noexcept;
    ~ScratchFolder();
    const std::filesystem::path& path() const { return m_path; }

private:
    ScratchFolder(std::filesystem::path path, UniqueFd lock) : m_path(std::move(path)), m_lock(std::move(lock)) {}
    std::filesystem::path m_path;
    UniqueFd m_lock; ///< held as long as this process uses the folder
};

/// $XDG_CACHE_HOME/espalier or ~/.cache/espalier; $XDG_DATA_HOME/espalier; $XDG_CONFIG_HOME/espalier.
std::filesystem::path cacheFolder();
std::filesystem::path dataFolder();
std::filesystem::path configFolder();

/// Folder of the running program, with links resolved.
std::filesystem::path executableFolder();

} // namespace espalier
