// SPDX-License-Identifier: Apache-2.0
#include "core/judge/activity_check.h"

#include "core/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace espalier::judge {

namespace {

// An event pair reads up to 5.5 us more than the work between it, never less but for rounding; a span that is longer
// than its events had work that the stream did not wait for. Device time stamps have steps of 32 ns.
constexpr double spanSlackUs = 3, spanSlackShare = 0.03;
// Beside the timed runs: another process, other clocks, tracing. Only a gross difference says something.
constexpr double timedSlackUs = 15, timedSlackShare = 0.3;
constexpr std::size_t mostCalls = 64, mostWorks = 64;

struct CallSeen {
    double eventUs = 0, spanUs = 0, kernelUs = 0;
    int kernels = 0, copies = 0, memsets = 0, elsewhere = 0;
    int works() const { return kernels + copies + memsets; }
};

Result<double> numberAt(const JsonReader& json, const char* field)
{
    ESPALIER_TRY(const JsonReader value, json.at(field));
    ESPALIER_TRY(const double number, value.number());
    return std::isfinite(number) && number >= 0 ? Result<double>(number) : value.complain("a number of 0 or more");
}

Result<int> countAt(const JsonReader& json, const char* field)
{
    constexpr double most = 1e9;
    ESPALIER_TRY(const double number, numberAt(json, field));
    return number <= most ? Result<int>(static_cast<int>(number)) : json.complain("a count");
}

Result<CallSeen> readCall(const JsonReader& json)
{
    CallSeen call;
    ESPALIER_TRY(call.eventUs, numberAt(json, "event_us"));
    ESPALIER_TRY(call.spanUs, numberAt(json, "span_us"));
    ESPALIER_TRY(call.kernelUs, numberAt(json, "kernel_us"));
    ESPALIER_TRY(call.kernels, countAt(json, "kernels"));
    ESPALIER_TRY(call.copies, countAt(json, "copies"));
    ESPALIER_TRY(call.memsets, countAt(json, "memsets"));
    ESPALIER_TRY(call.elsewhere, countAt(json, "elsewhere"));
    return call;
}

Result<std::vector<int>> readExtent(const JsonReader& json, const char* field)
{
    ESPALIER_TRY(const JsonReader list, json.at(field));
    ESPALIER_TRY(const std::vector<JsonReader> items, list.items());
    if (items.size() != 3) {
        return list.complain("three numbers");
    }
    std::vector<int> extent;
    for (const JsonReader& item : items) {
        ESPALIER_TRY(const std::int64_t value, item.integer());
        extent.push_back(static_cast<int>(std::clamp<std::int64_t>(value, 0, 1 << 30)));
    }
    return extent;
}

Result<std::vector<ProfiledKernel>> readKernels(const JsonReader& call)
{
    ESPALIER_TRY(const JsonReader works, call.at("works"));
    ESPALIER_TRY(const std::vector<JsonReader> items, works.items());
    std::vector<ProfiledKernel> kernels;
    for (std::size_t i = 0; i < std::min(items.size(), mostWorks); ++i) {
        const JsonReader& work = items[i];
        if (!work.has("name")) {
            continue;
        }
        ProfiledKernel kernel;
        ESPALIER_TRY(const JsonReader name, work.at("name"));
        ESPALIER_TRY(kernel.name, name.string());
        ESPALIER_TRY(const double start, numberAt(work, "start_ns"));
        ESPALIER_TRY(const double end, numberAt(work, "end_ns"));
        kernel.timeUs = std::max(end - start, 0.0) / 1000;
        ESPALIER_TRY(kernel.grid, readExtent(work, "grid"));
        ESPALIER_TRY(kernel.block, readExtent(work, "block"));
        ESPALIER_TRY(kernel.registers, countAt(work, "registers"));
        ESPALIER_TRY(kernel.staticSharedBytes, countAt(work, "static_shared"));
        ESPALIER_TRY(kernel.dynamicSharedBytes, countAt(work, "dynamic_shared"));
        ESPALIER_TRY(kernel.localBytes, countAt(work, "local_bytes"));
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

double medianOf(const std::vector<CallSeen>& calls, double CallSeen::* field)
{
    std::vector<double> values;
    for (const CallSeen& call : calls) {
        values.push_back(call.*field);
    }
    return statistics::median(values);
}

void judge(const std::vector<CallSeen>& calls, std::uint64_t dropped, ActivitySeen& seen)
{
    const ActivityFacts& facts = seen.facts;
    // Most of the calls, so that one clock stamp that went wrong accuses nobody.
    const auto longer = std::count_if(calls.begin(), calls.end(), [](const CallSeen& call) {
        return call.spanUs > call.eventUs * (1 + spanSlackShare) + spanSlackUs;
    });
    if (2 * static_cast<std::size_t>(longer) > calls.size()) {
        seen.outside =
            fmt::format("its work on the device takes {:.1f} us from first start to last end in case {}, the events "
                        "round the call say {:.1f} us{}",
                        facts.spanUs, facts.caseId, facts.eventUs,
                        facts.elsewhere > 0 ? fmt::format("; {} of {} works are on other streams, and the given "
                                                          "one does not wait for them",
                                                          facts.elsewhere, facts.mostWorks)
                                            : "");
    }
    if (facts.fewestWorks != facts.mostWorks) {
        seen.remarks.push_back(
            fmt::format("calls of case {} put between {} and {} kernels, copies and memsets on the device, "
                        "though their shapes are the same",
                        facts.caseId, facts.fewestWorks, facts.mostWorks));
    }
    if (facts.mostWorks == 0) {
        seen.remarks.push_back(
            fmt::format("no call of case {} put anything on the device that CUPTI records", facts.caseId));
    }
    if (facts.timedUs > 0 && facts.spanUs > facts.timedUs * (1 + timedSlackShare) + timedSlackUs) {
        seen.remarks.push_back(fmt::format("case {} takes {:.1f} us by activity records, {:.1f} us as it was timed",
                                           facts.caseId, facts.spanUs, facts.timedUs));
    }
    if (dropped > 0) {
        seen.remarks.push_back(fmt::format("{} activity records were lost", dropped));
    }
}

} // namespace

Result<ActivitySeen> readActivity(const Json& json, const std::string& caseId, double timedUs)
{
    const JsonReader reader(json, "activity");
    ESPALIER_TRY(const JsonReader list, reader.at("calls"));
    ESPALIER_TRY(const std::vector<JsonReader> items, list.items());
    ActivitySeen seen;
    std::vector<CallSeen> calls;
    for (std::size_t i = 0; i < std::min(items.size(), mostCalls); ++i) {
        ESPALIER_TRY(calls.emplace_back(), readCall(items[i]));
    }
    if (calls.empty()) {
        return list.complain("at least one call");
    }
    ESPALIER_TRY(seen.kernels, readKernels(items.front()));
    ESPALIER_TRY(const double dropped, numberAt(reader, "dropped"));
    ActivityFacts& facts = seen.facts;
    facts.caseId = caseId;
    facts.timedUs = timedUs;
    facts.calls = static_cast<int>(calls.size());
    facts.fewestWorks = calls.front().works();
    for (const CallSeen& call : calls) {
        facts.fewestWorks = std::min(facts.fewestWorks, call.works());
        facts.elsewhere = std::max(facts.elsewhere, call.elsewhere);
        if (call.works() >= facts.mostWorks) {
            facts.mostWorks = call.works();
            facts.kernels = call.kernels;
            facts.copies = call.copies;
            facts.memsets = call.memsets;
        }
    }
    facts.spanUs = medianOf(calls, &CallSeen::spanUs);
    facts.kernelUs = medianOf(calls, &CallSeen::kernelUs);
    facts.eventUs = medianOf(calls, &CallSeen::eventUs);
    judge(calls, static_cast<std::uint64_t>(dropped), seen);
    return seen;
}

} // namespace espalier::judge
