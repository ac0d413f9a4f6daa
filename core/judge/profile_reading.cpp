// SPDX-License-Identifier: Apache-2.0
#include "core/judge/profile_reading.h"

#include "core/base/text.h"
#include "core/model/metric.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace espalier::judge {

namespace {

constexpr std::size_t mostInstructions = 4000, mostKept = 1000, mostReasons = 64, deepestChain = 32, longestName = 2000;
constexpr double smallReason = 0.01; ///< of an instruction's samples: below it a reason is left out of the record
constexpr double fewestLookupBytes =
    3.2e6;                           ///< 100,000 lookups; below, the L2 hit rate is noise (core/profile/README.md)
constexpr double unattributed = 0.9; ///< share of samples outside of user kernels from which nothing is shown

Result<double> finite(const JsonReader& json)
{
    ESPALIER_TRY(const double number, json.number());
    return std::isfinite(number) && number >= 0 ? Result<double>(number) : json.complain("a number of 0 or more");
}

Result<double> finiteAt(const JsonReader& json, const char* field)
{
    ESPALIER_TRY(const JsonReader value, json.at(field));
    return finite(value);
}

/// CUPTI's "smsp__pcsamp_warps_issue_stalled_long_scoreboard" -> "long_scoreboard"
std::string shortReason(std::string_view name)
{
    for (const std::string_view prefix : {"smsp__pcsamp_warps_issue_stalled_", "smsp__pcsamp_"}) {
        if (name.starts_with(prefix)) {
            name.remove_prefix(prefix.size());
        }
    }
    return printable(name, 80);
}

Result<std::vector<SourceLine>> readChain(const JsonReader& json)
{
    std::vector<SourceLine> chain;
    if (!json.has("chain")) {
        return chain;
    }
    ESPALIER_TRY(const JsonReader list, json.at("chain"));
    ESPALIER_TRY(const std::vector<JsonReader> steps, list.items());
    for (std::size_t i = 0; i < std::min(steps.size(), deepestChain); ++i) {
        ESPALIER_TRY(const JsonReader file, steps[i].at("file"));
        ESPALIER_TRY(const std::string name, file.string());
        ESPALIER_TRY(const double line, finiteAt(steps[i], "line"));
        chain.push_back({printable(name, longestName), static_cast<int>(std::min(line, 1e9))});
    }
    return chain;
}

/// Where it stands: function, offset and lines.
Result<InstructionSamples> readPlace(const JsonReader& json)
{
    InstructionSamples one;
    ESPALIER_TRY(const JsonReader function, json.at("function"));
    ESPALIER_TRY(const std::string name, function.string());
    one.function = printable(name, longestName);
    ESPALIER_TRY(const double offset, finiteAt(json, "offset"));
    one.offset = static_cast<std::uint64_t>(std::min(offset, 1e15));
    ESPALIER_TRY(one.chain, readChain(json));
    return one;
}

Result<InstructionSamples> readInstruction(const JsonReader& json)
{
    ESPALIER_TRY(InstructionSamples one, readPlace(json));
    ESPALIER_TRY(const double samples, finiteAt(json, "samples"));
    one.samples = static_cast<std::uint64_t>(std::min(samples, 1e15));
    ESPALIER_TRY(const JsonReader reasons, json.at("reasons"));
    ESPALIER_TRY(const auto members, reasons.members());
    for (const auto& [reason, count] : members) {
        ESPALIER_TRY(const double value, finite(count));
        if (one.reasons.size() < mostReasons && value >= smallReason * samples) {
            one.reasons[shortReason(reason)] += static_cast<std::uint64_t>(std::min(value, 1e15));
        }
    }
    return one;
}

} // namespace

