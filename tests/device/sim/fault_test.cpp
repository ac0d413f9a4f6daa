// SPDX-License-Identifier: Apache-2.0
#include "tests/device/sim/sim_support.h"

#include "core/device/sim/readable_name.h"

#include <gtest/gtest.h>

namespace espalier::sim {
namespace {

class Faults : public testing::Test
{
protected:
    SimFixture sim{fixture("mixed.ptx")};
    std::vector<float> x = std::vector<float>(64, 1.0f), y = std::vector<float>(64, 0.0f);
    std::uint64_t px = sim.buffer(x, "input x", Access::ReadOnly), py = sim.buffer(y, "output y");

    static int lineOf(std::string_view mark)
    {
        const std::string source = fixture("mixed.cu");
        const auto at = source.find(mark);
        return static_cast<int>(std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
    }
};

TEST_F(Faults, WritePastTheEndNamesEverything)
{
    const LaunchResult result = sim.run("bad_write", {2, 1, 1}, {32, 1, 1}, 0, px, py, 27);
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->kind, FaultKind::OutOfBounds);
    const int line = lineOf("LINE:WRITE");
    EXPECT_EQ(result.fault->sentence, "bad_write wrote 4 bytes, 12 bytes past the end of output y (block 1, thread 8), "
                                      "mixed.cu:" +
                                          std::to_string(line));
    EXPECT_EQ(result.fault->line, line);
    EXPECT_TRUE(result.fault->file.ends_with("mixed.cu"));
}

TEST_F(Faults, DistancesAreExactToTheByte)
{
    const auto sentence = [&](int n) {
        const LaunchResult result = sim.run("bad_write", {2, 1, 1}, {32, 1, 1}, 0, px, py, n);
        return result.fault ? result.fault->sentence : "none";
    };
    EXPECT_EQ(sentence(23), "none"); // 40 + 23 is the last element
    EXPECT_NE(sentence(24).find("wrote 4 bytes right past the end of output y"), std::string::npos);
    EXPECT_NE(sentence(-41).find("wrote 4 bytes, 4 bytes before the start of output y"), std::string::npos);
    EXPECT_NE(sentence(-2'000'000'000).find("no buffer"), std::string::npos);
    std::vector<float> odd(41);
    const LaunchResult tail =
        sim.run("bad_write", {2, 1, 1}, {32, 1, 1}, 0, px,
                sim.add(reinterpret_cast<std::byte*>(odd.data()), 41 * 4 - 3, "output odd", Access::ReadWrite), 0);
    ASSERT_TRUE(tail.fault);
    EXPECT_NE(tail.fault->sentence.find("wrote 4 bytes of which 3 lie past the end of output odd (block 1, thread 8)"),
              std::string::npos)
        << tail.fault->sentence;
}

TEST_F(Faults, InputsAreReadOnly)
{
    const LaunchResult result = sim.run("bad_input", {1, 1, 1}, {64, 1, 1}, 0, px, 3);
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->kind, FaultKind::ReadOnlyWrite);
    EXPECT_TRUE(result.fault->sentence.starts_with(
        "bad_input wrote 4 bytes into input x at byte 0, which is read-only (block 0, thread 0), mixed.cu:"))
        << result.fault->sentence;
    EXPECT_EQ(x, std::vector<float>(64, 1.0f));
}

TEST_F(Faults, Misaligned)
{
    const LaunchResult result = sim.run("bad_align", {1, 1, 1}, {32, 1, 1}, 0, px, py);
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->kind, FaultKind::Misaligned);
    EXPECT_TRUE(result.fault->sentence.starts_with("bad_align read 4 bytes at byte 2 of input x"))
        << result.fault->sentence;
}

TEST_F(Faults, SharedMemory)
{
    EXPECT_FALSE(sim.run("bad_shared", {1, 1, 1}, {32, 1, 1}, 0, py, 0).fault);
    const LaunchResult result = sim.run("bad_shared", {1, 1, 1}, {32, 1, 1}, 0, py, 1);
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->kind, FaultKind::SharedOutOfBounds);
    EXPECT_TRUE(result.fault->sentence.starts_with("bad_shared wrote 4 bytes at offset 128 of shared memory, of which "
                                                   "the block has 128 bytes (block 0, thread 31)"))
        << result.fault->sentence;
    const LaunchResult before = sim.run("bad_shared", {1, 1, 1}, {32, 1, 1}, 0, py, -1);
    ASSERT_TRUE(before.fault);
    EXPECT_NE(before.fault->sentence.find("at offset -4 of shared memory"), std::string::npos);
}

TEST_F(Faults, BarrierThatNobodyElseReaches)
{
    const LaunchResult result = sim.run("bad_barrier", {1, 1, 1}, {64, 1, 1}, 0, py);
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->kind, FaultKind::BarrierDeadlock);
    EXPECT_TRUE(result.fault->sentence.starts_with("bad_barrier never ends: 32 of the 64 threads wait at a barrier"))
        << result.fault->sentence;
}

