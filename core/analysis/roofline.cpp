// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/roofline.h"

#include "core/model/node_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace espalier {

namespace {

constexpr double perMicrosecond = 1e-3;                  ///< bytes a microsecond to GB/s, FLOP a microsecond to GFLOP/s
constexpr double aboveMeasured = 103, aboveTheory = 100; ///< percent: a measured roof has noise, a theoretical one none
constexpr double smallUnit = 1e-3;
constexpr double bytesTolerance = 0.03;

struct NamedMetric {
    const char* id;
    std::array<const char*, 2> metrics;
};
constexpr NamedMetric levelMetrics[] = {
    {"dram", {"dram_read_bytes", "dram_write_bytes"}}, {"l2", {"l2_bytes", nullptr}}, {"l1", {"l1_bytes", nullptr}}};
constexpr NamedMetric unitMetrics[] = {
    {"f32", {"flops_f32", nullptr}},
    {"f64", {"flops_f64", nullptr}},
    {"f16", {"flops_f16", nullptr}},
    {"tensor_f16", {"tensor_flops_f16", nullptr}},
    {"tensor_bf16", {"tensor_flops_bf16", nullptr}},
    {"tensor_tf32", {"tensor_flops_tf32", nullptr}},
    {"tensor_f64", {"tensor_flops_f64", nullptr}},
    {"tensor_fp8", {"tensor_flops_fp8", nullptr}},
    {"tensor_int8", {"tensor_flops_int8", nullptr}},
};

double sumOf(const Evaluation& evaluation, const NamedMetric& named)
{
    double sum = 0;
    for (const char* id : named.metrics) {
        for (const MetricValue& metric : evaluation.metrics) {
            sum += id && metric.id == id ? metric.value : 0;
        }
    }
    return sum;
}

double timeOf(const Evaluation& evaluation)
{
    if (evaluation.timing) {
        for (const CaseTiming& timing : evaluation.timing->cases) {
            if (timing.caseId == evaluation.profile->caseId) {
                return timing.timeUs.value;
            }
        }
    }
    return 0;
}

const Roof* roofNamed(const ProfileRecord& profile, std::string_view id)
{
    const auto found =
        std::find_if(profile.roofs.begin(), profile.roofs.end(), [&](const Roof& roof) { return roof.id == id; });
    return found == profile.roofs.end() ? nullptr : &*found;
}

/// A point above its roof is a mistake somewhere: said, never celebrated.
void checkAgainst(const ProfileRecord& profile, const std::string& id, double reached, const char* unit, Roofline& line)
{
    const Roof* roof = roofNamed(profile, id);
    if (!roof) {
        return;
    }
    const double ofTheory = roof->theory > 0 ? 100 * reached / roof->theory : 0;
    const double ofMeasured = roof->measured > 0 ? 100 * reached / roof->measured : 0;
    if (ofTheory > aboveTheory) {
        line.checks.push_back(
            fmt::format("{} at {:.0f} {} is above the theoretical {:.0f}: look for data that stayed in a "
                        "cache, work that was not done, or a wrong count",
                        roofTitle(id), reached, unit, roof->theory));
    } else if (ofMeasured > aboveMeasured) {
        line.checks.push_back(
            fmt::format("{} at {:.0f} {} is above the measured roof of {:.0f}: measure the roofs again "
                        "before this is believed",
                        roofTitle(id), reached, unit, roof->measured));
    }
}

void addLevels(const Evaluation& evaluation, Roofline& line)
{
    for (const NamedMetric& named : levelMetrics) {
        RooflineLevel level;
        level.id = named.id;
        level.bytes = sumOf(evaluation, named);
        if (level.bytes <= 0) {
            continue;
        }
        level.intensity = line.flops / level.bytes;
        level.gbs = level.bytes / line.timeUs * perMicrosecond;
        if (const Roof* roof = roofNamed(*evaluation.profile, level.id)) {
            level.roofMeasured = roof->measured > 0;
            level.roofGbs = level.roofMeasured ? roof->measured : roof->theory;
        }
        level.percent = level.roofGbs > 0 ? 100 * level.gbs / level.roofGbs : 0;
        checkAgainst(*evaluation.profile, level.id, level.gbs, "GB/s", line);
        line.levels.push_back(std::move(level));
    }
}

void addUnits(const Evaluation& evaluation, Roofline& line)
{
    for (const NamedMetric& named : unitMetrics) {
        line.flops += sumOf(evaluation, named);
    }
    for (const NamedMetric& named : unitMetrics) {
        RooflineUnit unit;
        unit.id = named.id;
        unit.flops = sumOf(evaluation, named);
        if (unit.flops <= smallUnit * line.flops) {
            line.flops -= unit.flops;
            continue;
        }
        unit.gflops = unit.flops / line.timeUs * perMicrosecond;
        if (const Roof* roof = roofNamed(*evaluation.profile, unit.id)) {
            unit.roofMeasured = roof->measured > 0;
            unit.roofGflops = unit.roofMeasured ? roof->measured : roof->theory;
        }
        unit.percent = unit.roofGflops > 0 ? 100 * unit.gflops / unit.roofGflops : 0;
        checkAgainst(*evaluation.profile, unit.id, unit.gflops, "GFLOP/s", line);
        line.units.push_back(std::move(unit));
    }
    line.gflops = line.flops / line.timeUs * perMicrosecond;
    std::stable_sort(line.units.begin(), line.units.end(),
                     [](const RooflineUnit& a, const RooflineUnit& b) { return a.percent > b.percent; });
}

/// Against what the task says must move and be computed.
void crossCheck(const ProfileRecord& profile, Roofline& line)
{
    const auto dram = std::find_if(line.levels.begin(), line.levels.end(),
                                   [](const RooflineLevel& level) { return level.id == "dram"; });
    constexpr double cacheable = 200e6; // below it, what stays dirty in the L2 cache is a large part
    if (dram != line.levels.end() && profile.taskBytes > cacheable &&
        dram->bytes < (1 - bytesTolerance) * profile.taskBytes && line.provenance == Provenance::Measured) {
        constexpr double dirty = 60e6;
        if (profile.taskBytes - dram->bytes > dirty) {
            line.checks.push_back(
                fmt::format("{:.3g} GB came from and went to DRAM, though the task moves at least {:.3g} GB",
                            dram->bytes / 1e9, profile.taskBytes / 1e9));
        }
    }
    const bool tensor = std::any_of(line.units.begin(), line.units.end(),
                                    [](const RooflineUnit& unit) { return unit.id.starts_with("tensor_"); });
    if (tensor && profile.taskFlops > 0 && line.flops < 0.999 * profile.taskFlops) {
        line.checks.push_back(
            fmt::format("{:.4g} operations were counted, the task needs {:.4g}: a unit whose counter was "
                        "not asked for, or work that was not done",
                        line.flops, profile.taskFlops));
    }
}

void decide(Roofline& line)
{
    double highest = 0;
    bool memory = false, measured = false;
    for (const RooflineLevel& level : line.levels) {
        if (level.percent > highest) {
            highest = level.percent;
            line.limiter = level.id;
            memory = true;
            measured = level.roofMeasured;
        }
    }
    for (const RooflineUnit& unit : line.units) {
        if (unit.percent > highest) {
            highest = unit.percent;
            line.limiter = unit.id;
            memory = false;
            measured = unit.roofMeasured;
        }
    }
    if (highest <= 0) {
        line.sentence = "no roofs of this device are known: espalierctl doctor --roofs measures them";
        return;
    }
    const double atRoofUs = line.timeUs * highest / 100;
    if (atRoofUs < launchUs && line.timeUs < tellingLaunches * launchUs) {
        line.sentence = fmt::format(
            "the case is too small to tell: at its {} roof it would take {}{:.3g} us, and a launch alone costs "
            "about {:g} us; look at a larger case",
            roofTitle(line.limiter), signOf(line.provenance), atRoofUs, launchUs);
        return;
    }
    line.bound = highest < boundFromPercent ? Bound::Latency : memory ? Bound::Memory : Bound::Compute;
    line.headroomPercent = std::max(0.0, 100 - highest);
    line.sentence = marked(fmt::format("{}: {} is closest to its {} roof, at {:.0f} %; {:.0f} % of the time to gain",
                                       nameOf(line.bound), roofTitle(line.limiter),
                                       measured ? "measured" : "theoretical", highest, line.headroomPercent),
                           line.provenance);
}

} // namespace

