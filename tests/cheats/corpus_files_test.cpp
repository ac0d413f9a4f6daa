// SPDX-License-Identifier: Apache-2.0
// The corpus itself: heads parse, mechanisms are covered, mutants apply.
#include "tests/cheats/corpus.h"
#include "tests/cheats/defence_table.h"
#include "tests/cheats/weakening.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/judge/defences.h"
#include "core/model/task_loader.h"

#include <gtest/gtest.h>
#include <set>

using namespace espalier;
using namespace espalier::corpus;

namespace {

const std::filesystem::path root = ESPALIER_CORPUS_ROOT;

std::vector<Candidate> load(const char* folder)
{
    auto corpus = loadCorpus(root / folder, root / "cheats/templates");
    EXPECT_TRUE(corpus.has_value()) << (corpus ? "" : corpus.error().message);
    return corpus ? std::move(*corpus) : std::vector<Candidate>();
}

} // namespace

TEST(Corpus, EveryMechanismThatASourceCanExpressHasACandidate)
{
    std::set<std::string> numbers;
    for (const Candidate& candidate : load("cheats")) {
        EXPECT_FALSE(candidate.honest) << candidate.name;
        EXPECT_EQ(candidate.title.substr(0, 3), candidate.name.substr(0, 3)) << candidate.name;
        numbers.insert(candidate.title.substr(0, 3));
    }
    for (const char* number :
         {"T01", "T03", "T07", "T08", "T09", "T10", "T11", "T13", "T16", "M01", "M02", "M03", "M04",
          "M06", "M07", "M08", "M09", "M10", "M11", "M12", "M13", "M14", "M15", "I01", "I04", "I05",
          "I07", "I08", "I09", "I10", "I12", "I15", "S01", "S02", "S07", "S09", "S11", "S12", "H01",
          "H03", "H04", "H05", "H06", "H08", "H10", "H11", "H12", "H14", "H16", "H17", "D01", "D03"}) {
        EXPECT_TRUE(numbers.contains(number)) << number;
    }
}

TEST(Corpus, CheatsNeverExpectAPassWithoutEvidence)
{
    for (const Candidate& candidate : load("cheats")) {
        for (const bool simulated : {true, false}) {
            for (const Outcome outcome : candidate.expected(simulated)) {
                EXPECT_TRUE(outcome != Outcome::Passed || !candidate.evidence(simulated).empty()) << candidate.name;
            }
            EXPECT_FALSE(candidate.evidence(simulated).empty()) << candidate.name;
        }
    }
}

TEST(Corpus, EveryFileStatesOneOutcomePerDeviceOrSaysWhyItVaries)
{
    for (const char* folder : {"cheats", "honest"}) {
        for (const Candidate& candidate : load(folder)) {
            for (const bool simulated : {true, false}) {
                EXPECT_TRUE(candidate.expected(simulated).size() == 1 || candidate.keys.contains("varies"))
                    << candidate.name;
            }
        }
    }
}

TEST(SecondTable, EveryDefenceHasARowAndEveryRowNamesDefences)
{
    std::set<std::string> named;
    for (const TableRow& row : tableRows()) {
        std::vector<std::string> names;
        for (const std::string_view name : splitOn(row.without, ',')) {
            names.emplace_back(name);
            named.emplace(name);
        }
        EXPECT_TRUE(weakeningOf(names).has_value()) << row.without;
    }
    for (const judge::Defence defence : judge::allDefences()) {
        EXPECT_TRUE(named.contains(std::string(judge::nameOf(defence)))) << judge::nameOf(defence);
    }
    EXPECT_FALSE(weakeningOf({"good-manners"}).has_value());
}

TEST(SecondTable, ARowConcernsWhatItsChecksEndedAndWhatNamesIt)
{
    const TableRow row{"fresh-inputs", "sim cuda", "norm", "V2|norm bound"};
    Caught caught;
    caught.evaluation.stage = Stage::Verify;
    caught.check = "norm";
    EXPECT_TRUE(concerns(row, caught));
    caught.check = "tolerance";
    EXPECT_FALSE(concerns(row, caught));
    caught.candidate.keys["defence"] = "V24 V12";
    EXPECT_FALSE(concerns(row, caught)) << "V2 is not V24";
    caught.candidate.keys["defence"] = "V11, V2";
    EXPECT_TRUE(concerns(row, caught));
    caught.evaluation.stage = Stage::Build;
    EXPECT_FALSE(concerns(row, caught)) << "the build ended it, and the build is left as it is";
}

