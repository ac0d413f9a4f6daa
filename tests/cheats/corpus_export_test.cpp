// SPDX-License-Identifier: Apache-2.0
// Every file of the corpus can be tried by hand: espalier_corpus writes it whole, espalierctl eval gives the verdict
// that its second line states, with the exit code of the contract.
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/subprocess.h"
#include "core/base/text.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>

using namespace espalier;

namespace {

namespace fs = std::filesystem;

RunResult run(std::vector<std::string> words, const fs::path& folder)
{
    ProcessSpec spec;
    spec.argv = std::move(words);
    spec.workingDirectory = folder.string();
    auto result = runToEnd(std::move(spec), "", std::chrono::seconds(120));
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
    return result ? std::move(*result) : RunResult();
}

/// The words of the line that begins with "// corpus:", by name.
std::map<std::string, std::string> statedBy(const fs::path& file)
{
    std::map<std::string, std::string> words;
    const std::string text = readFile(file).value_or("");
    for (const std::string_view line : splitLines(text)) {
        if (!line.starts_with("// corpus: ")) {
            continue;
        }
        for (const std::string_view word : splitOn(line, ' ')) {
            if (const auto at = word.find('='); at != std::string_view::npos) {
                words.emplace(word.substr(0, at), word.substr(at + 1));
            }
        }
    }
    return words;
}

class Exported : public ::testing::Test
{
protected:
    static void SetUpTestSuite()
    {
        s_folder = std::make_unique<ScratchFolder>(*ScratchFolder::create("espalier-corpus"));
        const RunResult written = run({ESPALIER_CORPUS, "--export", s_folder->path().string()}, s_folder->path());
        EXPECT_EQ(written.status.code, 0) << written.err;
    }
    static void TearDownTestSuite() { s_folder.reset(); }

    static std::unique_ptr<ScratchFolder> s_folder;
};

std::unique_ptr<ScratchFolder> Exported::s_folder;

} // namespace

TEST_F(Exported, EveryFileIsThereWholeAndSaysWhatItMustGet)
{
    int files = 0;
    for (const char* folder : {"cheats", "honest"}) {
        for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(ESPALIER_CORPUS_ROOT) / folder)) {
            if (entry.path().extension() != ".cu") {
                continue;
            }
            ++files;
            const fs::path written = s_folder->path() / entry.path().filename();
            EXPECT_EQ(readFile(written).value_or("@paste").find("@paste"), std::string::npos) << written;
            auto words = statedBy(written);
            EXPECT_FALSE(words["task"].empty()) << written;
            EXPECT_TRUE(words.contains("sim") || words.contains("cuda")) << written;
            if (words["task"].starts_with("tasks/")) {
                EXPECT_TRUE(fs::exists(s_folder->path() / words["task"] / "task.json")) << written;
            }
        }
    }
    EXPECT_GT(files, 100);
}

TEST_F(Exported, EvalGivesTheStatedVerdictWithItsExitCode)
{
    const std::map<std::string, int> codes = {{"passed", 0},         {"incorrect", 3},    {"suspicious", 3},
                                              {"runtime_failed", 3}, {"build_failed", 4}, {"not_run", 5}};
    std::map<std::string, int> seen;
    for (const char* name : {"07_fixed_order", "I01_zeros", "H04_constructor", "H14_exception",
                             "H12_included_host_file", "02_internal_graph"}) {
        const std::string file = fmt::format("{}.cu", name);
        auto words = statedBy(s_folder->path() / file);
        const RunResult result =
            run({ESPALIER_CTL, "eval", words["task"], file, "--device", "sim", "--json"}, s_folder->path());
        const auto json = parseJson(result.out, name);
        ASSERT_TRUE(json.has_value()) << result.out << result.err;
        EXPECT_EQ(json->value("outcome", ""), words["sim"]) << name << ": " << json->value("reason", "");
        ASSERT_TRUE(codes.contains(words["sim"])) << words["sim"];
        EXPECT_EQ(result.status.code, codes.at(words["sim"])) << name;
        ++seen[words["sim"]];
    }
    EXPECT_EQ(seen.size(), codes.size()) << "one of each kind";
}
