// SPDX-License-Identifier: Apache-2.0
#include "core/model/task_parts.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/model/task_loader.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace espalier {
namespace {

namespace fs = std::filesystem;

using Texts = std::map<std::string, std::string>;

Json scaleTask()
{
    return Json::parse(R"({
      "schema": 1, "id": "scale", "title": "Scale", "parameters": ["n"],
      "arguments": [{"name": "x", "kind": "input", "dtype": "f32", "shape": ["n"]},
                    {"name": "y", "kind": "output", "dtype": "f32", "shape": ["n"]},
                    {"name": "n", "kind": "scalar", "dtype": "i64", "value": "n"}],
      "oracle": {"kind": "cuda"}, "contract": {"precision": "f32"}, "flops": "n",
      "baselines": [{"id": "lib", "file": "lib.cu"}],
      "build": {"include": ["inc"]},
      "cases": [{"name": "a", "parameters": {"n": 64}, "roles": ["verify"]},
                {"name": "b", "parameters": {"n": 4096}, "roles": ["time"]}]})");
}

Texts scaleFiles(const Json& json = scaleTask())
{
    return {
        {"task.json", json.dump()},
        {"root.cu", "the root"},
        {"oracle.cu", "the oracle"},
        {"lib.cu", "the library"},
        {"playbook/playbook.json",
         R"({"schema": 1, "ideas": [{"id": "wide", "parent": "root", "title": "Wide", "idea": "words", "file": "wide.cu"}]})"},
        {"playbook/wide.cu", "wide"},
        {"inc/deep/header.h", "#define DEEP 1\n"}};
}

class TaskPartsTest : public testing::Test
{
protected:
    void SetUp() override { ::setenv("XDG_CACHE_HOME", (m_scratch.path() / "cache").c_str(), 1); }
    void TearDown() override { ::unsetenv("XDG_CACHE_HOME"); }

    fs::path folder() const { return m_scratch.path() / "task"; }

    Task load(const Texts& files) const
    {
        fs::remove_all(folder());
        for (const auto& [path, text] : files) {
            fs::create_directories((folder() / path).parent_path());
            EXPECT_TRUE(writeFileAtomically(folder() / path, text));
        }
        auto task = loadTask(folder().string());
        EXPECT_TRUE(task) << task.error().message;
        return std::move(*task);
    }

    /// What it means that one file or one place in task.json is another.
    EditionChange change(const std::string& file, const std::string& text) const
    {
        Texts files = scaleFiles();
        const TaskParts before = TaskParts::of(load(files));
        files[file] = text;
        return before.changesTo(TaskParts::of(load(files)));
    }
    EditionChange changeAt(const char* pointer, Json value) const
    {
        Json json = scaleTask();
        json[Json::json_pointer(pointer)] = std::move(value);
        return change("task.json", json.dump());
    }

    ScratchFolder m_scratch = ScratchFolder::create("task-parts").value();
};

std::vector<std::string> parts(std::initializer_list<const char*> names)
{
    return {names.begin(), names.end()};
}

TEST_F(TaskPartsTest, ATaskIsPutTogetherAgainWithoutItsFolder)
{
    const Task task = load(scaleFiles());
    const TaskParts parts = TaskParts::of(task);
    const auto stored = TaskParts::fromJson(parts.toJson());
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->hashes(), parts.hashes());
    fs::remove_all(folder());
    const auto texts = [&](const std::string& hash) -> Result<std::optional<std::string>> {
        const auto found = parts.texts().find(hash);
        return found == parts.texts().end() ? std::nullopt : std::optional(found->second);
    };
    const auto again = stored->compose(texts, task.folder);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->hash, task.hash);
    EXPECT_EQ(again->root.text, "the root");
    EXPECT_EQ(again->oracle.source.text, "the oracle");
    EXPECT_EQ(again->baselines.at(0).source.text, "the library");
    EXPECT_EQ(again->playbook.at(0).source.text, "wide");
    EXPECT_EQ(again->folder, task.folder);
    ASSERT_EQ(again->build.includeRoots.size(), 1u);
    EXPECT_EQ(readFile(fs::path(again->build.includeRoots[0]) / "deep/header.h").value_or(""), "#define DEEP 1\n");
    EXPECT_TRUE(stored->carriesTask());
}

TEST_F(TaskPartsTest, AFolderOutsideOfTheTaskMustBeThere)
{
    Json json = scaleTask();
    const fs::path elsewhere = m_scratch.path() / "vendor";
    fs::create_directories(elsewhere);
    json["build"]["include"] = {elsewhere.string()};
    const Task task = load(scaleFiles(json));
    const TaskParts parts = TaskParts::of(task);
    const auto texts = [&](const std::string& hash) -> Result<std::optional<std::string>> {
        return std::optional(parts.texts().at(hash));
    };
    EXPECT_TRUE(parts.compose(texts, task.folder));
    fs::remove_all(elsewhere);
    const auto gone = parts.compose(texts, task.folder);
    ASSERT_FALSE(gone);
    EXPECT_NE(gone.error().message.find("build.include[0]: the folder " + elsewhere.string() + " does not exist"),
              std::string::npos)
        << gone.error().message;
}

TEST_F(TaskPartsTest, WhatHasChangedSaysWhatHolds)
{
    const EditionChange oracle = change("oracle.cu", "another oracle");
    EXPECT_EQ(oracle.parts, parts({"oracle"}));
    EXPECT_TRUE(oracle.gate && !oracle.timing && !oracle.root && !oracle.prototype);

    const EditionChange root = change("root.cu", "another root");
    EXPECT_EQ(root.parts, parts({"root"}));
    EXPECT_TRUE(root.root && !root.stale());

    for (const EditionChange& nothing : {change("lib.cu", "another library"), change("playbook/wide.cu", "wider"),
                                         changeAt("/title", "Scaled"), changeAt("/description", "more words")}) {
        EXPECT_FALSE(nothing.stale() || nothing.root || nothing.objective || nothing.prototype);
    }
    EXPECT_EQ(change("inc/deep/header.h", "#define DEEP 2\n").parts, parts({"headers"}));
    EXPECT_TRUE(change("inc/deep/header.h", "#define DEEP 2\n").gate);
    EXPECT_TRUE(changeAt("/entry", "scale2").prototype);
    EXPECT_TRUE(changeAt("/arguments/0/dtype", "f16").prototype);
    EXPECT_TRUE(changeAt("/id", "scaled").prototype);

    EXPECT_TRUE(
        changeAt("/arguments/0/values", Json::parse(R"({"distribution": "uniform", "low": 0, "high": 1})")).gate);
    EXPECT_TRUE(changeAt("/contract/determinism", "bitwise").gate);
    EXPECT_TRUE(changeAt("/cases/0/parameters/n", 65).gate);
    EXPECT_FALSE(changeAt("/cases/0/parameters/n", 65).timing);
    EXPECT_TRUE(changeAt("/cases/1/parameters/n", 8192).timing);
    EXPECT_FALSE(changeAt("/cases/1/parameters/n", 8192).gate);

    for (const EditionChange& figure :
         {changeAt("/cases/1/weight", 3), changeAt("/objective", Json{{"mean", "arithmetic"}}),
          changeAt("/flops", "2 * n")}) {
        EXPECT_TRUE(figure.objective && !figure.stale());
    }
    EXPECT_TRUE(change("root.cu", "the root").parts.empty());
}

} // namespace
} // namespace espalier
