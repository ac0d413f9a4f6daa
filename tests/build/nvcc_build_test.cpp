// SPDX-License-Identifier: Apache-2.0
#include "tests/build/build_support.h"

#include "core/base/elf_facts.h"
#include "core/base/hash.h"
#include "core/build/fat_binary.h"

#include <fmt/format.h>
#include <fstream>

namespace espalier {
namespace {

using test::Bench;
using test::kernelWith;
using test::summary;

TEST(NvccBuild, AnHonestKernel)
{
    Bench bench;
    const auto result = bench.build(kernelWith(""));
    ASSERT_EQ(result.evaluation.outcome, Outcome::Passed) << summary(result);
    ASSERT_TRUE(result.library.has_value());
    const BuildRecord& build = *result.evaluation.build;
    EXPECT_EQ(result.evaluation.stage, Stage::Build);
    EXPECT_EQ(build.libraryHash, sha256(*result.library->bytes));
    EXPECT_EQ(build.architecture, "sm_90a");
    EXPECT_TRUE(build.toolkit.starts_with("13."));
    EXPECT_FALSE(build.cached);
    EXPECT_GT(build.seconds, 0.1);
    ASSERT_EQ(build.kernels.size(), 1u);
    EXPECT_EQ(build.kernels[0].kernel, "copyKernel(float const*, float*, long)");
    EXPECT_GT(build.kernels[0].registers, 0);
    // the simulated device reads the PTX out of the library
    EXPECT_NE(result.library->bytes->find(".visible .entry _Z10copyKernelPKfPfl"), std::string::npos);
    const auto ptx = ptxOfLibrary(*result.library->bytes);
    ASSERT_TRUE(ptx) << ptx.error().message;
    EXPECT_NE(ptx->find(".visible .entry _Z10copyKernelPKfPfl"), std::string::npos);
    EXPECT_NE(ptx->find("candidate.cu"), std::string::npos); // its lines are known
    const auto cubin = cubinOfLibrary(*result.library->bytes);
    ASSERT_TRUE(cubin) << cubin.error().message;
    EXPECT_TRUE(cubin->starts_with("\x7f"
                                   "ELF"));
    EXPECT_EQ(readElf(*result.library->bytes)->initArrayBytes, 16u);
    RecordProperty("seconds", fmt::format("{:.2f}", build.seconds));

    const auto again = bench.build(kernelWith(""));
    EXPECT_TRUE(again.evaluation.build->cached);
    EXPECT_EQ(again.evaluation.build->seconds, 0);
    EXPECT_EQ(*again.library->bytes, *result.library->bytes);
    EXPECT_EQ(again.evaluation.build->key, build.key);
    EXPECT_EQ(again.evaluation.build->kernels, build.kernels);
}

TEST(NvccBuild, ADamagedCacheEntryIsBuiltAgain)
{
    Bench bench;
    const auto first = bench.build(kernelWith(""));
    const std::string& key = first.evaluation.build->key;
    std::ofstream(bench.options.cache / key.substr(0, 2) / key) << "espalier-build-1 rubbish";
    const auto second = bench.build(kernelWith(""));
    EXPECT_EQ(second.evaluation.outcome, Outcome::Passed) << summary(second);
    EXPECT_FALSE(second.evaluation.build->cached);
}

TEST(NvccBuild, ACacheThatCannotBeWrittenIsANote)
{
    Bench bench;
    std::ofstream(bench.folder() / "file") << "x";
    bench.options.cache = bench.folder() / "file";
    const auto result = bench.build(kernelWith(""));
    EXPECT_EQ(result.evaluation.outcome, Outcome::Passed) << summary(result);
    EXPECT_NE(result.evaluation.build->log.find("the build cache was not written"), std::string::npos);
}

TEST(NvccBuild, ErrorsPointAtTheCandidatesOwnLines)
{
    Bench bench;
    const auto result = bench.build("// one\n// 中文 — dashes\n__global__ void k(float* x) { x[0] = nothing; }\n" +
                                    test::signature + "\n{\n    return cudaSuccess\n}\n");
    EXPECT_EQ(result.evaluation.outcome, Outcome::BuildFailed);
    EXPECT_EQ(result.evaluation.reason, "candidate.cu, line 3: identifier \"nothing\" is undefined (and 1 more)");
    EXPECT_EQ(result.evaluation.build->messages[1].line, 7);
    const auto again = bench.build("// one\n// 中文 — dashes\n__global__ void k(float* x) { x[0] = nothing; }\n" +
                                   test::signature + "\n{\n    return cudaSuccess\n}\n");
    EXPECT_TRUE(again.evaluation.build->cached) << "failures are kept as well";
}

TEST(NvccBuild, WrongSignatures)
{
    Bench bench;
    const auto types = bench.build("\nextern \"C\" cudaError_t copy_f32(const float* x, float* y, int n, void* w, "
                                   "size_t b, cudaStream_t s)\n{ return cudaSuccess; }\n");
    EXPECT_EQ(summary(types),
              "build_failed: candidate.cu, line 2: copy_f32 has another signature than the task's; it must be " +
                  test::signature);
    const auto mangled =
        bench.build("cudaError_t copy_f32(const float* x, float* y, int n, cudaStream_t s) { return cudaSuccess; }\n");
    EXPECT_EQ(summary(mangled), "build_failed: the kernel must define " + test::signature +
                                    "; it defines copy_f32(float const*, float*, int, CUstream_st*)");
    const auto name = bench.build(
        "extern \"C\" cudaError_t copy_f23(const float* x, float* y, cudaStream_t s) { return cudaSuccess; }\n");
    EXPECT_EQ(summary(name), "build_failed: the kernel must define " + test::signature + "; it defines copy_f23");
    EXPECT_EQ(summary(bench.build("")), "build_failed: the kernel must define " + test::signature);
}

TEST(NvccBuild, FlagsAndIncludeRootsAreInTheKey)
{
    Bench bench;
    std::filesystem::create_directories(bench.folder() / "中 include/deep");
    std::ofstream(bench.folder() / "中 include/deep/width.h") << "constexpr int width = 1;\n";
    bench.task.build.includeRoots = {(bench.folder() / "中 include").string()};
    bench.task.build.flags = {"-DWIDTH=4"};
    const std::string source = kernelWith("#include <deep/width.h>\nstatic_assert(WIDTH == 4);\n");
    const auto first = bench.build(source);
    ASSERT_EQ(first.evaluation.outcome, Outcome::Passed) << summary(first);
    EXPECT_TRUE(bench.build(source).evaluation.build->cached);
    std::ofstream(bench.folder() / "中 include/deep/width.h") << "constexpr int width = 22;\n";
    const auto changed = bench.build(source);
    EXPECT_FALSE(changed.evaluation.build->cached);
    EXPECT_NE(changed.evaluation.build->key, first.evaluation.build->key);
}

TEST(NvccBuild, OraclesNeedTheirOwnEntry)
{
    Bench bench;
    bench.role = SourceRole::Oracle;
    EXPECT_NE(summary(bench.build("int f;"))
                  .find("build_failed: the oracle must define extern \"C\" cudaError_t copy_f32_oracle("),
              std::string::npos);
    const auto good = bench.build("#include <iostream>\nextern \"C\" cudaError_t copy_f32_oracle(const float* x, "
                                  "int64_t n, double* ref, double* scale, int64_t first, "
                                  "int64_t count, cudaStream_t stream) { return cudaDeviceSynchronize(); }\n");
    EXPECT_EQ(good.evaluation.outcome, Outcome::Passed) << summary(good);
}

TEST(NvccBuild, WithoutASandboxItIsSaid)
{
    Bench bench;
    bench.options.sandbox = false;
    const auto result = bench.build(kernelWith(""));
    EXPECT_EQ(result.evaluation.outcome, Outcome::Passed) << summary(result);
    EXPECT_NE(result.evaluation.build->log.find("compiled without a sandbox"), std::string::npos);
}

TEST(NvccBuild, WhatCannotBeBuiltHere)
{
    Bench bench;
    bench.task.needs.capabilityMajor = 10;
    const auto needs = bench.build(kernelWith(""));
    EXPECT_EQ(summary(needs), "not_run: the task needs compute capability 10.0; the device has 9.0");
    EXPECT_EQ(needs.evaluation.cause, NotRunCause::Unsupported);
    bench.task.needs = {};
    BuildJob odd = bench.job(kernelWith(""));
    odd.architecture = "90a -Xcompiler x";
    EXPECT_EQ(buildNow(odd, bench.options).evaluation.cause, NotRunCause::Infrastructure);
    bench.options.toolkit = fail(ErrorCode::NotFound, "no CUDA toolkit was found");
    const auto none = bench.build(kernelWith(""));
    EXPECT_EQ(summary(none), "not_run: no CUDA toolkit was found");
    EXPECT_EQ(none.evaluation.cause, NotRunCause::Infrastructure);
}

TEST(NvccBuild, LimitsOfTheContract)
{
    Bench bench;
    bench.task.contract.limits = {{"registers", "<=", 4}};
    const auto result = bench.build(kernelWith(""));
    EXPECT_EQ(result.evaluation.outcome, Outcome::Incorrect);
    EXPECT_EQ(result.evaluation.evidence.back().check, "limits");
    EXPECT_NE(result.evaluation.reason.find("the kernel copyKernel(float const*, float*, long) has"), std::string::npos)
        << summary(result);
    EXPECT_FALSE(result.library.has_value());
    bench.task.contract.limits = {{"registers", "<=", 255}, {"spill_bytes", "==", 0}, {"library_bytes", "<", 1e7}};
    const auto fine = bench.build(kernelWith(""));
    EXPECT_EQ(fine.evaluation.outcome, Outcome::Passed) << summary(fine);
    EXPECT_TRUE(fine.evaluation.build->cached) << "limits are no part of the compiler's work";
}

TEST(NvccBuild, BuiltInRootsAndOracles)
{
    Bench bench;
    for (const std::string& name : listTasks()) {
        auto task = loadTask(name);
        if (!task) {
            continue; // the model's tests say what is wrong with it
        }
        bench.task = *task;
        bench.role = SourceRole::Candidate;
        EXPECT_EQ(summary(bench.build(task->root.text)), "passed: ") << name;
        bench.role = SourceRole::Oracle;
        EXPECT_EQ(summary(bench.build(task->oracle.source.text)), "passed: ") << name;
    }
}

} // namespace
} // namespace espalier
