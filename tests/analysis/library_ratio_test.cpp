// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/library_ratio.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

CaseTiming timed(std::map<std::string, Interval> libraries)
{
    CaseTiming timing;
    timing.speedupBaselines = std::move(libraries);
    return timing;
}

TEST(LibraryRatio, IsOverTheFastestLibraryOfACase)
{
    TimingRecord record;
    EXPECT_FALSE(overBestLibrary(record));
    record.cases = {timed({})};
    EXPECT_FALSE(overBestLibrary(record)) << "nothing was timed beside it";
    record.cases = {timed({{"cublas", {1.01, 0.99, 1.03}}, {"thrust", {4, 3.9, 4.1}}})};
    const auto ratio = overBestLibrary(record);
    ASSERT_TRUE(ratio);
    EXPECT_EQ(ratio->name, "cublas");
    EXPECT_DOUBLE_EQ(ratio->speedup.value, 1.01);
    EXPECT_DOUBLE_EQ(ratio->speedup.low, 0.99);
    EXPECT_DOUBLE_EQ(ratio->speedup.high, 1.03);
}

TEST(LibraryRatio, OfSeveralCasesIsTheirGeometricMean)
{
    TimingRecord record;
    record.cases = {timed({{"cublas", {2, 1.8, 2.2}}}), timed({{"cublas", {0.5, 0.4, 0.6}}}), timed({})};
    auto ratio = overBestLibrary(record);
    ASSERT_TRUE(ratio);
    EXPECT_EQ(ratio->name, "cublas") << "a case without a library changes nothing";
    EXPECT_NEAR(ratio->speedup.value, 1, 1e-12);
    EXPECT_NEAR(ratio->speedup.low, 0.848528, 1e-6);
    EXPECT_NEAR(ratio->speedup.high, 1.148913, 1e-6);
    record.cases[1] = timed({{"cub", {0.5, 0.4, 0.6}}, {"cublas", {3, 3, 3}}});
    ratio = overBestLibrary(record);
    ASSERT_TRUE(ratio);
    EXPECT_EQ(ratio->name, "the best library");
    EXPECT_NEAR(ratio->speedup.value, 1, 1e-12);
}

} // namespace
} // namespace espalier
