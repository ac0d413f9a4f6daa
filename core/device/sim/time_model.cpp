// SPDX-License-Identifier: Apache-2.0
// A first model of the time of a launch, from its exact counts and the roofs of a device.
//
//   time = launch + largest(T) + 0.1 * (sum(T) - largest(T))
//
// over the terms T below: units work side by side, but never wholly so (the tenth). All terms grow with every count, so
// the model is monotone.
//
//   dram     (dramReadBytes + dramWriteBytes) / DRAM roof
//   l2       32 * (load sectors + store sectors) / L2 roof * imbalance       uncoalesced access pays here
//   shared   128 * wavefronts / shared roof * imbalance                      bank conflicts pay here
//   local    localBytes / shared roof * imbalance                            L1 serves it at the same rate
//   f32, f64, f16, special   operations / roof * imbalance
//   issue    warp instructions / issue rate * imbalance
//   atomics  per thread, one each second clock and multiprocessor * imbalance
//   latency  rounds * chain: what one warp waits for when nothing else hides it
//
// imbalance = ceil(blocks / M) * M / blocks for M multiprocessors: the fullest one ends last.
// rounds = ceil(blocks / (M * R)), R blocks resident on one multiprocessor (threads, blocks and shared memory limit
// it). chain = per warp: 2 clocks an instruction, and the latency of loads, shuffles, shared accesses, barriers,
// atomics, divided by how many a warp keeps in flight. With L loads of B bytes a warp, W warps resident and latency t
// this term is Little's law: bandwidth = W * B * inFlight / t. So few or small loads in flight cannot reach the DRAM
// roof.
#include "core/device/sim/time_model.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace espalier::sim {

namespace {

constexpr double overlapLoss = 0.1;
constexpr double l2Latency = 200e-9;   ///< seconds a load takes when the L2 holds it
constexpr double dramLatency = 400e-9; ///< more when it does not
constexpr double loadsInFlight = 4;    ///< loads a warp issues before it needs the first: unrolled loops
constexpr double clocksPerInstruction = 2;
constexpr double clocksPerShuffle = 12;
constexpr double clocksPerShared = 12; ///< 24 to 30, two in flight
constexpr double clocksPerBarrier = 30;
constexpr double schedulers = 4;            ///< a multiprocessor issues one instruction a clock on each
constexpr std::size_t sharedReserve = 1024; ///< what the system takes of each block

double residentBlocks(const LaunchShape& shape, const DeviceProfile& profile)
{
    const double threads = std::max(32.0, std::ceil(shape.threadsPerBlock / 32.0) * 32);
    double blocks = std::floor(profile.maxThreadsPerMultiprocessor / threads);
    blocks = std::min(blocks, static_cast<double>(profile.maxBlocksPerMultiprocessor));
    const double shared = static_cast<double>(shape.sharedPerBlock + sharedReserve);
    blocks = std::min(blocks, std::floor(static_cast<double>(profile.sharedPerMultiprocessor) / shared));
    return std::max(blocks, 1.0);
}

/// Seconds one warp needs from its first to its last instruction when it never waits for a unit.
double chainSeconds(const Counters& counters, double warps, double clock)
{
    const double loads = static_cast<double>(counters.globalLoadRequests);
    const double fromDram = std::min(loads, static_cast<double>(counters.dramReadBytes) / 32);
    const double memory = loads * l2Latency + fromDram * dramLatency;
    const double atomics = static_cast<double>(counters.atomics) / 32 * l2Latency;
    const double clocks = static_cast<double>(counters.warpInstructions) * clocksPerInstruction +
                          static_cast<double>(counters.shuffles) * clocksPerShuffle +
                          static_cast<double>(counters.sharedRequests) * clocksPerShared +
                          static_cast<double>(counters.barriers) * clocksPerBarrier;
    return ((memory + atomics) / loadsInFlight + clocks / clock) / warps;
}

} // namespace

double modelledSeconds(const Counters& counters, const LaunchShape& shape, const DeviceProfile& profile)
{
    if (shape.blocks == 0)
        return profile.launchSeconds;
    const double multiprocessors = std::max(1, profile.info.multiprocessors);
    const double blocks = static_cast<double>(shape.blocks);
    const double imbalance = std::ceil(blocks / multiprocessors) * multiprocessors / blocks;
    const double rounds = std::ceil(blocks / (multiprocessors * residentBlocks(shape, profile)));
    const double clock = profile.warpIssuePerSecond / (multiprocessors * schedulers);
    const double warps = blocks * std::max(1.0, std::ceil(shape.threadsPerBlock / 32.0));
    const auto per = [&](std::uint64_t count, double rate) { return static_cast<double>(count) / rate * imbalance; };
    const std::array terms{
        static_cast<double>(counters.dramReadBytes + counters.dramWriteBytes) / profile.dramBytesPerSecond,
        per(32 * (counters.globalLoadSectors + counters.globalStoreSectors), profile.l2BytesPerSecond),
        per(128 * counters.sharedWavefronts, profile.sharedBytesPerSecond),
        per(counters.localBytes, profile.sharedBytesPerSecond),
        per(counters.flopsF32, profile.flopsF32PerSecond),
        per(counters.flopsF64, profile.flopsF64PerSecond),
        per(counters.flopsF16, profile.flopsF16PerSecond),
        per(counters.specialF32, profile.specialPerSecond),
        per(counters.warpInstructions, profile.warpIssuePerSecond),
        per(counters.atomics, multiprocessors * clock / 2),
        rounds * chainSeconds(counters, warps, clock),
    };
    double largest = 0, sum = 0;
    for (const double term : terms) {
        largest = std::max(largest, term);
        sum += term;
    }
    return profile.launchSeconds + largest + overlapLoss * (sum - largest);
}

} // namespace espalier::sim