Result<CountersSeen> readCounters(const Json& json, const std::vector<profile::CounterSet>& sets)
{
    const JsonReader reader(json, "counters");
    CountersSeen seen;
    ESPALIER_TRY(const JsonReader chip, reader.at("chip"));
    ESPALIER_TRY(const std::string name, chip.string());
    seen.chip = printable(name, 40);
    ESPALIER_TRY(const double passes, finiteAt(reader, "passes"));
    seen.passes = static_cast<int>(std::min(passes, 1e6));
    ESPALIER_TRY(seen.milliseconds, finiteAt(reader, "milliseconds"));
    ESPALIER_TRY(const JsonReader values, reader.at("counters"));
    ESPALIER_TRY(const auto members, values.members());
    std::map<std::string, double> counters;
    for (const auto& [counter, value] : members) {
        ESPALIER_TRY(counters[counter], finite(value));
    }
    auto metrics = profile::metricsFrom(profile::familyOf(seen.chip), sets, counters);
    if (const auto asked = metrics.find("l2_bytes"); asked != metrics.end() && asked->second < fewestLookupBytes) {
        metrics.erase("l2_hit_percent");
    }
    for (const Metric& metric : metricTable()) {
        if (const auto found = metrics.find(std::string(metric.id)); found != metrics.end()) {
            seen.metrics.push_back({std::string(metric.id), found->second, Provenance::Measured, metric.peak});
        }
    }
    ESPALIER_TRY(const JsonReader unknown, reader.at("unknown"));
    ESPALIER_TRY(const std::vector<JsonReader> missing, unknown.items());
    if (!missing.empty()) {
        seen.note = fmt::format("{} of the counters asked for do not exist on {}", missing.size(), seen.chip);
    }
    return seen;
}

Result<SamplesSeen> readSamples(const Json& json)
{
    const JsonReader reader(json, "samples");
    SamplesSeen seen;
    ESPALIER_TRY(const double total, finiteAt(reader, "total"));
    ESPALIER_TRY(const double foreign, finiteAt(reader, "foreign"));
    ESPALIER_TRY(const double dropped, finiteAt(reader, "dropped"));
    ESPALIER_TRY(const JsonReader list, reader.at("instructions"));
    ESPALIER_TRY(const std::vector<JsonReader> items, list.items());
    for (std::size_t i = 0; i < std::min(items.size(), mostInstructions); ++i) {
        ESPALIER_TRY(InstructionSamples one, readInstruction(items[i]));
        seen.samples += one.samples;
        seen.instructions.push_back(std::move(one));
    }
    if (seen.instructions.empty() || (total > 0 && foreign > unattributed * total)) {
        return fail(ErrorCode::NotSupported,
                    fmt::format("the samples could not be attributed to instructions ({:.0f} of {:.0f} were outside of "
                                "kernels that CUPTI knows)",
                                foreign, total));
    }
    std::stable_sort(seen.instructions.begin(), seen.instructions.end(),
                     [](const InstructionSamples& a, const InstructionSamples& b) { return a.samples > b.samples; });
    if (seen.instructions.size() > mostKept) {
        seen.instructions.resize(mostKept);
    }
    if (dropped > 0) {
        seen.note = fmt::format("{:.0f} samples were dropped by the hardware", dropped);
    }
    return seen;
}

Result<std::string> readCounts(const Json& json, std::vector<InstructionSamples>& instructions)
{
    const JsonReader reader(json, "counts");
    ESPALIER_TRY(const JsonReader list, reader.at("instructions"));
    ESPALIER_TRY(const std::vector<JsonReader> items, list.items());
    std::map<std::pair<std::string, std::uint64_t>, std::size_t> known;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        known[{instructions[i].function, instructions[i].offset}] = i;
    }
    for (std::size_t i = 0; i < std::min(items.size(), mostInstructions); ++i) {
        ESPALIER_TRY(InstructionSamples one, readPlace(items[i]));
        ESPALIER_TRY(const JsonReader counts, items[i].at("counts"));
        ESPALIER_TRY(const auto members, counts.members());
        for (const auto& [name, count] : members) {
            ESPALIER_TRY(const double value, finite(count));
            if (one.counts.size() < mostReasons) {
                one.counts[printable(name, 80)] = static_cast<std::uint64_t>(std::min(value, 1e18));
            }
        }
        const auto found = known.find({one.function, one.offset});
        if (found != known.end()) {
            instructions[found->second].counts = std::move(one.counts);
        } else if (!one.counts.empty() && instructions.size() < mostKept) {
            instructions.push_back(std::move(one));
        }
    }
    ESPALIER_TRY(const JsonReader unknown, reader.at("unknown"));
    ESPALIER_TRY(const std::vector<JsonReader> missing, unknown.items());
    std::string note;
    for (std::size_t i = 0; i < std::min(missing.size(), mostReasons); ++i) {
        ESPALIER_TRY(const std::string name, missing[i].string());
        note += (note.empty() ? "not counted on this chip: " : ", ") + printable(name, 80);
    }
    return note;
}

} // namespace espalier::judge
