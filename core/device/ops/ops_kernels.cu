// SPDX-License-Identifier: Apache-2.0
// The judge's operations on CUDA devices: compiled to PTX at build time (no fused multiply-add) and embedded. One
// kernel per operation, named espalier_<operation>, with the argument struct and the number of elements.
#include "core/device/ops/ops_impl.h"

using namespace espalier::ops;

namespace {

using Wide = unsigned long long;

__device__ std::uint64_t firstIndex()
{
    return std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ std::uint64_t step()
{
    return std::uint64_t(gridDim.x) * blockDim.x;
}

__device__ Wide* wide(std::uint64_t& field)
{
    return reinterpret_cast<Wide*>(&field);
}

__device__ std::uint64_t warpSum(std::uint64_t value)
{
    for (int offset = 16; offset; offset /= 2) {
        value += __shfl_down_sync(~0u, Wide(value), offset);
    }
    return value;
}

__device__ double warpSum(double value)
{
    for (int offset = 16; offset; offset /= 2) {
        value += __shfl_down_sync(~0u, value, offset);
    }
    return value;
}

__device__ void addCounter(std::uint64_t address, std::uint64_t value)
{
    const std::uint64_t sum = warpSum(value);
    if (threadIdx.x % 32 == 0 && sum) {
        atomicAdd(reinterpret_cast<Wide*>(address), Wide(sum));
    }
}

} // namespace

extern "C" __global__ void espalier_fill(FillArgs args, std::uint64_t count)
{
    for (std::uint64_t i = firstIndex(); i < count; i += step()) {
        fillElement(args, i);
    }
}

extern "C" __global__ void espalier_verify(FillArgs args, std::uint64_t count)
{
    std::uint64_t differing = 0;
    for (std::uint64_t i = firstIndex(); i < count; i += step()) {
        differing += inputDiffers(args, i);
    }
    addCounter(args.mismatches, differing);
}

extern "C" __global__ void espalier_poison(PoisonArgs args, std::uint64_t count)
{
    for (std::uint64_t i = firstIndex(); i < count; i += step()) {
        poisonElement(args, i);
    }
}

extern "C" __global__ void espalier_compare(CompareArgs args, std::uint64_t count)
{
    CompareTally tally;
    for (std::uint64_t i = firstIndex(); i < count; i += step()) {
        compareElement(args, i, tally);
    }
    for (int offset = 16; offset; offset /= 2) {
        const std::uint64_t first = __shfl_down_sync(~0u, Wide(tally.firstFailed), offset);
        const std::uint64_t worst = __shfl_down_sync(~0u, Wide(tally.worst), offset);
        tally.firstFailed = first < tally.firstFailed ? first : tally.firstFailed;
        tally.worst = worst > tally.worst ? worst : tally.worst;
    }
    tally.compared = warpSum(tally.compared);
    tally.failed = warpSum(tally.failed);
    tally.nonFinite = warpSum(tally.nonFinite);
    tally.stillPoison = warpSum(tally.stillPoison);
    tally.squaredError = warpSum(tally.squaredError);
    tally.squaredReference = warpSum(tally.squaredReference);
    tally.squaredScale = warpSum(tally.squaredScale);
    if (threadIdx.x % 32 != 0) {
        return;
    }
    CompareResult& result = *reinterpret_cast<CompareResult*>(args.result);
    atomicAdd(wide(result.compared), Wide(tally.compared));
    atomicAdd(&result.sumSquaredError, tally.squaredError);
    atomicAdd(&result.sumSquaredReference, tally.squaredReference);
    atomicAdd(&result.sumSquaredScale, tally.squaredScale);
    atomicMax(wide(result.worstIndexBits), Wide(tally.worst));
    if (tally.failed) {
        atomicAdd(wide(result.failed), Wide(tally.failed));
        atomicAdd(wide(result.nonFinite), Wide(tally.nonFinite));
        atomicAdd(wide(result.stillPoison), Wide(tally.stillPoison));
        atomicMin(wide(result.firstFailed), Wide(tally.firstFailed));
    }
}

extern "C" __global__ void espalier_compare_finish(CompareArgs args, std::uint64_t count)
{
    compareFinish(args, count);
}

extern "C" __global__ void espalier_band(BandArgs args, std::uint64_t count)
{
    std::uint64_t differing = 0;
    for (std::uint64_t i = firstIndex(); i < count; i += step()) {
        differing += bandElement(args, i);
    }
    addCounter(args.mismatches, differing);
}

extern "C" __global__ void espalier_hash(HashArgs args, std::uint64_t count)
{
    std::uint64_t sum = 0;
    for (std::uint64_t i = firstIndex(); i < count; i += step()) {
        sum += hashElement(args, i);
    }
    addCounter(args.result, sum);
}
