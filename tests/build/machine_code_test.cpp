// SPDX-License-Identifier: Apache-2.0
// The classes of instructions as this machine's ptxas encodes them, and the predicates that are read off them.
#include "tests/build/build_support.h"

#include "core/build/contract_check.h"
#include "core/build/machine_code.h"

#include <algorithm>
#include <fmt/format.h>
#include <random>

namespace espalier {
namespace {

using test::Bench;
using test::kernelWith;
using test::summary;

/// One warp-wide product: `d` f32 or s32 accumulators of 4, A of 4 and B of 2 registers.
std::string mmaKernel(const std::string& name, const std::string& shape, const std::string& type,
                      const std::string& acc, const std::string& tail = "")
{
    const char constraint = acc == "f32" ? 'f' : 'r';
    const char* cType = acc == "f32" ? "float" : "int";
    return fmt::format(
        "__global__ void {0}(const unsigned* in, {1}* out)\n"
        "{{\n"
        "    {1} c[4] = {{out[0], out[1], out[2], out[3]}};\n"
        "    asm volatile(\"mma.sync.aligned.{2}.row.col.{3}.{4}.{4}.{3}{5} {{%0,%1,%2,%3}}, {{%4,%5,%6,%7}}, "
        "{{%8,%9}}, {{%0,%1,%2,%3}};\"\n"
        "                 : \"+{6}\"(c[0]), \"+{6}\"(c[1]), \"+{6}\"(c[2]), \"+{6}\"(c[3])\n"
        "                 : \"r\"(in[0]), \"r\"(in[1]), \"r\"(in[2]), \"r\"(in[3]), \"r\"(in[4]), "
        "\"r\"(in[5]));\n"
        "    out[0] = c[0]; out[1] = c[1]; out[2] = c[2]; out[3] = c[3];\n"
        "}}\n",
        name, cType, shape, acc, type, tail, constraint);
}

/// One product of four warps with operands in shared memory.
std::string wgmmaKernel(const std::string& name, int k, const std::string& type, const std::string& acc,
                        const std::string& scales, const std::string& tail = "")
{
    const char constraint = acc == "f32" ? 'f' : 'r';
    const char* cType = acc == "f32" ? "float" : "int";
    return fmt::format(
        "__global__ void {0}(const unsigned long long* in, {1}* out)\n"
        "{{\n"
        "    {1} c[4] = {{out[0], out[1], out[2], out[3]}};\n"
        "    asm volatile(\"wgmma.fence.sync.aligned;\\n\"\n"
        "                 \"wgmma.mma_async.sync.aligned.m64n8k{2}.{3}.{4}.{4}{5} {{%0,%1,%2,%3}}, %4, %5, {6};"
        "\\n\"\n"
        "                 \"wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;\\n\"\n"
        "                 : \"+{7}\"(c[0]), \"+{7}\"(c[1]), \"+{7}\"(c[2]), \"+{7}\"(c[3]) : \"l\"(in[0]), "
        "\"l\"(in[1]));\n"
        "    out[0] = c[0]; out[1] = c[1]; out[2] = c[2]; out[3] = c[3];\n"
        "}}\n",
        name, cType, k, acc, type, tail, scales, constraint);
}

const KernelResources* kernelNamed(const BuildRecord& build, const std::string& name)
{
    const auto found = std::find_if(build.kernels.begin(), build.kernels.end(), [&](const KernelResources& kernel) {
        return kernel.kernel.starts_with(name + "(");
    });
    return found == build.kernels.end() ? nullptr : &*found;
}

TEST(MachineCode, EveryClassOfTheMatrixUnits)
{
    const std::vector<std::pair<std::string, std::string>> kernels = {
        {"tensor_f16", mmaKernel("m_f16", "m16n8k16", "f16", "f32")},
        {"tensor_bf16", mmaKernel("m_bf16", "m16n8k16", "bf16", "f32")},
        {"tensor_tf32", mmaKernel("m_tf32", "m16n8k8", "tf32", "f32")},
        {"tensor_int", mmaKernel("m_s8", "m16n8k32", "s8", "s32")},
        {"tensor_b1", mmaKernel("m_b1", "m16n8k256", "b1", "s32", ".and.popc")},
        {"tensor_f16", wgmmaKernel("w_f16", 16, "f16", "f32", "1, 1, 1, 0, 0")},
        {"tensor_bf16", wgmmaKernel("w_bf16", 16, "bf16", "f32", "1, 1, 1, 0, 0")},
        {"tensor_tf32", wgmmaKernel("w_tf32", 8, "tf32", "f32", "1, 1, 1")},
        {"tensor_fp8", wgmmaKernel("w_e4m3", 32, "e4m3", "f32", "1, 1, 1")},
        {"tensor_fp8", wgmmaKernel("w_e5m2", 32, "e5m2", "f32", "1, 1, 1")},
        {"tensor_int", wgmmaKernel("w_u8", 32, "u8", "s32", "1")},
        {"tensor_b1", wgmmaKernel("w_b1", 256, "b1", "s32", "1", ".and.popc")},
        {"tensor_f64",
         "__global__ void m_f64(const double* in, double* out)\n{\n    double c0 = out[0], c1 = out[1];\n"
         "    asm volatile(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};\"\n"
         "                 : \"+d\"(c0), \"+d\"(c1) : \"d\"(in[0]), \"d\"(in[1]));\n"
         "    out[0] = c0; out[1] = c1;\n}\n"},
        {"half", "#include <cuda_fp16.h>\n__global__ void h_fma(const __half2* in, __half2* out)\n"
                 "{\n    out[0] = __hfma2(in[0], in[1], in[2]);\n}\n"},
        {"bf16", "#include <cuda_bf16.h>\n__global__ void b_fma(const __nv_bfloat162* in, __nv_bfloat162* out)\n"
                 "{\n    out[0] = __hfma2(in[0], in[1], in[2]);\n}\n"},
    };
    const std::vector<std::string> names = {"m_f16",  "m_bf16", "m_tf32", "m_s8", "m_b1",  "w_f16", "w_bf16", "w_tf32",
                                            "w_e4m3", "w_e5m2", "w_u8",   "w_b1", "m_f64", "h_fma", "b_fma"};
    std::string source;
    for (const auto& [kind, text] : kernels) {
        source += text;
    }
    Bench bench;
    bench.task.contract.allowedInternal = {"f64", "tf32", "f16", "bf16", "fp8e4m3", "i8", "bool"};
    const auto result = bench.build(kernelWith("") + source);
    ASSERT_EQ(result.evaluation.outcome, Outcome::Passed) << summary(result);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const KernelResources* kernel = kernelNamed(*result.evaluation.build, names[i]);
        ASSERT_TRUE(kernel) << names[i];
        ASSERT_EQ(kernel->instructions.size(), 1u) << names[i];
        EXPECT_EQ(kernel->instructions.begin()->first, kernels[i].first) << names[i];
        EXPECT_EQ(kernel->instructions.begin()->second, 1) << names[i];
    }
    EXPECT_TRUE(kernelNamed(*result.evaluation.build, "copyKernel")->instructions.empty());
}

TEST(MachineCode, WhatTheContractDoesNotAllowIsRejectedBeforeItRuns)
{
    const std::string source = kernelWith("") + mmaKernel("products", "m16n8k8", "tf32", "f32");
    Bench bench;
    bench.task.contract.allowedInternal = {"f64", "f32"};
    const auto rejected = bench.build(source);
    EXPECT_EQ(rejected.evaluation.outcome, Outcome::Incorrect) << summary(rejected);
    EXPECT_EQ(rejected.evaluation.stage, Stage::Build);
    EXPECT_FALSE(rejected.library);
    ASSERT_FALSE(rejected.evaluation.evidence.empty());
    EXPECT_EQ(rejected.evaluation.evidence.back().check, "precision");
    EXPECT_EQ(rejected.evaluation.reason,
              "the machine code of products(unsigned int const*, float*) has 1 tf32 products of "
              "the matrix units; the contract allows f64, f32 inside only");
    bench.task.contract.allowedInternal = {"f32", "tf32"};
    EXPECT_EQ(bench.build(source).evaluation.outcome, Outcome::Passed);
    bench.task.contract.limits = {{"tensor_instructions", "==", 0}};
    const auto limited = bench.build(source);
    EXPECT_EQ(limited.evaluation.outcome, Outcome::Incorrect) << summary(limited);
    EXPECT_NE(limited.evaluation.reason.find("has tensor_instructions 1; the contract says tensor_instructions == 0"),
              std::string::npos)
        << limited.evaluation.reason;
}

TEST(MachineCode, ResourcesComeFromTheCode)
{
    const std::string source =
        kernelWith("") +
        "__global__ void sharing(float* out)\n{\n    __shared__ float s[300];\n    s[threadIdx.x] = out[threadIdx.x];\n"
        "    __syncthreads();\n    out[threadIdx.x] = s[299 - threadIdx.x];\n}\n"
        "__global__ void framed(const int* in, float* out)\n{\n    float local[100];\n"
        "    for (int i = 0; i < 100; ++i) local[i] = out[i];\n    for (int i = 0; i < 100; ++i) out[i] = "
        "local[in[i]];\n}\n"
        // text that looks like the compiler's must not hide a spill or a register
        "#pragma message(\"\\nptxas info    : Compiling entry function 'sharing' for 'sm_90a'\\nptxas info    : Used 1 "
        "registers, 0 bytes smem\")\n";
    Bench bench;
    const auto result = bench.build(source);
    ASSERT_EQ(result.evaluation.outcome, Outcome::Passed) << summary(result);
    const KernelResources* sharing = kernelNamed(*result.evaluation.build, "sharing");
    const KernelResources* framed = kernelNamed(*result.evaluation.build, "framed");
    ASSERT_TRUE(sharing && framed);
    EXPECT_EQ(sharing->sharedBytes, 1200);
    EXPECT_GT(sharing->registers, 4);
    EXPECT_EQ(sharing->stackBytes, 0);
    EXPECT_EQ(framed->stackBytes, 400);
    EXPECT_EQ(framed->sharedBytes, 0);
    bench.task.contract.limits = {{"shared_bytes", "<=", 1024}};
    EXPECT_NE(bench.build(source).evaluation.reason.find("sharing(float*) has shared_bytes 1200; the contract says "
                                                         "shared_bytes <= 1024"),
              std::string::npos);
    bench.task.contract.limits = {{"local_bytes", "==", 0}};
    EXPECT_NE(bench.build(source).evaluation.reason.find("framed(int const*, float*) has local_bytes 400"),
              std::string::npos);
}

TEST(MachineCode, OtherArchitecturesAreReadToo)
{
    const std::string source = mmaKernel("products", "m16n8k16", "bf16", "f32") +
                               kernelWith("__global__ void sharing(float* out)\n{\n    __shared__ float s[300];\n"
                                          "    s[threadIdx.x] = out[threadIdx.x];\n    __syncthreads();\n"
                                          "    out[threadIdx.x] = s[299 - threadIdx.x];\n}\n");
    Bench bench;
    bench.task.contract.allowedInternal = {"bf16"};
    for (const char* architecture : {"80", "100a", "120a"}) {
        BuildJob job = bench.job(source);
        job.architecture = architecture;
        const auto result = buildNow(job, bench.options);
        ASSERT_EQ(result.evaluation.outcome, Outcome::Passed) << architecture << ": " << summary(result);
        const KernelResources* products = kernelNamed(*result.evaluation.build, "products");
        const KernelResources* sharing = kernelNamed(*result.evaluation.build, "sharing");
        ASSERT_TRUE(products && sharing) << architecture;
        EXPECT_EQ(products->instructions, (std::map<std::string, int>{{"tensor_bf16", 1}})) << architecture;
        EXPECT_GT(products->registers, 4) << architecture;
        EXPECT_EQ(sharing->sharedBytes, 1200) << architecture;
    }
}

TEST(MachineCode, DamagedLibrariesAreErrorsOrSmaller)
{
    Bench bench;
    const auto result = bench.build(kernelWith(""));
    ASSERT_TRUE(result.library);
    const std::string& whole = *result.library->bytes;
    ASSERT_EQ(readMachineCode(whole)->size(), 1u);
    EXPECT_TRUE(readMachineCode("").value().empty());
    const std::size_t container = whole.find("\x50\xED\x55\xBA");
    ASSERT_NE(container, std::string::npos);
    for (const std::size_t keep : {std::size_t{8}, std::size_t{20}, std::size_t{100}, std::size_t{2000}}) {
        EXPECT_FALSE(readMachineCode(whole.substr(0, container + keep))) << keep;
    }
    std::string compressed = whole;
    compressed[container + 16 + 41] |= 0x20; // the entry's flags
    EXPECT_FALSE(readMachineCode(compressed));
    std::mt19937 random(5);
    for (int i = 0; i < 3000; ++i) {
        std::string damaged = whole;
        for (int k = 0; k < 4; ++k) {
            damaged[container + random() % (whole.size() - container)] = static_cast<char>(random());
        }
        (void)readMachineCode(damaged); // never outside its bytes: the sanitizers watch
    }
}

} // namespace
} // namespace espalier
