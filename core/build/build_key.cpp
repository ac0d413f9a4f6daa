// SPDX-License-Identifier: Apache-2.0
#include "core/build/build_key.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/build/import_list.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

namespace espalier {

namespace {

namespace fs = std::filesystem;

/// Rises when this version judges a built library by other rules than the last one. The import list is in by itself.
constexpr std::string_view rules = "espalier build 4";

std::string importRules()
{
    std::string all;
    for (const AllowedImport& row : allowedImports()) {
        all += fmt::format("{}\n", row.name);
    }
    return all;
}

std::string stampOf(const fs::path& path)
{
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0) {
        return {};
    }
    return fmt::format("{} {}.{}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

} // namespace

std::string hostCompilerIdentity()
{
    for (const char* folder : {"/usr/bin", "/bin"}) {
        std::error_code error;
        const fs::path found = fs::canonical(fs::path(folder) / "g++", error);
        if (!error) {
            return fmt::format("{} {}", found.string(), stampOf(found));
        }
    }
    return {};
}

Result<std::string> BuildKeys::contentsOf(const std::string& root)
{
    std::vector<std::pair<std::string, std::string>> digests;
    std::error_code error;
    fs::recursive_directory_iterator entry(root, error), end;
    for (; !error && entry != end; entry.increment(error)) {
        const fs::path path = entry->path();
        std::error_code ignored;
        if (!entry->is_regular_file(ignored)) {
            continue;
        }
        const std::string stamp = stampOf(path);
        FileDigest& known = m_files[path.string()];
        if (known.stamp != stamp || stamp.empty()) {
            ESPALIER_TRY(const std::string text, readFile(path, std::size_t{1} << 30));
            known = {stamp, sha256(text)};
        }
        digests.emplace_back(path.lexically_relative(root).string(), known.digest);
    }
    if (error) {
        return fail(ErrorCode::Io, fmt::format("the include folder {} cannot be read: {}", root, error.message()));
    }
    std::sort(digests.begin(), digests.end()); // a folder's order is the file system's business
    std::string all;
    for (const auto& [name, digest] : digests) {
        all += fmt::format("{} {}:{}\n", digest, name.size(), name);
    }
    return sha256(all);
}

Result<std::string> BuildKeys::keyOf(const BuildJob& job, const Toolkit& toolkit, const std::vector<InputFile>& files,
                                     const std::vector<std::string>& arguments)
{
    std::string include;
    {
        const std::lock_guard lock(m_mutex);
        for (const std::string& root : job.task->build.includeRoots) {
            ESPALIER_TRY(const std::string digest, contentsOf(root));
            include += digest + "\n";
        }
    }
    std::string beside;
    for (const InputFile& file : files) {
        beside += fmt::format("{} {}:{}\n", file.name, file.text.size(), file.text);
    }
    const std::string role = fmt::format("{}", static_cast<int>(job.role));
    const std::string commandLine = fmt::format("{}", fmt::join(arguments, "\n"));
    return sha256Of({rules, importRules(), job.source, beside, commandLine, include, toolkit.identity,
                     hostCompilerIdentity(), job.architecture, role, job.task->entry});
}

} // namespace espalier
