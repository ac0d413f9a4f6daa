// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/profile_text.h"

#include "core/analysis/diagnosis.h"
#include "core/model/metric.h"
#include "core/model/node_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier::ctl {

namespace {

constexpr std::size_t hottestShown = 5;
constexpr double stallShown = 0.05; ///< warps per issue

std::string metricLine(const MetricValue& metric)
{
    const Metric* known = findMetric(metric.id);
    const std::string figure = metricText(metric.id, metric.value);
    const std::string_view sign = signOf(metric.provenance);
    const std::size_t columns = figure.size() + (sign.empty() ? 0 : 1), width = 12;
    return fmt::format("{:<30} {}{}{}", known ? known->name : metric.id,
                       std::string(width - std::min(columns, width), ' '), sign, figure);
}

void addHottest(const ProfileRecord& profile, std::vector<std::string>& lines)
{
    const std::vector<LineSamples> samples = samplesByLine(profile);
    for (std::size_t i = 0; i < std::min(samples.size(), hottestShown); ++i) {
        const LineSamples& line = samples[i];
        const auto reason = std::max_element(line.reasons.begin(), line.reasons.end(),
                                             [](const auto& a, const auto& b) { return a.second < b.second; });
        lines.push_back(fmt::format("{}:{}  {:.1f} % of the samples, mostly {}", line.file, line.line,
                                    100.0 * static_cast<double>(line.samples) / static_cast<double>(profile.samples),
                                    reason == line.reasons.end() ? "?" : reason->first));
    }
}

} // namespace

std::vector<std::string> profileLines(const Evaluation& evaluation)
{
    std::vector<std::string> lines;
    if (!evaluation.profile) {
        return lines;
    }
    const ProfileRecord& profile = *evaluation.profile;
    lines.push_back(fmt::format("case {}, {} ({}){}", profile.caseId, nameOf(profile.provenance), profile.tool,
                                profile.seconds > 0 ? fmt::format(", {:.2f} s", profile.seconds) : ""));
    for (const MetricValue& metric : evaluation.metrics) {
        const bool stall = metric.id.starts_with("stall_");
        if (stall ? metric.value >= stallShown : metric.value != 0) {
            lines.push_back(metricLine(metric));
        }
    }
    for (const ProfiledKernel& kernel : profile.kernels) {
        lines.push_back(fmt::format("{}: {}, {} registers, {} B shared, occupancy at most {:.0f} % (limited by {})",
                                    kernel.name, timeText(kernel.timeUs, profile.provenance), kernel.registers,
                                    kernel.staticSharedBytes + kernel.dynamicSharedBytes, kernel.occupancyLimit,
                                    kernel.limitedBy));
    }
    addHottest(profile, lines);
    for (const std::string& line : diagnosisLines(evaluation)) {
        lines.push_back("- " + line);
    }
    for (const CollectorRun& run : profile.collectors) {
        if (!run.note.empty()) {
            lines.push_back(fmt::format("{}: {}", run.collector, run.note));
        }
    }
    return lines;
}

} // namespace espalier::ctl
