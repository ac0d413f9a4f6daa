// SPDX-License-Identifier: Apache-2.0
#include "core/build/compile_messages.h"

#include <gtest/gtest.h>
#include <random>

namespace espalier {
namespace {

// printed by nvcc 13.0.88
constexpr const char* edgOutput = R"(candidate.cu(2): error: identifier "undefined_thing" is undefined
  __attribute__((global)) void k(float* x) { x[0] = undefined_thing; }
                                                    ^

candidate.cu(7): error: expected a ";"
      return cudaGetLastError();
      ^

candidate.cu(8): warning #940-D: missing return statement at end of non-void function "softmax_f32"
  }
  ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

2 errors detected in the compilation of "candidate.cu".
)";

constexpr const char* ptxasOutput = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN45_GLOBAL__N__17fb72a8_12_candidate_cu_282b7ba511softmaxRowsEPKfPfl' for 'sm_90a'
ptxas info    : Function properties for _ZN45_GLOBAL__N__17fb72a8_12_candidate_cu_282b7ba511softmaxRowsEPKfPfl
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 31 registers, used 1 barriers, 1024 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 68.128 ms
ptxas info    : Compiling entry function 'plain' for 'sm_90a'
ptxas info    : Function properties for plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
)";

std::string printed(std::string_view output, std::string_view source = {})
{
    std::string text;
    for (const CompileMessage& m : parseCompilerOutput(output, source).messages) {
        text += m.file + ":" + std::to_string(m.line) + ":" + std::to_string(m.column) +
                (m.error ? " error " : " warning ") + m.text + "\n";
    }
    return text;
}

TEST(CompileMessages, Edg)
{
    const std::string source = "#include <vector>\n__global__ void k(float* x) { x[0] = undefined_thing; }\n\n\n\n\n   "
                               " return cudaGetLastError();\n}\n";
    EXPECT_EQ(printed(edgOutput, source),
              "candidate.cu:2:0 error identifier \"undefined_thing\" is undefined\n"
              "candidate.cu:7:5 error expected a \";\"\n"
              "candidate.cu:8:1 warning missing return statement at end of non-void function \"softmax_f32\"\n");
    EXPECT_EQ(firstError(parseCompilerOutput(edgOutput, source).messages),
              "candidate.cu, line 2: identifier \"undefined_thing\" is undefined (and 1 more)");
}

TEST(CompileMessages, OtherTools)
{
    EXPECT_EQ(printed("candidate.cu:1:10: fatal error: nofile.h: No such file or directory\n"),
              "candidate.cu:1:10 error nofile.h: No such file or directory\n");
    EXPECT_EQ(
        printed("candidate.cu:2:2: warning: #warning hi [-Wcpp]\ncandidate.cu:2:2: warning: #warning hi [-Wcpp]\n"),
        "candidate.cu:2:2 warning #warning hi [-Wcpp]\n");
    EXPECT_EQ(printed("/tmp/ccD4Y0qd.s:65: Error: file not found: /etc/passwd2\n"),
              "assembler:0:0 error file not found: /etc/passwd2\n");
    EXPECT_EQ(printed("ptxas /tmp/tmpxft_1-6_candidate.ptx, line 30; error   : Unknown modifier '.instr'\nptxas fatal  "
                      " : Ptx assembly aborted due to errors\n"),
              "ptxas:0:0 error Unknown modifier '.instr' (PTX line 30)\n");
    EXPECT_EQ(
        printed("ptxas error   : Entry function '_Z2k2Pf' uses too much shared data (0x3d0900 bytes, 0x38c00 max)\n"),
        "ptxas:0:0 error Entry function 'k2(float*)' uses too much shared data (0x3d0900 bytes, 0x38c00 max)\n");
    EXPECT_EQ(printed("nvcc fatal   : Unknown option '-x'\n"), "nvcc:0:0 error Unknown option '-x'\n");
    EXPECT_TRUE(
        parseCompilerOutput("nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)\n", "").crashed);
    EXPECT_EQ(printed("/usr/bin/ld: cannot find -lcublas: No such file or directory\n"),
              "linker:0:0 error cannot find -lcublas: No such file or directory\n");
}

TEST(CompileMessages, KernelsOfPtxas)
{
    const auto kernels = parseCompilerOutput(ptxasOutput, "").kernels;
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[0],
              (KernelResources{"(anonymous namespace)::softmaxRows(float const*, float*, long)", 31, 1024, 12, 16, 8}));
    EXPECT_EQ(kernels[1], (KernelResources{"plain", 8, 0, 0, 0, 0}));
}

TEST(CompileMessages, SurviveAnything)
{
    std::mt19937 random(3);
    const std::string text =
        std::string(edgOutput) + ptxasOutput + "a.cu:1:1: error: x\nptxas f, line 3; error : y\nnvcc fatal : z\n";
    for (int i = 0; i < 3000; ++i) {
        std::string changed = text;
        for (auto n = 1 + random() % 8; n > 0; --n) {
            const std::size_t at = random() % changed.size();
            random() % 2 ? (void)changed.erase(at, random() % 40) : (void)(changed[at] = static_cast<char>(random()));
        }
        const auto said = parseCompilerOutput(changed, text);
        ASSERT_LE(said.messages.size(), 200u);
        (void)firstError(said.messages);
    }
    std::string many;
    for (int i = 1; i < 5000; ++i) {
        many += "candidate.cu(" + std::to_string(i) + "): error: x\n";
    }
    EXPECT_EQ(parseCompilerOutput(many, "").messages.size(), 200u);
    EXPECT_TRUE(parseCompilerOutput(std::string(1 << 20, '('), "").messages.empty());
}

} // namespace
} // namespace espalier
