// SPDX-License-Identifier: Apache-2.0
#include "core/runner/launch_gate.h"

#include <gtest/gtest.h>

extern "C" {
int cudaLaunchKernelExC(const void* config, const void* function, void** arguments);
void __cudaRegisterFunction(void** module, const char* hostFunction, char* deviceFunction, const char* name, int, void*,
                            void*, void*, void*, int*);
}

namespace espalier::runner {
namespace {

RefusedLaunch plain()
{
    RefusedLaunch launch;
    launch.kernel = "_Z4rowsPf";
    launch.grid = {4, 2, 1};
    launch.block = {256, 1, 1};
    launch.status = 9;
    launch.mostGrid = {0x7fffffff, 65535, 65535};
    launch.mostBlock = {1024, 1024, 64};
    launch.mostThreads = 1024;
    launch.kernelThreads = 1024;
    launch.registers = 32;
    launch.mostRegisters = 65536;
    launch.staticShared = 1024;
    launch.kernelShared = 48128;
    launch.optinShared = 232448;
    return launch;
}

std::string brokenBy(void (*change)(RefusedLaunch&))
{
    RefusedLaunch launch = plain();
    change(launch);
    const std::string text = textOf(launch);
    const std::size_t at = text.find("error 9: ");
    return at == std::string::npos ? text : text.substr(at + 9);
}

TEST(LaunchGate, Field13NamesTheLimitThatIsBroken)
{
    EXPECT_EQ(textOf(plain()), "the launch of rows(float*) with grid 4 x 2 x 1, block 256 x 1 x 1 and 0 bytes of "
                               "dynamic shared memory was refused with CUDA error 9");
    EXPECT_EQ(brokenBy([](RefusedLaunch& l) { l.block = {1, 1, 65}; }), "block z is 65, at most 64 on this device");
    EXPECT_EQ(brokenBy([](RefusedLaunch& l) { l.grid = {1, 65536, 1}; }),
              "grid y is 65536, at most 65535 on this device");
    EXPECT_EQ(brokenBy([](RefusedLaunch& l) { l.grid = {0, 1, 1}; }), "grid x is 0");
    EXPECT_EQ(brokenBy([](RefusedLaunch& l) { l.block = {64, 32, 1}; }),
              "2048 threads a block, at most 1024 on this device");
    EXPECT_EQ(brokenBy([](RefusedLaunch& l) { l.kernelThreads = 128; }),
              "256 threads a block, at most 128 for this kernel (its __launch_bounds__ or its registers)");
    EXPECT_EQ(brokenBy([](RefusedLaunch& l) { l.dynamicShared = 100000; }),
              "100000 bytes of dynamic shared memory, at most 48128 unless cudaFuncSetAttribute(…, "
              "cudaFuncAttributeMaxDynamicSharedMemorySize, …) asks for more");
    EXPECT_EQ(brokenBy([](RefusedLaunch& l) { l.dynamicShared = 232000; }),
              "233024 bytes of shared memory a block (1024 of them static), at most 232448 on this device");
    EXPECT_EQ(brokenBy([](RefusedLaunch& l) {
                  l.block = {1024, 1, 1};
                  l.registers = 72;
              }),
              "1024 threads of 72 registers, at most 65536 registers a block on this device");
}

/// A runtime that tells no limits: the shape is said all the same.
TEST(LaunchGate, WhatIsNotKnownIsNotClaimed)
{
    RefusedLaunch launch;
    launch.block = {4096, 1, 1};
    launch.status = 9;
    EXPECT_EQ(textOf(launch), "the launch of a kernel with grid 1 x 1 x 1, block 4096 x 1 x 1 and 0 bytes of dynamic "
                              "shared memory was refused with CUDA error 9");
}

/// What a candidate hands over may be anything: the runtime's own error stands (here that of none).
TEST(LaunchGate, NullIsHandedOn)
{
    char function = 0;
    __cudaRegisterFunction(nullptr, &function, &function, nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    EXPECT_EQ(cudaLaunchKernelExC(nullptr, &function, nullptr), 801);
    EXPECT_EQ(takeRefusedLaunch(), "");
}

} // namespace
} // namespace espalier::runner
