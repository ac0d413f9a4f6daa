// SPDX-License-Identifier: Apache-2.0
// The PTX of the nvcc at hand, not of the day the fixtures were made.
#include "tests/device/sim/sim_support.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

namespace espalier::sim {
namespace {

TEST(Nvcc, FixturesCompiledNowDecodeWhole)
{
    const auto folder = std::filesystem::temp_directory_path() / ("espalier_sim_nvcc_" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    for (const char* name : {"softmax", "mixed"}) {
        const std::string out = (folder / name).string() + ".ptx";
        const std::string command = std::string(ESPALIER_NVCC) + " -ptx -arch=compute_90a -lineinfo -o " + out +
                                    " " ESPALIER_SIM_FIXTURES "/" + name + ".cu";
        ASSERT_EQ(std::system(command.c_str()), 0) << command;
        std::ifstream file(out);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        const auto module = PtxModule::parse(text);
        ASSERT_TRUE(module) << module.error().message;
        for (const KernelFacts& facts : (*module)->kernels())
            EXPECT_TRUE(facts.unsupported.empty()) << facts.name << ": " << facts.unsupported[0];
    }
    std::filesystem::remove_all(folder);
}

} // namespace
} // namespace espalier::sim
