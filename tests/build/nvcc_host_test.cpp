// SPDX-License-Identifier: Apache-2.0
// A candidate whose host part was built before has its device part compiled alone, and what comes out is what a whole
// build makes.
#include "core/base/elf_facts.h"
#include "core/build/device_code.h"
#include "core/build/fat_binary.h"
#include "core/build/host_part.h"
#include "core/build/module_name.h"
#include "tests/build/build_support.h"

#include <chrono>
#include <thread>
#include <utility>

namespace espalier {
namespace {

using test::Bench;
using test::kernelWith;
using test::summary;

std::string tuned(int held, int block, const std::string& body = "v * HELD")
{
    return kernelWith("// espalier: tune HELD = 4 8\n#define HELD " + std::to_string(held) +
                          "\n// espalier: tune BLOCK = 128 256\n#define BLOCK " + std::to_string(block) +
                          "\n__global__ void other(float* y)\n{\n    float v = y[threadIdx.x];\n#pragma unroll\n"
                          "    for (int i = 0; i < HELD; ++i)\n        v = " +
                          body + ";\n    y[threadIdx.x] = v;\n}\n",
                      "    other<<<1, BLOCK, 0, stream>>>(y);\n");
}

void expectSameCode(const BuildResult& device, const BuildResult& whole)
{
    ASSERT_TRUE(device.library && whole.library);
    // As truths: whole libraries make no message. (The line tables of two builds differ by the file's time.)
    EXPECT_TRUE(*ptxOfLibrary(*device.library->bytes) == *ptxOfLibrary(*whole.library->bytes));
    EXPECT_EQ(device.evaluation.build->kernels, whole.evaluation.build->kernels);
    EXPECT_EQ(device.library->bytes->size(), whole.library->bytes->size());
    const auto a = readElf(*device.library->bytes), b = readElf(*whole.library->bytes);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->imports.size(), b->imports.size());
    EXPECT_EQ(a->initArrayBytes, b->initArrayBytes);
}

/// One pool, so that its builds know of each other.
class HostParts : public ::testing::Test
{
protected:
    HostParts() { bench.options.workers = 1; }
    BuildResult build(const std::string& source)
    {
        if (!pool) {
            pool = makeNvccBuildPool(bench.options);
        }
        pool->submit(bench.job(source, ++last));
        for (;;) {
            for (BuildResult& result : pool->receive()) {
                return std::move(result);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    BuildResult whole(const std::string& source)
    {
        BuildPoolOptions options = bench.options;
        options.useCache = false;
        options.reuseHost = false;
        return buildNow(bench.job(source), options);
    }

    Bench bench;
    std::unique_ptr<BuildPool> pool;
    std::int64_t last = 0;
};

TEST_F(HostParts, ATunableThatNoLaunchUsesCostsTheDevicePartAlone)
{
    const BuildResult first = build(tuned(8, 256));
    ASSERT_EQ(first.evaluation.outcome, Outcome::Passed) << summary(first);
    EXPECT_FALSE(first.evaluation.build->deviceOnly);
    expectSameCode(first, whole(tuned(8, 256)));
    const BuildResult second = build(tuned(4, 256));
    ASSERT_EQ(second.evaluation.outcome, Outcome::Passed) << summary(second);
    EXPECT_TRUE(second.evaluation.build->deviceOnly);
    EXPECT_FALSE(*ptxOfLibrary(*second.library->bytes) == *ptxOfLibrary(*first.library->bytes));
    expectSameCode(second, whole(tuned(4, 256)));
    const BuildResult edited = build(tuned(4, 256, "v + 1.0f"));
    ASSERT_EQ(edited.evaluation.outcome, Outcome::Passed) << summary(edited);
    EXPECT_TRUE(edited.evaluation.build->deviceOnly) << "another body is another device part, too";
    expectSameCode(edited, whole(tuned(4, 256, "v + 1.0f")));
}

TEST_F(HostParts, OneThatALaunchUsesIsBuiltWhole)
{
    ASSERT_EQ(build(tuned(8, 256)).evaluation.outcome, Outcome::Passed);
    const BuildResult other = build(tuned(8, 128));
    ASSERT_EQ(other.evaluation.outcome, Outcome::Passed) << summary(other);
    EXPECT_FALSE(other.evaluation.build->deviceOnly);
}

TEST_F(HostParts, AnErrorInTheDevicePartIsSaidWithItsLine)
{
    ASSERT_EQ(build(tuned(8, 256)).evaluation.outcome, Outcome::Passed);
    const BuildResult broken = build(tuned(8, 256, "v * missing"));
    EXPECT_EQ(broken.evaluation.outcome, Outcome::BuildFailed) << summary(broken);
    EXPECT_NE(broken.evaluation.reason.find("missing"), std::string::npos) << broken.evaluation.reason;
    EXPECT_FALSE(broken.evaluation.build->messages.empty());
    EXPECT_EQ(build(tuned(4, 256)).evaluation.outcome, Outcome::Passed) << "and costs the others nothing";
}

TEST_F(HostParts, WithoutASandboxLikewise)
{
    bench.options.sandbox = false;
    ASSERT_EQ(build(tuned(8, 256)).evaluation.outcome, Outcome::Passed);
    const BuildResult second = build(tuned(4, 256));
    ASSERT_EQ(second.evaluation.outcome, Outcome::Passed) << summary(second);
    EXPECT_TRUE(second.evaluation.build->deviceOnly);
    EXPECT_EQ(second.evaluation.build->kernels, whole(tuned(4, 256)).evaluation.build->kernels);
}

/// nvcc names what a file keeps to itself after its path; where the path is another at every build, the host object
/// looks for kernels that the device part does not have.
TEST_F(HostParts, HalvesOfTwoPathsAreNotJoined)
{
    const auto unnamed = [](int held) {
        std::string source = tuned(held, 256);
        source.insert(source.find("\n__global__ void other"), "\nnamespace {");
        source.insert(source.find("\n__global__ void copyKernel"), "\n}");
        return source;
    };
    for (const bool sandboxed : {true, false}) {
        bench.options.sandbox = sandboxed;
        pool.reset();
        int alone = 0;
        for (const int held : {8, 4, 2}) {
            const BuildResult result = build(unnamed(held + (sandboxed ? 0 : 16)));
            ASSERT_EQ(result.evaluation.outcome, Outcome::Passed) << summary(result);
            EXPECT_TRUE(ofOneModule(*result.library->bytes, "candidate.cu")) << sandboxed << " " << held;
            EXPECT_NE(result.library->bytes->find("_12_candidate_cu_"), std::string::npos) << "the mark is what it was";
            alone += result.evaluation.build->deviceOnly;
        }
        EXPECT_EQ(alone, sandboxed ? 2 : 0);
    }
}

TEST(DeviceCodeOfBuilds, HasOneNameHoweverItIsWritten)
{
    Bench bench;
    const auto named = [&bench](const std::string& source) {
        const BuildResult result = bench.build(source);
        EXPECT_TRUE(result.library) << summary(result);
        return std::pair{deviceCodeHash(*result.library->bytes, DeviceCode::Machine).value(),
                         deviceCodeHash(*result.library->bytes, DeviceCode::Ptx).value()};
    };
    const auto kernel = [](const std::string& before, const std::string& name, const std::string& factor) {
        return kernelWith(before + "__global__ void other(float* y)\n{\n    float " + name + " = y[threadIdx.x];\n" +
                              before + "    y[threadIdx.x] = " + name + " * " + factor + ";\n}\n",
                          "    other<<<1, 32, 0, stream>>>(y);\n");
    };
    const auto first = named(kernel("", "v", "3.0f"));
    EXPECT_EQ(named(kernel("// a comment\n\n\n", "value_of_this", "3.0f")), first);
    const auto other = named(kernel("", "v", "5.0f"));
    EXPECT_NE(other.first, first.first);
    EXPECT_NE(other.second, first.second);
}

} // namespace
} // namespace espalier
