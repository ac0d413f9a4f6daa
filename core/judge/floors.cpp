// SPDX-License-Identifier: Apache-2.0
#include "core/judge/floors.h"

#include "core/base/json.h"

#include <algorithm>
#include <initializer_list>

namespace espalier::judge {

namespace {

constexpr double microseconds = 1e6;

double numberAt(const Json& object, const char* field)
{
    return object.is_object() && object.contains(field) && object[field].is_number() ? object[field].get<double>() : 0;
}

Json objectAt(const Json& object, const char* field)
{
    return object.is_object() && object.contains(field) ? object[field] : Json::object();
}

bool matches(const Json& entry, const DeviceInfo& device)
{
    const Json name = objectAt(entry, "name_contains");
    return name.is_string() && device.name.find(name.get<std::string>()) != std::string::npos &&
           numberAt(entry, "sm_major") == device.smMajor && numberAt(entry, "sm_minor") == device.smMinor;
}

bool allows(const Task& task, std::initializer_list<std::string_view> types)
{
    const auto& internal = task.contract.allowedInternal;
    return std::any_of(types.begin(), types.end(), [&](std::string_view type) {
        return std::find(internal.begin(), internal.end(), type) != internal.end();
    });
}

/// The fastest unit the contract allows, by the name of its peak.
const char* fastestPeak(const Task& task)
{
    if (allows(task, {"fp8e4m3", "fp8e5m2", "i8"})) {
        return "f8_per_second";
    }
    if (allows(task, {"f16", "bf16"})) {
        return "f16_per_second";
    }
    return allows(task, {"tf32"}) ? "tf32_per_second" : allows(task, {"f32"}) ? "f32_per_second" : "f64_per_second";
}

/// The rate a good kernel of this precision reaches; f32 accuracy from reduced products costs three of them.
const char* goalRate(const Task& task)
{
    const std::string& precision = task.contract.precision;
    if (precision == "f64") {
        return "f64_per_second";
    }
    if (precision == "f32") {
        return allows(task, {"tf32", "bf16", "f16"}) ? "f32_by_tf32_per_second" : "f32_per_second";
    }
    return precision == "tf32" ? "tf32_per_second" : "f16_per_second";
}

} // namespace

Floors Floors::create(const DeviceInfo& device, const Task& task, const std::string& roofs)
{
    Floors floors;
    floors.m_dramPeak = device.peakDramBytesPerSecond;
    const auto json = parseJson(roofs, "roofs.json");
    if (!json || !json->is_array()) {
        return floors;
    }
    for (const Json& entry : *json) {
        if (matches(entry, device)) {
            const Json measured = objectAt(entry, "measured");
            const Json theory = objectAt(entry, "theory");
            floors.m_dramRoof = numberAt(measured, "dram_bytes_per_second");
            floors.m_flopRoof = numberAt(measured, goalRate(task));
            floors.m_dramPeak = numberAt(theory, "dram_bytes_per_second");
            floors.m_flopPeak = numberAt(theory, fastestPeak(task));
            break;
        }
    }
    return floors;
}

double Floors::goalUs(const CasePlan& plan) const
{
    const double bytes = m_dramRoof > 0 ? static_cast<double>(plan.minimumBytes) / m_dramRoof : 0;
    const double flops = m_flopRoof > 0 ? plan.flops / m_flopRoof : 0;
    return std::max(bytes, flops) * microseconds;
}

double Floors::physicalUs(const CasePlan& plan, bool cold) const
{
    const double bytes = cold && m_dramPeak > 0 ? static_cast<double>(plan.minimumBytes) / m_dramPeak : 0;
    const double flops = m_flopPeak > 0 ? plan.flops / m_flopPeak : 0;
    return std::max(bytes, flops) * microseconds;
}

} // namespace espalier::judge
