// SPDX-License-Identifier: Apache-2.0
// The PTX of the nvcc at hand, not of the day the fixtures were made.
#include "tests/device/sim/sim_support.h"

#include <gtest/gtest.h>

namespace espalier::sim {
namespace {

TEST(Nvcc, FixturesCompiledNowDecodeWhole)
{
    for (const char* name : {"softmax", "mixed"}) {
        const auto module = PtxModule::parse(compiledNow(name));
        ASSERT_TRUE(module) << module.error().message;
        for (const KernelFacts& facts : (*module)->kernels())
            EXPECT_TRUE(facts.unsupported.empty()) << facts.name << ": " << facts.unsupported[0];
    }
}

} // namespace
} // namespace espalier::sim
