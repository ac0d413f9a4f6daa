// SPDX-License-Identifier: Apache-2.0
// More of nvcc_slips_test: one source for each program of the compiler that may refuse it.
#include "tests/build/build_support.h"

#include <vector>

namespace espalier {
namespace {

using test::Bench;
using test::kernelWith;
using test::signature;
using test::summary;

struct Slip {
    const char* what;
    std::string kernel; ///< what stands before an entry that launches k
    const char* says;
};

std::vector<Slip> slips()
{
    const auto body = [](const std::string& text) {
        return "__global__ void k(const float* x, float* y) {\n" + text + "\n}";
    };
    return {
        {"a branch to no label", body("asm volatile(\"bra elsewhere;\");"),
         "line 2: ptxas: Unknown symbol 'elsewhere'"},
        {"operands of another width",
         body("float f;\nasm(\"ld.global.f64 %0, [%1];\" : \"=f\"(f) : \"l\"(x)); y[0] = f;"), "line 3: ptxas: "},
        {"a constraint that is none", body("float f; asm(\"mov.f32 %0, 1.0;\" : \"=q\"(f)); y[0] = f;"), "line 2: "},
        {"an instruction of another device", body("asm volatile(\"tcgen05.wait::ld.sync.aligned;\");"),
         "line 2: ptxas: "},
        {"too many constants", "__constant__ double weights[9000];\n" + body("y[0] = weights[(long)x % 9000];"),
         "line 1: ptxas: File uses too much global constant data"},
        {"too many bytes of parameters",
         "struct Big { float v[9000]; };\n__global__ void wide(Big b, float* y) { y[0] = "
         "b.v[y[0] > 0]; }\n" +
             body("y[0] = 1;"),
         "line 2: "},
        {"an array larger than any memory", "__device__ float all[1ull << 40];\n" + body("y[0] = all[(long)x];"), ""},
        {"templates without an end",
         "template <int N> struct R { static constexpr int v = R<N + 1>::v; };\n" + body("y[0] = R<0>::v;"),
         "line 1: excessive recursion"},
        {"a constant that never comes",
         "constexpr int f(int n) { int s = 0; for (;;) s += n; return s; }\n" +
             body("constexpr int v = f(3); y[0] = v;"),
         "line 3: "},
        {"#error", "#error nothing for this device\n" + body(""), "line 1: #error nothing for this device"},
        {"an assembler's word on the host", body("") + "\nint host() { asm volatile(\"bogus %eax\"); return 1; }",
         "bogus"},
        {"a virtual call without a body", "struct S { __device__ float f(float); };\n" + body("S s; y[0] = s.f(x[0]);"),
         "Unresolved extern function 'S::f(float)'"},
        {"symbols twice", body("asm volatile(\".global .f32 twice; .global .f32 twice;\");"), "Duplicate definition"},
        {"words of a crash in an error", "#error cicc died due to signal 11: internal compiler error\n" + body(""),
         "line 1"},
        {"an entry that is static", "static " + signature.substr(11) + ";\n" + body(""), "has another signature"},
        {"an entry that returns nothing", "", "has another signature than the task's; it must be "},
    };
}

TEST(Field02, EverySlipIsABuildThatFailed)
{
    for (const Slip& slip : slips()) {
        Bench bench;
        const std::string source = slip.kernel.empty() ? "extern \"C\" void copy_f32(float* x, float* y, int n) {}\n"
                                                       : slip.kernel + "\n" + signature +
                                                             "\n{\n    k<<<1, 1, 0, stream>>>(x, y);\n    return "
                                                             "cudaGetLastError();\n}\n";
        const auto result = bench.build(source);
        EXPECT_EQ(result.evaluation.outcome, Outcome::BuildFailed) << slip.what << ": " << summary(result);
        EXPECT_NE(result.evaluation.reason.find(slip.says), std::string::npos) << slip.what << ": " << summary(result);
    }
}

/// A tool that a signal ends is ours, and no word about the source.
TEST(Field02, ACrashOfTheCompilerIsNot)
{
    Bench bench;
    ASSERT_TRUE(bench.options.toolkit);
    Toolkit toolkit = *bench.options.toolkit;
    const std::filesystem::path nvcc = bench.folder() / "bin/nvcc";
    std::filesystem::create_directories(nvcc.parent_path());
    ASSERT_TRUE(writeFileAtomically(nvcc, "#!/bin/sh\nkill -SEGV $$\n"));
    std::filesystem::permissions(nvcc, std::filesystem::perms::owner_all);
    toolkit.nvcc = nvcc;
    toolkit.folders.push_back(bench.folder());
    toolkit.identity += "crash";
    bench.options.toolkit = toolkit;
    const auto result = bench.build(kernelWith(""));
    EXPECT_EQ(result.evaluation.cause, NotRunCause::Infrastructure) << summary(result);
    EXPECT_NE(result.evaluation.reason.find("the compiler died on candidate.cu"), std::string::npos) << summary(result);
}

TEST(Field03, BlockAlgorithmsOfCubThroughItsUmbrella)
{
    Bench bench;
    const auto built = bench.build(
        kernelWith("#include <cub/cub.cuh>\n__global__ void sums(const float* x, float* y)\n{\n    using Sum = "
                   "cub::BlockReduce<float, 128>;\n    __shared__ typename Sum::TempStorage room;\n    const float s = "
                   "Sum(room).Sum(x[threadIdx.x]);\n    if (threadIdx.x == 0) y[0] = s;\n}\n"));
    EXPECT_EQ(built.evaluation.outcome, Outcome::Passed) << summary(built);
}

} // namespace
} // namespace espalier
