// SPDX-License-Identifier: Apache-2.0
#include "tests/build/build_support.h"

#include <fmt/format.h>
#include <fstream>

namespace espalier {
namespace {

using test::Bench;
using test::kernelWith;
using test::summary;

/// One slip each: the outcome is suspicious and a sentence names the symbol and the rule.
TEST(NvccHostile, ForbiddenImports)
{
    Bench bench;
    const auto evidence = bench.build(
        kernelWith("#include <unistd.h>\n#include <cstdlib>\n#include <ctime>\n#include <dlfcn.h>",
                   "    void* p; cudaMalloc(&p, 4); cudaDeviceSynchronize(); fork();  dlsym(nullptr, \"x\");\n"
                   "    timespec t; clock_gettime(CLOCK_MONOTONIC, &t); _exit(0);"));
    EXPECT_EQ(evidence.evaluation.outcome, Outcome::Suspicious) << summary(evidence);
    EXPECT_FALSE(evidence.library.has_value());
    std::string all;
    for (const Evidence& one : evidence.evaluation.evidence) {
        EXPECT_EQ(one.check, one.sentence.find("cudaMalloc") == std::string::npos ? "imports" : "not_allowed");
        all += one.sentence + "\n";
    }
    for (const char* sentence :
         {"the kernel calls cudaMalloc, which stops the device and cannot be captured; use the workspace or "
          "cudaMallocAsync\n",
          "the kernel calls cudaDeviceSynchronize, which waits for the device; the caller waits\n",
          "the kernel calls fork, which starts a process\n",
          "the kernel calls dlsym, which looks up functions past this list\n",
          "the kernel calls clock_gettime, which takes times\n", "the kernel calls _exit, which ends the runner\n"}) {
        EXPECT_NE(all.find(sentence), std::string::npos) << sentence << all;
    }
}

TEST(NvccHostile, ShadowingExports)
{
    Bench bench;
    const auto result = bench.build(
        kernelWith("extern \"C\" int getpid() { return 1; }\nextern \"C\" int cuLaunchKernel() { return 0; }\nvoid "
                   "operator delete(void*) noexcept {}\n"
                   "extern \"C\" int cudaPeekAtNothing() { return 0; }\nextern \"C\" int harmless() { return 0; }"));
    EXPECT_EQ(result.evaluation.outcome, Outcome::Suspicious);
    std::string all;
    for (const Evidence& one : result.evaluation.evidence) {
        all += one.sentence + "\n";
    }
    for (const char* name : {"getpid", "cuLaunchKernel", "operator delete(void*)", "cudaPeekAtNothing"}) {
        EXPECT_NE(all.find(fmt::format("the kernel defines {}, which would shadow", name)), std::string::npos) << all;
    }
    EXPECT_EQ(all.find("harmless"), std::string::npos) << all;
}

TEST(NvccHostile, CodeThatRunsAtLoad)
{
    Bench bench;
    EXPECT_NE(summary(bench.build(kernelWith("__attribute__((constructor)) static void early() {}")))
                  .find("suspicious: the kernel runs code of its own when it is loaded"),
              std::string::npos);
}

TEST(NvccHostile, HonestHostCodePasses)
{
    Bench bench;
    const auto result = bench.build(kernelWith(
        "#include <algorithm>\n#include <cmath>\n#include <cstdio>\n#include <stdexcept>\n#include <string>\n#include "
        "<vector>\n#include <cooperative_groups.h>\n"
        "__constant__ float table[4];\n__device__ int counter;\n"
        "extern \"C\" size_t copy_f32_workspace(int64_t n) { return std::max<int64_t>(n, 16); }\n",
        "    static const int sms = [] { int device = 0, count = 0; cudaGetDevice(&device); "
        "cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device); return count; }();\n"
        "    std::vector<int64_t> sizes = {n, sms, int64_t(std::sqrt(double(n)))};\n    std::string text = "
        "std::to_string(sizes.size());\n"
        "    if (n < 0) { std::fprintf(stderr, \"bad n %s\\n\", text.c_str()); throw std::runtime_error(text); }\n"
        "    int blocks = 0; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, copyKernel, 256, 0);\n"
        "    cudaFuncSetAttribute(copyKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);\n    "
        "cudaMemsetAsync(y, 0, 4, stream);\n"
        "    cudaStream_t side; cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking); cudaEvent_t e; "
        "cudaEventCreateWithFlags(&e, cudaEventDisableTiming);\n"
        "    cudaEventRecord(e, stream); cudaStreamWaitEvent(side, e); cudaEventDestroy(e); "
        "cudaStreamDestroy(side);\n"));
    EXPECT_EQ(result.evaluation.outcome, Outcome::Passed) << summary(result);
    std::string all;
    for (const Evidence& one : result.evaluation.evidence) {
        all += one.sentence + "\n";
    }
    EXPECT_EQ(all, "");
}

TEST(NvccHostile, PrepareIsNotServedYet)
{
    Bench bench;
    const auto result = bench.build(kernelWith("extern \"C\" void copy_f32_prepare() {}"));
    EXPECT_EQ(result.evaluation.outcome, Outcome::NotRun);
    EXPECT_EQ(result.evaluation.cause, NotRunCause::Unsupported);
}

/// The sandbox shows the compiler nothing of the host but programs and headers.
TEST(NvccHostile, FilesOfTheHostAreNotThere)
{
    Bench bench;
    std::ofstream(bench.folder() / "secret.h") << "constexpr int secret = 1;\n";
    const std::string secret = (bench.folder() / "secret.h").string();
    for (const std::string& path : {std::string("/etc/passwd"), secret, std::string("../../../../") + secret,
                                    std::string("/proc/self/environ"), std::string("/root/.bashrc")}) {
        const auto include = bench.build(kernelWith("#include \"" + path + "\""));
        EXPECT_EQ(include.evaluation.outcome, Outcome::BuildFailed) << path;
        EXPECT_NE(include.evaluation.reason.find("No such file or directory"), std::string::npos) << summary(include);
    }
    const auto embed = bench.build(kernelWith("asm(\".section .rodata\\n .incbin \\\"/etc/passwd\\\"\\n .text\");"));
    EXPECT_EQ(embed.evaluation.outcome, Outcome::BuildFailed) << summary(embed);
    EXPECT_NE(embed.evaluation.build->log.find("/etc/passwd"), std::string::npos);
}

TEST(NvccHostile, FiftyMegabytesOfErrors)
{
    Bench bench;
    // 1 line of 100 kB, shown with each of 500 errors
    const std::string source = "#define A(x) int x = undefined_" + std::string(100000, 'a') +
                               ";\n#define B A(a) A(b) A(c) A(d) A(e) A(f) A(g) A(h)\n" +
                               kernelWith("namespace { B B B B B B B B B B B B B B B B }");
    const auto result = bench.build(source);
    EXPECT_EQ(result.evaluation.outcome, Outcome::BuildFailed) << summary(result).substr(0, 300);
    EXPECT_LT(result.evaluation.reason.size(), 4000u);
    EXPECT_NE(result.evaluation.build->log.find("more bytes of compiler output were dropped"), std::string::npos);
    EXPECT_LT(result.evaluation.build->log.size(), bench.options.outputCap + 1000);
}

TEST(NvccHostile, EndlessInput)
{
    Bench bench;
    bench.task.build.deadlineSeconds = 3;
    bench.options.memoryLimit = std::uint64_t{1} << 30;
    const auto result = bench.build(kernelWith("#include \"/dev/zero\""));
    EXPECT_TRUE(result.evaluation.outcome == Outcome::TimedOut || result.evaluation.outcome == Outcome::BuildFailed ||
                result.evaluation.cause == NotRunCause::Infrastructure)
        << summary(result);
    const auto self = bench.build(kernelWith("#include \"candidate.cu\""));
    EXPECT_EQ(self.evaluation.outcome, Outcome::BuildFailed) << summary(self);
}

TEST(NvccHostile, MemoryAndFileLimits)
{
    Bench bench;
    bench.options.fileSizeLimit = 20000;
    const auto file = bench.build(kernelWith(""));
    EXPECT_EQ(file.evaluation.outcome, Outcome::BuildFailed) << summary(file);
    EXPECT_NE(file.evaluation.reason.find("writes a file larger than 19.5 KiB"), std::string::npos) << summary(file);
    bench.options.fileSizeLimit = 1 << 30;
    bench.options.memoryLimit = std::uint64_t{60} << 20;
    const auto memory = bench.build(kernelWith(""));
    EXPECT_EQ(summary(memory),
              "build_failed: compiling candidate.cu needs more memory than 60.0 MiB; make the code smaller");
    bench.options.memoryLimit = std::uint64_t{8} << 30;
    EXPECT_EQ(bench.build(kernelWith("")).evaluation.outcome, Outcome::Passed)
        << "limits of this machine are not kept in the cache";
}

/// Bytes that no editor would write: an answer, and never a build that differs from what was given.
TEST(NvccHostile, OddBytes)
{
    Bench bench;
    for (const std::string& odd :
         {std::string("\xFF\xFE garbage \0 more", 17), std::string("\xEF\xBB\xBF") + kernelWith("// BOM"),
          kernelWith("// \\\r\n"), std::string("#line 1 \"/etc/passwd\"\n#error here\n")}) {
        const auto result = bench.build(odd);
        EXPECT_TRUE(result.evaluation.outcome == Outcome::BuildFailed || result.evaluation.outcome == Outcome::Passed)
            << summary(result);
    }
}

} // namespace
} // namespace espalier