TEST_F(Faults, AssertAndTrap)
{
    EXPECT_FALSE(sim.run("bad_assert", {1, 1, 1}, {32, 1, 1}, 0, py, 2).fault);
    const LaunchResult failed = sim.run("bad_assert", {1, 1, 1}, {32, 1, 1}, 0, py, 3);
    ASSERT_TRUE(failed.fault);
    EXPECT_EQ(failed.fault->kind, FaultKind::Trap);
    EXPECT_NE(failed.fault->sentence.find("failed the assertion \"n < 3 && \"n is small\"\" at mixed.cu:"),
              std::string::npos)
        << failed.fault->sentence;
    const LaunchResult trap = sim.run("bad_trap", {1, 1, 1}, {32, 1, 1}, 0, 7);
    ASSERT_TRUE(trap.fault);
    EXPECT_TRUE(trap.fault->sentence.starts_with("bad_trap executed a trap instruction (block 0, thread 7)"));
}

TEST_F(Faults, EndlessLoopAndCancel)
{
    std::vector<int> flag(2, 0);
    const auto pf = sim.buffer(flag, "flag");
    sim.limits.maxThreadInstructions = 100'000;
    const LaunchResult endless = sim.run("endless", {1, 1, 1}, {32, 1, 1}, 0, pf);
    ASSERT_TRUE(endless.fault);
    EXPECT_EQ(endless.fault->kind, FaultKind::InstructionLimit);
    EXPECT_LT(endless.counters.threadInstructions, 110'000u);
    const std::atomic<bool> cancel{true};
    sim.limits = {0, &cancel};
    const LaunchResult cancelled = sim.run("endless", {1, 1, 1}, {32, 1, 1}, 0, pf);
    ASSERT_TRUE(cancelled.fault);
    EXPECT_NE(cancelled.fault->sentence.find("was cancelled"), std::string::npos);
}

TEST_F(Faults, ImpossibleShapesAreRefused)
{
    for (const Dim3 block :
         {Dim3{0, 1, 1}, Dim3{1025, 1, 1}, Dim3{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, Dim3{64, 32, 1}}) {
        const LaunchResult result = sim.run("bad_write", {1, 1, 1}, block, 0, px, py, 0);
        ASSERT_TRUE(result.fault);
        EXPECT_TRUE(result.fault->sentence.starts_with("bad_write cannot be launched with blocks of"));
    }
    EXPECT_TRUE(sim.run("bad_write", {1, 1, 1}, {32, 1, 1}, 0xFFFFFFFF, px, py, 0).fault);
    EXPECT_FALSE(sim.run("bad_write", {0, 1, 1}, {32, 1, 1}, 0, px, py, 0).fault);
}

TEST_F(Faults, UnknownInstructionsAreNamedAndLeaveOtherKernelsAlone)
{
    std::string text = snippet("wgmma.fence.sync.aligned;\n tanh.approx.f32 %f0, %f1;\n bra.uni nowhere;\n");
    text += ".visible .entry other() { ret; }\n";
    const auto module = PtxModule::parse(text);
    ASSERT_TRUE(module) << module.error().message;
    const KernelFacts* facts = (*module)->facts("t");
    ASSERT_TRUE(facts);
    ASSERT_EQ(facts->unsupported.size(), 2u);
    EXPECT_EQ(facts->unsupported[0], "the tensor-core instruction wgmma.fence.sync.aligned (line 17 of the PTX)");
    EXPECT_EQ(facts->unsupported[1], "bra.uni: no label nowhere (line 19 of the PTX)");
    EXPECT_TRUE((*module)->facts("other")->unsupported.empty());
}

TEST(ReadableName, IsTheOneInTheSource)
{
    const std::pair<const char*, const char*> names[] = {
        {"k", "k"},
        {"_Z5outerv", "outer"},
        {"_ZN43_INTERNAL_0858e2de_12_half_math_cu_4948c2594hexpE6__half", "hexp"},
        {"_ZN12_GLOBAL__N_16kernelEPKf", "kernel"},
        {"_Z7softmaxILi4EfEvPKT0_PS0_", "softmax<4, float>"},
        {"_ZN4cuda3std3__43minIfEET_S3_S3_", "cuda::std::min<float>"},
        {"_ZN6nvcuda4wmma8mma_syncEv", "nvcuda::wmma::mma_sync"},
    };
    for (const auto& [mangled, plain] : names)
        EXPECT_EQ(readableName(mangled), plain);
}

TEST_F(Faults, WhatIsInlinedTwiceDeepIsNamedByTheCallInTheSource)
{
    const auto module =
        PtxModule::parse(".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() {\n"
                         ".loc 1 3 1\n mov.u32 %r1, 1;\n"
                         ".loc 2 70 1, function_name $outer, inlined_at 1 3 5\n"
                         ".loc 3 800 2, function_name $inner, inlined_at 2 70 1\n wgmma.fence.sync.aligned;\n"
                         ".loc 1 9 1\n tcgen05.commit;\n ret;\n}\n"
                         ".file 1 \"/home/someone/a.cu\"\n.file 2 \"lib.h\"\n.file 3 \"detail.h\"\n"
                         ".section .debug_str\n{\n$outer:\n.b8 95,90,53,111,117,116\n.b8 101,114,118,0\n" // _Z5outerv
                         "$inner:\n.b8 95,90,53,105,110,110,101,114,118,0\n}\n");
    ASSERT_TRUE(module) << module.error().message;
    const auto& unsupported = (*module)->kernels().front().unsupported;
    ASSERT_EQ(unsupported.size(), 3u);
    EXPECT_EQ(unsupported[1], "the tensor-core instruction wgmma.fence.sync.aligned (outer at a.cu:3)");
    EXPECT_EQ(unsupported[2], "the tensor-core instruction tcgen05.commit (a.cu:9)");
}

} // namespace
} // namespace espalier::sim
