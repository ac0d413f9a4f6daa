// SPDX-License-Identifier: Apache-2.0
// What honest engineers and models get wrong, as the real compiler tells it: none of it is a fault of ours or a cheat.
#include "tests/build/build_support.h"

#include <fmt/format.h>

namespace espalier {
namespace {

using test::Bench;
using test::kernelWith;
using test::signature;
using test::summary;

std::string launching(const std::string& kernel)
{
    return kernel + "\n" + signature + "\n{\n    k<<<1, 32, 0, stream>>>(x, y);\n    return cudaGetLastError();\n}\n";
}

TEST(Field02, WhatPtxasRefusesIsTheCandidatesAndHasItsLine)
{
    Bench bench;
    const auto slip = bench.build(launching("__global__ void k(const float* x, float* y)\n{\n    unsigned lane;\n"
                                            "    asm volatile(\"mov.u32 %0, %%lane;\" : \"=r\"(lane));\n"
                                            "    y[lane] = x[lane];\n}"));
    EXPECT_EQ(slip.evaluation.outcome, Outcome::BuildFailed) << summary(slip);
    EXPECT_TRUE(slip.evaluation.reason.starts_with("candidate.cu, line 4: ptxas: ")) << summary(slip);
    EXPECT_NE(slip.evaluation.reason.find("(PTX: mov.u32 "), std::string::npos) << summary(slip);

    const auto shared = bench.build(launching("__global__ void k(const float* x, float* y)\n{\n"
                                              "    __shared__ float tile[240][256];\n    tile[threadIdx.x][0] = "
                                              "x[threadIdx.x];\n    __syncthreads();\n    y[0] = tile[3][0];\n}"));
    EXPECT_EQ(summary(shared), "build_failed: candidate.cu, line 1: ptxas: Entry function 'k(float const*, float*)' "
                               "uses too much shared data (0x3c000 bytes, 0x38c00 max)");

    const auto missing = bench.build(launching("__device__ float gelu(float v);\n__global__ void k(const float* x, "
                                               "float* y)\n{\n    y[0] = 1;\n    y[1] = gelu(x[1]);\n}"));
    EXPECT_EQ(summary(missing), "build_failed: candidate.cu, line 5: ptxas: Unresolved extern function 'gelu(float)'");
}

TEST(Field03, LeftoversOfAProgramAreLeftOut)
{
    Bench bench;
    const auto built = bench.build(
        "#include <iostream>\n" +
        kernelWith("void benchmark(float* y)\n{\n    cudaDeviceSynchronize();\n    cudaMemcpy(nullptr, y, 4, "
                   "cudaMemcpyDeviceToHost);\n    std::cout << \"done\" << std::endl;\n}") +
        "int main()\n{\n    float* y = nullptr;\n    cudaMalloc(&y, 4096);\n    copy_f32(y, y, 9, nullptr, 0, "
        "nullptr);\n    benchmark(y);\n    return 0;\n}\n");
    EXPECT_EQ(built.evaluation.outcome, Outcome::Passed) << summary(built);
    EXPECT_TRUE(built.evaluation.evidence.empty());
}

TEST(Field03, WhatStaysIsRefusedWithoutSuspicion)
{
    Bench bench;
    const auto allocates = bench.build(kernelWith("", "    float* t = nullptr;\n    cudaMalloc(&t, 64);\n    "
                                                      "cudaFree(t);\n"));
    EXPECT_EQ(summary(allocates), "build_failed: the kernel calls cudaFree, which stops the device and cannot be "
                                  "captured; use the workspace or cudaFreeAsync");
    ASSERT_EQ(allocates.evaluation.evidence.size(), 2U);
    EXPECT_EQ(allocates.evaluation.evidence[0].check, "not_allowed");

    const auto declared = bench.build(kernelWith("int chooseBlock(long n);", "    if (chooseBlock(n) > 4) return "
                                                                             "cudaErrorInvalidValue;\n"));
    EXPECT_EQ(summary(declared), "build_failed: the kernel calls chooseBlock(long), which is declared but defined "
                                 "nowhere; put its body into the source");

    const auto torch = bench.build("#include <torch/all.h>\n" + kernelWith(""));
    EXPECT_EQ(summary(torch), "build_failed: candidate.cu, line 1: torch/all.h: No such file or directory; a kernel "
                              "here is no extension of PyTorch: write " +
                                  signature + " with plain pointers");
}

TEST(Field12, TaskAndCandidateChooseTheLanguage)
{
    Bench bench;
    const std::string source = kernelWith("template <typename T> concept Small = sizeof(T) <= 4;\n"
                                          "template <Small T> __device__ T same(T v) { return v; }\n");
    const auto older = bench.build(source);
    EXPECT_EQ(older.evaluation.outcome, Outcome::BuildFailed);
    EXPECT_NE(
        older.evaluation.reason.find("it was compiled as c++17: a line \"// espalier: std c++20\" asks for C++20"),
        std::string::npos)
        << summary(older);
    EXPECT_EQ(bench.build("// espalier: std c++20\n" + source).evaluation.outcome, Outcome::Passed);
    bench.task.build.flags = {"-std=c++20"};
    EXPECT_EQ(bench.build(source).evaluation.outcome, Outcome::Passed) << "and the key differs";
    EXPECT_EQ(summary(bench.build("//espalier: std twenty\n" + source)),
              "build_failed: candidate.cu, line 1: expected a standard such as c++20 after \"espalier: std\"; found "
              "\"twenty\"");
}

} // namespace
} // namespace espalier
