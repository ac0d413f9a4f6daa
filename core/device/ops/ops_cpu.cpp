// SPDX-License-Identifier: Apache-2.0
#include "core/device/ops/ops_cpu.h"

#include "core/device/ops/ops_impl.h"

#include <algorithm>
#include <cassert>

namespace espalier::ops {

namespace {

template <typename Args>
Args argumentsOf(std::span<const std::byte> bytes)
{
    assert(bytes.size() == sizeof(Args));
    Args args;
    memcpy(&args, bytes.data(), sizeof(Args));
    return args;
}

std::uint64_t& counterAt(std::uint64_t address)
{
    return *reinterpret_cast<std::uint64_t*>(address);
}

void compareAll(const CompareArgs& args, std::uint64_t count)
{
    CompareTally tally;
    for (std::uint64_t i = 0; i < count; ++i) {
        compareElement(args, i, tally);
    }
    CompareResult& result = *reinterpret_cast<CompareResult*>(args.result);
    result.compared += tally.compared;
    result.failed += tally.failed;
    result.nonFinite += tally.nonFinite;
    result.stillPoison += tally.stillPoison;
    result.firstFailed = std::min(result.firstFailed, tally.firstFailed);
    result.worstIndexBits = std::max(result.worstIndexBits, tally.worst);
    result.sumSquaredError += tally.squaredError;
    result.sumSquaredReference += tally.squaredReference;
    result.sumSquaredScale += tally.squaredScale;
    compareFinish(args, count);
}

} // namespace

std::size_t argumentBytes(Op op)
{
    switch (op) {
    case Op::Fill:
    case Op::Verify:
        return sizeof(FillArgs);
    case Op::Poison:
        return sizeof(PoisonArgs);
    case Op::Compare:
        return sizeof(CompareArgs);
    case Op::Band:
        return sizeof(BandArgs);
    case Op::Hash:
        return sizeof(HashArgs);
    }
    return 0;
}

void runOnCpu(Op op, std::span<const std::byte> bytes, std::uint64_t count)
{
    switch (op) {
    case Op::Fill: {
        const auto args = argumentsOf<FillArgs>(bytes);
        for (std::uint64_t i = 0; i < count; ++i) {
            fillElement(args, i);
        }
        return;
    }
    case Op::Verify: {
        const auto args = argumentsOf<FillArgs>(bytes);
        for (std::uint64_t i = 0; i < count; ++i) {
            counterAt(args.mismatches) += inputDiffers(args, i);
        }
        return;
    }
    case Op::Poison: {
        const auto args = argumentsOf<PoisonArgs>(bytes);
        for (std::uint64_t i = 0; i < count; ++i) {
            poisonElement(args, i);
        }
        return;
    }
    case Op::Compare:
        return compareAll(argumentsOf<CompareArgs>(bytes), count);
    case Op::Band: {
        const auto args = argumentsOf<BandArgs>(bytes);
        std::uint64_t differing = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            differing += bandElement(args, i);
        }
        if (differing) {
            counterAt(args.mismatches) += differing;
        }
        return;
    }
    case Op::Hash: {
        const auto args = argumentsOf<HashArgs>(bytes);
        for (std::uint64_t i = 0; i < count; ++i) {
            counterAt(args.result) += hashElement(args, i);
        }
        return;
    }
    }
}

} // namespace espalier::ops
