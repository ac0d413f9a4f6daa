// SPDX-License-Identifier: Apache-2.0
// Slow: every constant of every playbook kernel is changed, built with what host objects are there, and held against a
// whole build: the same PTX, the same host code.
#include "core/build/fat_binary.h"
#include "core/propose/tunables.h"
#include "tests/build/build_support.h"

#include "core/base/subprocess.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <thread>

namespace espalier {
namespace {

namespace fs = std::filesystem;

std::string hostCode(const std::string& library, const fs::path& folder)
{
    EXPECT_TRUE(writeFileAtomically(folder / "library.so", library));
    ProcessSpec spec;
    spec.argv = {"/usr/bin/objcopy",        "-O", "binary", "-j", ".text", (folder / "library.so").string(),
                 (folder / "text").string()};
    const auto ran = runToEnd(std::move(spec), "", std::chrono::seconds(20));
    EXPECT_TRUE(ran && ran->status.success());
    return readFile(folder / "text", std::size_t{16} << 20).value_or("");
}

TEST(HostParts, AreWhatAWholeBuildMakes)
{
    const auto scratch = ScratchFolder::create("parts-test");
    int changed = 0, deviceOnly = 0;
    for (const auto& entry : fs::directory_iterator(std::string(ESPALIER_SOURCE_DIR) + "/tasks")) {
        if (!fs::exists(entry.path() / "task.json")) {
            continue;
        }
        const auto task = loadTask(entry.path().string());
        ASSERT_TRUE(task) << task.error().message;
        const auto shared = std::make_shared<const Task>(*task);
        BuildPoolOptions options;
        options.useCache = false;
        options.workers = 2;
        BuildPoolOptions whole = options;
        whole.reuseHost = false;
        const auto parts = makeNvccBuildPool(options);
        const auto build = [&](BuildPool& pool, const std::string& source) {
            pool.submit({RequestId{++changed}, shared, SourceRole::Candidate, source, {}, "90a"});
            for (;;) {
                for (BuildResult& result : pool.receive()) {
                    return std::move(result);
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        };
        for (const PlaybookIdea& idea : task->playbook) {
            const std::string& source = idea.source.text;
            (void)build(*parts, source);
            for (const Tunable& tunable : readMarks(source).tunables) {
                const std::int64_t other =
                    tunable.values.front() == tunable.current ? tunable.values.back() : tunable.values.front();
                const auto variant = withTunables(source, {{tunable.name, other}});
                ASSERT_TRUE(variant);
                const BuildResult part = build(*parts, *variant);
                if (!part.library || !part.evaluation.build->deviceOnly) {
                    continue;
                }
                ++deviceOnly;
                const BuildResult all =
                    buildNow({RequestId{1}, shared, SourceRole::Candidate, *variant, {}, "90a"}, whole);
                ASSERT_TRUE(all.library);
                const std::string name = fmt::format("{} {}={}", idea.source.name, tunable.name, other);
                EXPECT_TRUE(*ptxOfLibrary(*part.library->bytes) == *ptxOfLibrary(*all.library->bytes)) << name;
                EXPECT_TRUE(hostCode(*part.library->bytes, scratch->path()) ==
                            hostCode(*all.library->bytes, scratch->path()))
                    << name;
            }
        }
    }
    fmt::print("{} builds, {} of a device part alone\n", changed, deviceOnly);
    EXPECT_GT(deviceOnly, 0);
}

} // namespace
} // namespace espalier
