// SPDX-License-Identifier: Apache-2.0
// Reads the #include lines of core, views and app: nothing may point against the direction of DESIGN.md section 7.
#include "core/base/file.h"
#include "core/base/text.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace fs = std::filesystem;

namespace {

using Allowed = std::map<std::string, std::set<std::string>>;

/// Folder -> folders it may include from (itself always).
const Allowed& allowed()
{
    static const Allowed table = {
        {"core/base", {}},
        {"core/model", {"core/base"}},
        {"core/analysis", {"core/base", "core/model"}},
        {"core/diff", {"core/base", "core/model"}},
        {"core/llm", {"core/base", "core/model"}},
        {"core/propose", {"core/base", "core/model", "core/analysis", "core/diff", "core/llm"}},
        {"core/build", {"core/base", "core/model", "core/analysis"}},
        {"core/worker", {"core/base", "core/model", "core/analysis"}},
        {"core/store", {"core/base", "core/model"}},
        {"core/export", {"core/base", "core/model", "core/build"}},
        {"core/search",
         {"core/base", "core/model", "core/analysis", "core/diff", "core/llm", "core/propose", "core/build",
          "core/worker", "core/store"}},
        {"core/report", {"core/base", "core/model", "core/diff", "core/store", "core/search"}},
        {"core/engine",
         {"core/base", "core/model", "core/analysis", "core/diff", "core/llm", "core/propose", "core/build",
          "core/worker", "core/store", "core/export", "core/search"}},
        {"core/device", {"core/base", "core/device/ops"}},
        {"core/device/ops", {"core/base"}},
        {"core/device/cuda", {"core/base", "core/device", "core/device/ops"}},
        {"core/device/sim", {"core/base", "core/device", "core/device/ops"}},
        {"core/simgpu", {"core/base", "core/device", "core/device/ops", "core/device/sim"}},
        {"core/simgpu/simrt", {"core/base", "core/device", "core/device/ops", "core/device/sim", "core/simgpu"}},
        {"core/profile", {"core/base", "core/device", "core/device/cuda"}},
        {"core/runner",
         {"core/base", "core/worker", "core/profile", "core/device", "core/device/cuda", "core/device/sim",
          "core/simgpu"}},
        {"core/judge",
         {"core/base", "core/model", "core/analysis", "core/worker", "core/device", "core/device/ops",
          "core/device/cuda", "core/device/sim", "core/simgpu", "core/profile", "core/runner"}},
        {"views", {"core/base", "core/model", "core/analysis", "core/diff", "core/engine"}},
        {"app",
         {"core/base", "core/model", "core/analysis", "core/diff", "core/llm", "core/search", "core/report",
          "core/engine", "core/store", "core/export", "core/build", "core/worker", "core/judge", "core/runner",
          "core/simgpu", "views"}},
    };
    return table;
}

std::string folderOf(std::string_view path)
{
    const auto slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? std::string_view() : path.substr(0, slash));
}

/// The most specific folder of the table that holds `folder`: subfolders follow their parent unless named.
std::string ruleFor(std::string folder)
{
    while (!folder.empty() && !allowed().contains(folder)) {
        folder = folderOf(folder);
    }
    return folder;
}

std::string includedPath(std::string_view line)
{
    line = espalier::trimmed(line);
    if (!line.starts_with("#include \"")) {
        return {};
    }
    line.remove_prefix(10);
    return std::string(line.substr(0, line.find('"')));
}

bool isSource(const fs::path& path)
{
    return path.extension() == ".h" || path.extension() == ".cpp" || path.extension() == ".cu";
}

std::vector<std::string> violationsOf(const std::string& file, std::string_view text)
{
    std::vector<std::string> found;
    const std::string own = ruleFor(folderOf(file));
    if (own.empty()) {
        return {file + ": its folder has no rule in layering_test.cpp"};
    }
    for (const std::string_view line : espalier::splitLines(text)) {
        const std::string target = includedPath(line);
        if (!target.starts_with("core/") && !target.starts_with("views/") && !target.starts_with("app/")) {
            continue;
        }
        const std::string to = ruleFor(folderOf(target));
        if (to != own && !allowed().at(own).contains(to)) {
            found.push_back(file + " includes " + target + ": " + own + " may not lean on " + to);
        }
    }
    return found;
}

std::vector<std::string> sourcesBelow(const fs::path& root)
{
    std::vector<std::string> files;
    for (const char* top : {"core", "views", "app"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            if (entry.is_regular_file() && isSource(entry.path())) {
                files.push_back(fs::relative(entry.path(), root).string());
            }
        }
    }
    return files;
}

} // namespace

TEST(Layering, IncludesFollowTheDirection)
{
    const fs::path root = ESPALIER_SOURCE_DIR;
    const auto files = sourcesBelow(root);
    ASSERT_GT(files.size(), 20u);
    std::string all;
    for (const std::string& file : files) {
        const auto text = espalier::readFile(root / file);
        ASSERT_TRUE(text) << text.error().message;
        for (const std::string& violation : violationsOf(file, *text)) {
            all += violation + "\n";
        }
    }
    EXPECT_EQ(all, "");
}

TEST(Layering, SeesAViolation)
{
    EXPECT_EQ(violationsOf("core/base/x.h", "#include \"core/model/task.h\"\n").size(), 1u);
    EXPECT_EQ(violationsOf("views/x.cpp", "#include \"core/store/store.h\"\n").size(), 1u);
    EXPECT_EQ(violationsOf("core/model/x.h", "#include \"core/base/ids.h\"\n").size(), 0u);
}

TEST(Layering, CoreNamesNoQt)
{
    const fs::path root = ESPALIER_SOURCE_DIR;
    for (const std::string& file : sourcesBelow(root)) {
        if (file.starts_with("core/")) {
            const auto text = espalier::readFile(root / file);
            ASSERT_TRUE(text);
            EXPECT_EQ(text->find("#include <Q"), std::string::npos) << file;
        }
    }
}

TEST(Layering, EveryFileSaysItsLicence)
{
    const fs::path root = ESPALIER_SOURCE_DIR;
    for (const std::string& file : sourcesBelow(root)) {
        const auto text = espalier::readFile(root / file);
        ASSERT_TRUE(text);
        EXPECT_NE(text->substr(0, 120).find("SPDX-License-Identifier: "), std::string::npos) << file;
    }
}
