// SPDX-License-Identifier: Apache-2.0
#include "core/build/host_part.h"
#include "core/build/module_name.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace espalier {
namespace {

constexpr const char* kernel = R"(#include <cstdint>
// espalier: tune BLOCK = 128 256
#define BLOCK 256
// espalier: tune HELD = 4 8
#define HELD 8
#define TWICE (HELD * 2)
namespace {
constexpr int depth = TWICE + 1;
static_assert(depth > 2);
__device__ float f(float v) { return v * HELD; }
template <int N> __global__ void k(float* x)
{
    __shared__ float s[depth];
#pragma unroll HELD
    for (int i = 0; i < HELD; ++i) { x[i] = f(s[i]); }
}
} // namespace
extern "C" int entry(float* x) { k<3><<<1, BLOCK>>>(x); return 0; }
)";

std::string with(std::string text, std::string_view from, std::string_view to)
{
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

/// The same host part, or a text that settles nothing.
bool sameHost(const std::string& one, const std::string& other)
{
    const auto a = hostPartOf(one), b = hostPartOf(other);
    return a && b && *a == *b;
}

TEST(HostPart, ATunableOfDeviceCodeAloneLeavesIt)
{
    ASSERT_TRUE(hostPartOf(kernel));
    EXPECT_TRUE(sameHost(kernel, with(kernel, "HELD 8", "HELD 4")));
    EXPECT_TRUE(sameHost(kernel, with(kernel, "return v * HELD", "return v + 1.0f; /* } */")))
        << "so does another body";
}

TEST(HostPart, ATunableOfALaunchChangesIt)
{
    EXPECT_FALSE(sameHost(kernel, with(kernel, "BLOCK 256", "BLOCK 128")));
    const std::string over = with(kernel, "<<<1, BLOCK>>>", "<<<TWICE, BLOCK>>>");
    EXPECT_FALSE(sameHost(over, with(over, "HELD 8", "HELD 4"))) << "through another macro";
    const std::string constant = with(kernel, "<<<1, BLOCK>>>", "<<<depth, BLOCK>>>");
    EXPECT_FALSE(sameHost(constant, with(constant, "HELD 8", "HELD 4"))) << "through a constant";
    const std::string argument = with(kernel, "k<3>", "k<HELD>");
    EXPECT_FALSE(sameHost(argument, with(argument, "HELD 8", "HELD 4")));
    const std::string bounds = with(kernel, "__global__ void", "__global__ void __launch_bounds__(HELD)");
    EXPECT_FALSE(sameHost(bounds, with(bounds, "HELD 8", "HELD 4")));
}

TEST(HostPart, DeclarationsBelongToTheHost)
{
    EXPECT_FALSE(sameHost(kernel, with(kernel, "k(float* x)", "k(float* y)")));
    EXPECT_FALSE(sameHost(kernel, with(kernel, "return 0", "return 1")));
    const std::string both = with(kernel, "__device__ float f", "__host__ __device__ float f");
    EXPECT_FALSE(sameHost(both, with(both, "v * HELD", "v * 2"))) << "the host has such a function, too";
    EXPECT_FALSE(sameHost(both, with(both, "HELD 8", "HELD 4")));
    const std::string deduced = with(kernel, "__device__ float f", "__device__ auto f");
    EXPECT_FALSE(sameHost(deduced, with(deduced, "v * HELD", "v * 2"))) << "its type may be asked for";
    const std::string data = with(kernel, "namespace {", "namespace {\n__constant__ float c[HELD];");
    EXPECT_FALSE(sameHost(data, with(data, "HELD 8", "HELD 4")));
    const std::string member =
        with(kernel, "namespace {", "namespace {\nstruct S { float v[HELD]; __device__ void g() { v[0] = 1; } };");
    EXPECT_FALSE(sameHost(member, with(member, "v[0] = 1", "v[0] = 2")));
    EXPECT_FALSE(sameHost(member, with(member, "HELD 8", "HELD 4")));
}

TEST(HostPart, WhatNeedsAPreprocessorIsNotSettled)
{
    EXPECT_FALSE(hostPartOf(""));
    EXPECT_FALSE(hostPartOf("int entry() { return 0; }")) << "nothing of the device's";
    for (const char* line :
         {"#if HELD > 4\n#endif\n", "#define OPEN {\n", "#define HD __host__ __device__\n", "#define JOIN(a, b) a##b\n",
          "#undef HELD\n", "#define HELD 9\n", "#define LONG 1 \\\n + 2\n", "#define __device__\n",
          "const char* raw = R\"(})\";\n", "int a<::>;\nint b = sizeof(int<%%>);\n", "}\n", "#define f auto f\n"}) {
        EXPECT_FALSE(hostPartOf(with(kernel, "namespace {", std::string(line) + "namespace {"))) << line;
    }
    const std::string inside = with(kernel, "    __shared__", "\n#define N 4\n    __shared__");
    EXPECT_FALSE(hostPartOf(inside)) << "the host may read N";
    const std::string header = with(kernel, "namespace {", "#include \"reads_held.h\"\nnamespace {");
    EXPECT_FALSE(sameHost(header, with(header, "HELD 8", "HELD 4"))) << "a header after it may read it";
    EXPECT_FALSE(hostPartOf(with(kernel, "return 0;", "return __LINE__;")));
}

TEST(HostPart, AnyBytesAreAccepted)
{
    std::string text = kernel;
    for (std::size_t cut = 0; cut < text.size(); cut += 3) {
        (void)hostPartOf(text.substr(cut));
        (void)hostPartOf(text.substr(0, cut));
        std::string changed = text;
        changed[cut] = static_cast<char>(cut * 37);
        (void)hostPartOf(changed);
    }
}

/// Every kernel that ships with a task is understood.
TEST(HostPart, ReadsThePlaybooks)
{
    int read = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(ESPALIER_SOURCE_DIR) + "/tasks")) {
        if (entry.path().extension() == ".cu" && entry.path().string().find("playbook") != std::string::npos) {
            const auto text = readFile(entry.path());
            ASSERT_TRUE(text);
            EXPECT_TRUE(hostPartOf(*text)) << entry.path();
            ++read;
        }
    }
    EXPECT_GE(read, 20);
}

TEST(ModuleName, TwoOfThemAreTold)
{
    const std::string a = "x_ZN45_GLOBAL__N__9728ba66_12_candidate_cu_282b7ba511softmaxRowsEPKf",
                      b = "_N__c4f78d3e_12_candidate_cu_go";
    EXPECT_TRUE(ofOneModule("", "candidate.cu"));
    EXPECT_TRUE(ofOneModule(a + a, "candidate.cu"));
    EXPECT_FALSE(ofOneModule(a + b, "candidate.cu"));
    EXPECT_TRUE(ofOneModule(a + b, "oracle.cu")) << "of another file's";
    EXPECT_TRUE(ofOneModule(a + "_12_candidate_cu_ nothexes_12_candidate_cu_", "candidate.cu"));
    EXPECT_TRUE(ofOneModule("_12_candidate_cu_", "candidate.cu"));
}

} // namespace
} // namespace espalier