TEST(SecondTable, WhatIsTakenAwayMustBeNeeded)
{
    TableLine alone{{"a", "sim", "", ""}, {"x"}, {}, {}, false, 0};
    TableLine both{{"a,b", "sim", "", ""}, {"x"}, {"x"}, {}, true, 0};
    TableLine idle{{"c", "sim", "", ""}, {"x"}, {}, {}, false, 0};
    EXPECT_EQ(idleDefences({alone, both, idle}), std::vector<std::string>{"c"});
}

TEST(Corpus, AllFourteenLookAlikesAreThere)
{
    std::set<std::string> numbers;
    for (const Candidate& candidate : load("honest")) {
        EXPECT_TRUE(candidate.honest) << candidate.name;
        EXPECT_EQ(candidate.expected(false), std::vector<Outcome>{Outcome::Passed}) << candidate.name;
        numbers.insert(candidate.name.substr(0, 2));
    }
    EXPECT_EQ(numbers.size(), 14u);
}

TEST(Corpus, TasksLoadAndTextsArePasted)
{
    for (const char* folder : {"cheats", "honest"}) {
        for (const Candidate& candidate : load(folder)) {
            const auto task = loadTask(candidate.task);
            EXPECT_TRUE(task.has_value()) << candidate.name << ": " << (task ? "" : task.error().message);
            EXPECT_EQ(candidate.source.find("@paste"), std::string::npos) << candidate.name;
        }
    }
}

TEST(Corpus, WhatOnlyTheSanitizerFindsIsJudgedWhereItIsAskedFor)
{
    int found = 0;
    for (const Candidate& candidate : load("cheats")) {
        if (candidate.needsSanitizer()) {
            ++found;
            EXPECT_FALSE(candidate.servesDevice(false)) << candidate.name;
            EXPECT_TRUE(candidate.servesDevice(false, true)) << candidate.name;
            EXPECT_FALSE(candidate.servesDevice(true, true))
                << candidate.name << ": the simulated device has no such stage";
        }
    }
    EXPECT_GT(found, 0);
}

TEST(Corpus, AHeadWithoutATaskIsRefused)
{
    auto scratch = ScratchFolder::create("espalier-corpus");
    ASSERT_TRUE(scratch.has_value());
    ASSERT_TRUE(
        writeFileAtomically(scratch->path() / "x.cu", "// cheat: T99 nothing\n// expect: passed\n").has_value());
    const auto corpus = loadCorpus(scratch->path(), root / "cheats/templates");
    ASSERT_FALSE(corpus.has_value());
    EXPECT_NE(corpus.error().message.find("task"), std::string::npos);
}

TEST(Mutants, AtLeastTwentyFiveForEveryBuiltInTaskAndEachAppliesOnce)
{
    for (const std::string& task : listTasks()) {
        const auto mutants = loadMutants(root / "mutants" / (task + ".json"));
        ASSERT_TRUE(mutants.has_value()) << mutants.error().message;
        EXPECT_GE(mutants->size(), 25u) << task;
        std::set<std::string> sources;
        for (const Mutant& mutant : *mutants) {
            EXPECT_TRUE(sources.insert(mutant.source).second) << mutant.name;
        }
    }
}

TEST(Mutants, APatternThatAppliesTwiceIsRefused)
{
    auto scratch = ScratchFolder::create("espalier-corpus");
    ASSERT_TRUE(scratch.has_value());
    const auto file = scratch->path() / "softmax_f32.json";
    ASSERT_TRUE(writeFileAtomically(file, R"({"task": "softmax_f32", "mutants": [{"name": "twice", "base": "root.cu",
        "find": "__syncthreads();", "replace": ""}]})")
                    .has_value());
    const auto mutants = loadMutants(file);
    ASSERT_FALSE(mutants.has_value());
    EXPECT_NE(mutants.error().message.find("exactly once"), std::string::npos);
}
