// SPDX-License-Identifier: Apache-2.0
#include "core/judge/bulk_copies.h"
#include "core/judge/sanitizer_report.h"

#include <gtest/gtest.h>
#include <random>

namespace espalier::judge {
namespace {

constexpr const char* memoryReport =
    "========= COMPUTE-SANITIZER\n"
    "========= Invalid __global__ write of size 4 bytes\n"
    "=========     at unaligned_kernel()+0x160 in memcheck_demo.cu:6\n"
    "=========     by thread (0,0,0) in block (0,0,0)\n"
    "=========     Address 0x7f7dcb200001 is misaligned\n"
    "=========     and is inside the nearest allocation at 0x7f7dcb200000 of size 4 bytes\n"
    "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
    "=========     Host Frame: [0x2f1f]\n"
    "=========                in memcheck_demo\n"
    "=========\n"
    "========= Invalid __global__ write of size 4 bytes\n"
    "=========     at out_of_bounds_kernel()+0xb0 in memcheck_demo.cu:11\n"
    "=========     by thread (0,0,0) in block (0,0,0)\n"
    "========= \n"
    "========= ERROR SUMMARY: 2 errors\n";

constexpr const char* raceReport =
    "========= COMPUTE-SANITIZER\n"
    "========= Error: Race reported between Write access at sumKernel(int *, int *)+0x100 in raceGroupBasic.cu:40\n"
    "=========     and Read access at sumKernel(int *, int *)+0x1f0 in raceGroupBasic.cu:46 [508 hazards]\n"
    "=========\n"
    "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n";

TEST(SanitizerReport, MemcheckNamesKernelAndLine)
{
    const SanitizerReport report = parseSanitizerReport("memcheck", memoryReport);
    EXPECT_TRUE(report.complete);
    EXPECT_FALSE(report.clean());
    EXPECT_EQ(report.errors, 2);
    ASSERT_EQ(report.findings.size(), 2U);
    EXPECT_EQ(report.findings[0],
              "Invalid __global__ write of size 4 bytes at unaligned_kernel()+0x160 in memcheck_demo.cu:6");
    EXPECT_EQ(report.findings[1],
              "Invalid __global__ write of size 4 bytes at out_of_bounds_kernel()+0xb0 in memcheck_demo.cu:11");
}

TEST(SanitizerReport, RacecheckHasASummaryOfItsOwn)
{
    const SanitizerReport report = parseSanitizerReport("racecheck", raceReport);
    EXPECT_TRUE(report.complete);
    EXPECT_EQ(report.errors, 1);
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_NE(report.findings[0].find("raceGroupBasic.cu:40"), std::string::npos);
    EXPECT_FALSE(parseSanitizerReport("memcheck", raceReport).complete) << "the summary of another tool";
    EXPECT_TRUE(parseSanitizerReport("racecheck", "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards "
                                                  "displayed (0 errors, 0 warnings)\n")
                    .clean());
    EXPECT_FALSE(parseSanitizerReport("racecheck", "========= RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 "
                                                   "warnings)\n")
                     .clean())
        << "a warning is a hazard";
}

TEST(SanitizerReport, EveryFunctionThatAFindingStandsInIsNamedOnce)
{
    const SanitizerReport report = parseSanitizerReport(
        "racecheck", "========= Error: Race reported between Write access at first(int *)+0x100 in c.cu:4\n"
                     "=========     and Read access at void part::second<(int)4>(int *)+0x1f0 in c.cu:6 [508 hazards]\n"
                     "=========     and Write access at first(int *)+0x200 in c.cu:7 [1 hazards]\n"
                     "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n");
    EXPECT_EQ(report.functions, (std::vector<std::string>{"first(int *)", "void part::second<(int)4>(int *)"}));
}

TEST(BulkCopies, AreLookedForInTheKernelThatIsNamed)
{
    const std::string copies =
        "{\n{\nmbarrier.try_wait.shared.b64 p, [a];\n}\ncp.async.bulk.shared::cluster.global;\n}\n";
    const std::string library = "\x7f"
                                "ELF.version 9.0\n.visible .entry _ZN4part6secondILi4EEEvPi(\n\t.param .u64 a\n)\n" +
                                copies +
                                ".visible .entry _Z5firstPi(\n\t.param .u64 a\n)\n{\nret;\n}\n"
                                ".visible .entry plain()\n" +
                                copies;
    EXPECT_TRUE(copiesEndAtBarriers(library, "void part::second<(int)4>(int *)"));
    EXPECT_TRUE(copiesEndAtBarriers(library, "void <unnamed>::second<(int)4>(int *)"));
    EXPECT_TRUE(copiesEndAtBarriers(library, "_ZN4part6secondILi4EEEvPi"));
    EXPECT_TRUE(copiesEndAtBarriers(library, "plain"));
    EXPECT_FALSE(copiesEndAtBarriers(library, "first(int *)"));
    EXPECT_TRUE(copiesEndAtBarriers(library, "third()")) << "of no kernel that is known: some kernel has them";
    EXPECT_FALSE(copiesEndAtBarriers(".entry first()\n{\nret;\n}\n", "third()"));
    EXPECT_FALSE(copiesEndAtBarriers(library, ""));
    EXPECT_FALSE(copiesEndAtBarriers(library + ".entry plain()\n{\nret;\n}\n", "plain")) << "one of two has none";
    EXPECT_FALSE(copiesEndAtBarriers(library.substr(0, library.size() - 2), "plain")) << "cut short";
}

TEST(SanitizerReport, OtherToolsFindTheirKinds)
{
    const SanitizerReport uninitialised = parseSanitizerReport(
        "initcheck", "========= Uninitialized __global__ memory read of size 4 bytes\n"
                     "=========     at sum(float *)+0x70 in candidate.cu:9\n========= ERROR SUMMARY: 16 errors\n");
    EXPECT_EQ(uninitialised.errors, 16);
    EXPECT_EQ(uninitialised.findings.at(0),
              "Uninitialized __global__ memory read of size 4 bytes at sum(float *)+0x70 in candidate.cu:9");
    const SanitizerReport barrier = parseSanitizerReport(
        "synccheck", "========= Barrier error detected. Divergent thread(s) in block.\n"
                     "=========     at divergent(int *)+0x80 in candidate.cu:12\n========= ERROR SUMMARY: 1 error\n");
    EXPECT_EQ(barrier.errors, 1);
    EXPECT_EQ(barrier.findings.size(), 1U);
}

TEST(SanitizerReport, WhatDoesNotFitUnderTheToolIsNoFinding)
{
    const std::string refused = "========= COMPUTE-SANITIZER\n"
                                "========= Program hit cudaErrorLaunchOutOfResources (error 701) due to \"too many "
                                "resources requested for launch\" on "
                                "CUDA API call to cudaLaunchKernel.\n"
                                "=========     Saved host backtrace up to driver entry point at error\n"
                                "=========\n"
                                "========= Program hit cudaErrorLaunchOutOfResources (error 701) due to \"too many "
                                "resources requested for launch\" on "
                                "CUDA API call to cudaGetLastError.\n";
    const SanitizerReport report = parseSanitizerReport("memcheck", refused + "========= ERROR SUMMARY: 2 errors\n");
    EXPECT_TRUE(report.noRoom);
    EXPECT_FALSE(report.clean());
    ASSERT_FALSE(report.findings.empty());
    const std::string more = refused + "========= Invalid __global__ read of size 4 bytes\n"
                                       "=========     at k(float*)+0x10 in candidate.cu:4\n"
                                       "========= ERROR SUMMARY: 3 errors\n";
    EXPECT_FALSE(parseSanitizerReport("memcheck", more).noRoom) << "a finding beside it counts";
    const std::string other =
        "========= Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call "
        "to cudaLaunchKernel.\n========= ERROR SUMMARY: 1 error\n";
    EXPECT_FALSE(parseSanitizerReport("memcheck", other).noRoom);
    EXPECT_FALSE(parseSanitizerReport("memcheck", "========= ERROR SUMMARY: 0 errors\n").noRoom);
}

TEST(SanitizerReport, OnlyAWholeReportIsClean)
{
    const std::string clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";
    EXPECT_TRUE(parseSanitizerReport("memcheck", clean).clean());
    EXPECT_FALSE(parseSanitizerReport("memcheck", "").clean());
    EXPECT_FALSE(parseSanitizerReport("memcheck", "========= COMPUTE-SANITIZER\n").clean());
    EXPECT_FALSE(parseSanitizerReport("memcheck", "ERROR SUMMARY: 0 errors\n").clean()) << "the program printed it";
    EXPECT_FALSE(parseSanitizerReport("memcheck", clean + clean).clean()) << "two summaries";
    EXPECT_FALSE(parseSanitizerReport("memcheck", "========= ERROR SUMMARY: errors\n").clean());
    EXPECT_FALSE(parseSanitizerReport("memcheck", "========= ERROR SUMMARY: 99999999999999999999 errors\n").clean());
    EXPECT_FALSE(parseSanitizerReport("memcheck", "========= Error: No attachable process found. compute-sanitizer "
                                                  "timed-out.\n" +
                                                      clean)
                     .clean());
    const SanitizerReport forged = parseSanitizerReport(
        "memcheck", "========= Invalid __global__ read of size 4 bytes\n========= ERROR SUMMARY: 0 errors\n");
    EXPECT_FALSE(forged.complete);
    EXPECT_EQ(forged.errors, 1);
}

TEST(SanitizerReport, CutAndDamagedReportsAreNeverClean)
{
    std::mt19937 random(11);
    for (const std::string& report : {std::string(memoryReport), std::string(raceReport)}) {
        const char* tool = report == raceReport ? "racecheck" : "memcheck";
        for (std::size_t length = 0; length < report.size(); ++length) {
            EXPECT_FALSE(parseSanitizerReport(tool, report.substr(0, length)).clean()) << length;
        }
        for (int i = 0; i < 3000; ++i) {
            std::string damaged = report;
            for (int k = 0; k < 3; ++k) {
                damaged[random() % damaged.size()] = static_cast<char>(random());
            }
            const SanitizerReport parsed = parseSanitizerReport(tool, damaged);
            EXPECT_LE(parsed.findings.size(), 8U);
        }
    }
}

} // namespace
} // namespace espalier::judge
