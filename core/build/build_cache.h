// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/evaluation.h"
#include "core/model/library.h"

#include <filesystem>
#include <optional>
#include <string>

namespace espalier {

/// What a build left behind, by its key: one file each under `folder`, written beside its place and renamed, so that
/// several Espaliers and a kill at any moment leave whole entries or none. Every entry carries its own hash; a damaged
/// one is a miss. Thread: any; no state but the folder.
class BuildCache
{
public:
    struct Entry {
        Evaluation evaluation;
        std::optional<Library> library;
    };

    explicit BuildCache(std::filesystem::path folder) : m_folder(std::move(folder)) {}

    std::optional<Entry> find(const std::string& key) const;
    /// Errors: Io (read-only folder, full disk); the build itself is none the worse.
    Result<void> store(const std::string& key, const Entry& entry) const;

private:
    std::filesystem::path pathOf(const std::string& key) const;
    std::filesystem::path m_folder;
};

} // namespace espalier
