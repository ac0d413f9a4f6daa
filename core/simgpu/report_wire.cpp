// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/report_wire.h"

#include <array>
#include <bit>

namespace espalier::sim {

namespace {

// The counters are plain u64 fields and nothing else, so they travel as an array.
constexpr std::size_t counterCount = sizeof(Counters) / sizeof(std::uint64_t);
using CounterArray = std::array<std::uint64_t, counterCount>;
static_assert(sizeof(CounterArray) == sizeof(Counters) && std::is_trivially_copyable_v<Counters>);

void putCounters(ByteWriter& to, const Counters& counters)
{
    to.put(std::bit_cast<CounterArray>(counters));
}

Counters getCounters(ByteReader& from)
{
    CounterArray values = {};
    for (std::uint64_t& value : values) {
        value = from.get<std::uint64_t>();
    }
    return std::bit_cast<Counters>(values);
}

void putTexts(ByteWriter& to, const std::vector<std::string>& texts)
{
    to.put(static_cast<std::uint32_t>(texts.size()));
    for (const std::string& text : texts) {
        to.text(text);
    }
}

std::vector<std::string> getTexts(ByteReader& from)
{
    std::vector<std::string> texts;
    for (auto left = from.get<std::uint32_t>(); left > 0 && from.ok(); --left) {
        texts.emplace_back(from.text());
    }
    return texts;
}

void putLaunch(ByteWriter& to, const LaunchSummary& launch)
{
    to.text(launch.kernel);
    for (const Dim3& dim : {launch.grid, launch.block}) {
        to.put(dim.x).put(dim.y).put(dim.z);
    }
    to.put(launch.sharedBytes).put(launch.times).put(launch.modelledSeconds);
    putCounters(to, launch.counters);
}

Dim3 getDim(ByteReader& from)
{
    Dim3 dim;
    dim.x = from.get<std::uint32_t>();
    dim.y = from.get<std::uint32_t>();
    dim.z = from.get<std::uint32_t>();
    return dim;
}

LaunchSummary getLaunch(ByteReader& from)
{
    LaunchSummary launch;
    launch.kernel = from.text();
    launch.grid = getDim(from);
    launch.block = getDim(from);
    launch.sharedBytes = from.get<std::uint32_t>();
    launch.times = from.get<std::uint64_t>();
    launch.modelledSeconds = from.get<double>();
    launch.counters = getCounters(from);
    return launch;
}

void putCall(ByteWriter& to, const CallReport& call)
{
    putCounters(to, call.counters);
    to.put(call.modelledSeconds).put(call.launchCount).put(call.unjoined);
    to.put(call.hostStatus).put(call.hostMicroseconds);
    putTexts(to, call.unsupported);
    putTexts(to, call.misuse);
    to.put(static_cast<std::uint8_t>(call.fault.has_value()));
    if (call.fault) {
        to.put(call.fault->cudaCode).put(static_cast<std::uint8_t>(call.fault->kind));
        to.put(static_cast<std::uint8_t>(call.fault->hang));
        to.text(call.fault->sentence).text(call.fault->file).put(call.fault->line);
    }
    to.put(static_cast<std::uint32_t>(call.launches.size()));
    for (const LaunchSummary& launch : call.launches) {
        putLaunch(to, launch);
    }
}

CallReport getCall(ByteReader& from)
{
    CallReport call;
    call.counters = getCounters(from);
    call.modelledSeconds = from.get<double>();
    call.launchCount = from.get<std::uint64_t>();
    call.unjoined = from.get<std::uint64_t>();
    call.hostStatus = from.get<int>();
    call.hostMicroseconds = from.get<double>();
    call.unsupported = getTexts(from);
    call.misuse = getTexts(from);
    if (from.get<std::uint8_t>() != 0) {
        CallFault fault;
        fault.cudaCode = from.get<int>();
        fault.kind = static_cast<FaultKind>(from.get<std::uint8_t>());
        fault.hang = from.get<std::uint8_t>() != 0;
        fault.sentence = from.text();
        fault.file = from.text();
        fault.line = from.get<int>();
        call.fault = std::move(fault);
    }
    for (auto left = from.get<std::uint32_t>(); left > 0 && from.ok(); --left) {
        call.launches.push_back(getLaunch(from));
    }
    return call;
}

} // namespace

void putReport(ByteWriter& to, const BlockReport& report)
{
    to.put(static_cast<std::uint8_t>(report.ended)).put(report.stray).text(report.disconnected);
    to.put(static_cast<std::uint32_t>(report.calls.size()));
    for (const CallReport& call : report.calls) {
        putCall(to, call);
    }
}

bool getReport(ByteReader& from, BlockReport& report)
{
    report.ended = from.get<std::uint8_t>() != 0;
    report.stray = from.get<std::uint64_t>();
    report.disconnected = from.text();
    for (auto left = from.get<std::uint32_t>(); left > 0 && from.ok(); --left) {
        report.calls.push_back(getCall(from));
    }
    return from.ok();
}

} // namespace espalier::sim
