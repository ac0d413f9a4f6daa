// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/timing_text.h"

#include "app/ctl/live_table.h"

#include <fmt/format.h>

namespace espalier::ctl {

namespace {

std::string microseconds(double value)
{
    return timeText(value, Provenance::Measured);
}

std::string caseLine(const CaseTiming& timing)
{
    std::string line = fmt::format("{}: {} ({})", timing.caseId, timeText(timing.timeUs.value, timing.provenance),
                                   nameOf(timing.provenance));
    const auto compared = [&](const std::optional<Interval>& speedup, const std::string& rival) {
        if (speedup) {
            line += fmt::format(", {} of {}", speedupText(*speedup, timing.provenance), rival);
        }
    };
    compared(timing.speedupIncumbent, "the incumbent");
    compared(timing.speedupRoot, "the root");
    compared(timing.speedupParent, "its parent");
    for (const auto& [id, speedup] : timing.speedupBaselines) {
        compared(speedup, id);
    }
    return line;
}

/// How many blocks of how many processes, and what else was seen.
std::string howLine(const CaseTiming& timing)
{
    std::string line = fmt::format(
        "  {} blocks in {} process{}, until {}", timing.blocks, timing.runners, timing.runners == 1 ? "" : "es",
        timing.stoppedBy == "interval" ? "the interval was narrow enough" : "the budget was used up");
    for (const auto& [reason, count] : timing.droppedBecause) {
        line += fmt::format(", {} dropped ({})", count, reason);
    }
    if (timing.method == "graph") {
        line += ", replayed as one graph";
    }
    if (timing.launchUs > 0) {
        line += fmt::format("; launching costs the host {}", microseconds(timing.launchUs));
    }
    if (timing.endToEndUs > 0) {
        line += fmt::format("; end to end {}", microseconds(timing.endToEndUs));
    }
    return line;
}

} // namespace

std::vector<std::string> timingLines(const TimingRecord& timing)
{
    std::vector<std::string> lines;
    for (const CaseTiming& one : timing.cases) {
        lines.push_back(caseLine(one));
        if (one.latency) {
            lines.push_back(fmt::format("  latency p50 {}, p95 {}, p99 {} over {} calls",
                                        microseconds(one.latency->p50Us), microseconds(one.latency->p95Us),
                                        microseconds(one.latency->p99Us), one.latency->calls));
        }
        if (one.provenance == Provenance::Measured) {
            lines.push_back(howLine(one));
        }
    }
    if (!timing.guardBroken.empty()) {
        lines.push_back("guard: " + timing.guardBroken);
    }
    if (!timing.cases.empty() && timing.cases.front().provenance == Provenance::Measured) {
        std::string setting = fmt::format("{}, {}", timing.regime, timing.mode);
        if (timing.mode == "server") {
            setting += fmt::format(" at {:g} calls a second", timing.rate);
        }
        lines.push_back(fmt::format("{}; {} tier, {:.2f} s; watched by {}", setting, timing.tier, timing.seconds,
                                    timing.monitor.empty() ? "nobody" : timing.monitor));
    }
    return lines;
}

} // namespace espalier::ctl
