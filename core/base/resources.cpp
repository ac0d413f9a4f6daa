// SPDX-License-Identifier: Apache-2.0
#include "core/base/resources.h"

#include "core/base/file.h"

#include <cstdlib>
#include <vector>

namespace espalier {

std::filesystem::path resourceFile(std::string_view name)
{
    namespace fs = std::filesystem;
    std::vector<fs::path> roots;
    if (const char* named = std::getenv("ESPALIER_RESOURCES"); named && *named) {
        roots.emplace_back(named);
    }
    roots.push_back(executableFolder().parent_path() / "share" / "espalier" / "resources");
    roots.emplace_back(ESPALIER_SOURCE_RESOURCES);
    for (const fs::path& root : roots) {
        std::error_code error;
        if (fs::exists(root / name, error)) {
            return root / name;
        }
    }
    return fs::path("resources") / name;
}

} // namespace espalier