std::string roofTitle(std::string_view id)
{
    constexpr std::pair<std::string_view, std::string_view> names[] = {{"dram", "DRAM"},
                                                                       {"l2", "L2"},
                                                                       {"l1", "L1"},
                                                                       {"f32", "FP32"},
                                                                       {"f64", "FP64"},
                                                                       {"f16", "FP16"},
                                                                       {"tensor_f16", "tensor FP16"},
                                                                       {"tensor_bf16", "tensor BF16"},
                                                                       {"tensor_tf32", "tensor TF32"},
                                                                       {"tensor_f64", "tensor FP64"},
                                                                       {"tensor_fp8", "tensor FP8"},
                                                                       {"tensor_int8", "tensor INT8"},
                                                                       {"mma_f16", "mma.sync FP16"},
                                                                       {"mma_bf16", "mma.sync BF16"},
                                                                       {"mma_tf32", "mma.sync TF32"},
                                                                       {"mma_int8", "mma.sync INT8"}};
    for (const auto& [key, name] : names) {
        if (key == id) {
            return std::string(name);
        }
    }
    return std::string(id);
}

std::string_view nameOf(Bound bound)
{
    constexpr std::array names = {"unknown", "memory-bound", "compute-bound", "latency-bound"};
    return names.at(static_cast<std::size_t>(bound));
}

std::optional<Roofline> rooflineOf(const Evaluation& evaluation)
{
    if (!evaluation.profile) {
        return std::nullopt;
    }
    Roofline line;
    line.provenance = evaluation.profile->provenance;
    line.timeUs = timeOf(evaluation);
    if (line.timeUs <= 0) {
        return std::nullopt;
    }
    addUnits(evaluation, line);
    addLevels(evaluation, line);
    if (line.levels.empty() && line.units.empty()) {
        return std::nullopt;
    }
    crossCheck(*evaluation.profile, line);
    decide(line);
    return line;
}

} // namespace espalier
