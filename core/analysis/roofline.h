// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// One level of memory under one candidate.
struct RooflineLevel {
    std::string id;       ///< "dram", "l2", "l1"
    double bytes = 0;     ///< of one call
    double intensity = 0; ///< FLOP a byte; 0: no operations were counted
    double gbs = 0;       ///< reached
    double roofGbs = 0;   ///< measured where there is one, else theory; 0: not known
    bool roofMeasured = false;
    double percent = 0; ///< of the roof; 0: not known
};

/// One kind of arithmetic.
struct RooflineUnit {
    std::string id;    ///< "f32", "f64", "f16", "tensor_tf32", …
    double flops = 0;  ///< of one call
    double gflops = 0; ///< a second, reached
    double roofGflops = 0;
    bool roofMeasured = false;
    double percent = 0;
};

/// Unknown: no roofs are known, or the case is so small that none of them says anything.
enum class Bound { Unknown, Memory, Compute, Latency };
std::string_view nameOf(Bound bound); ///< "unknown", "memory-bound", "compute-bound", "latency-bound"

/// Where a candidate stands under the roofs of its device.
struct Roofline {
    Provenance provenance = Provenance::Model;
    double timeUs = 0;                 ///< the timed median of the profiled case, never one of a counter run
    double flops = 0, gflops = 0;      ///< all units together
    std::vector<RooflineLevel> levels; ///< those with bytes, in the order dram, l2, l1
    std::vector<RooflineUnit> units;   ///< those with operations, busiest first
    Bound bound = Bound::Unknown;
    std::string limiter;             ///< id of the level or unit that is closest to its roof
    double headroomPercent = 0;      ///< of the time, that would go if the limiter stood at its roof; 0: cannot be told
    std::vector<std::string> checks; ///< sentences: what cannot be right, or must be looked at before it is believed
    std::string sentence;            ///< "memory-bound: DRAM at 91 % of its measured roof, 9 % of the time to gain"
    bool tooSmall() const { return bound == Bound::Unknown && !limiter.empty(); } ///< the case, to tell anything
};

/// Below this share of every roof a kernel waits for latency rather than for a unit (ui.md: 80 % of both).
constexpr double boundFromPercent = 80;
/// What a launch costs on every device we know, whatever the kernel does. A case whose bytes and operations need less
/// at the device's roofs, and that ends within a few launches, says nothing about the kernel.
constexpr double launchUs = 3;
constexpr double tellingLaunches = 5;

/// From metrics, timing and roofs of one evaluation. Nothing without a time or without bytes and operations. A kind of
/// arithmetic with less than a thousandth of the operations is left out: compilers use half-precision fma to set
/// registers. Pure.
std::optional<Roofline> rooflineOf(const Evaluation& evaluation);

/// A roof's id as people read it: "tensor_f16" is "tensor FP16".
std::string roofTitle(std::string_view id);

} // namespace espalier
