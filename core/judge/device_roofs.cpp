// SPDX-License-Identifier: Apache-2.0
#include "core/judge/device_roofs.h"

#include "core/base/file.h"
#include "core/base/json.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier::judge {

namespace {

constexpr double giga = 1e9;

double roofNumber(const Json& object, const char* field)
{
    return object.is_object() && object.contains(field) && object[field].is_number() ? object[field].get<double>() : 0;
}

Roof& roofOf(std::vector<Roof>& roofs, std::string_view id)
{
    const auto found = std::find_if(roofs.begin(), roofs.end(), [&](const Roof& roof) { return roof.id == id; });
    return found == roofs.end() ? roofs.emplace_back(Roof{std::string(id), 0, 0}) : *found;
}

struct KnownField {
    const char* field;
    const char* measured; ///< id of the roof that the measured figure is of
    const char* theory;
};
// The floors' double-precision peak is that of the tensor cores.
constexpr KnownField knownFields[] = {
    {"dram_bytes_per_second", "dram", "dram"},
    {"l2_bytes_per_second", "l2", "l2"},
    {"l1_bytes_per_second", "l1", "l1"},
    {"f32_per_second", "f32", "f32"},
    {"f64_per_second", "f64", "tensor_f64"},
    {"f64_cores_per_second", "", "f64"},
    {"f16_cores_per_second", "f16", "f16"},
    {"f16_per_second", "tensor_f16", "tensor_f16"},
    {"tf32_per_second", "tensor_tf32", "tensor_tf32"},
    {"f8_per_second", "tensor_fp8", "tensor_fp8"},
};

void addKnown(const DeviceInfo& device, const std::string& text, std::vector<Roof>& roofs)
{
    const auto json = parseJson(text, "roofs.json");
    if (!json || !json->is_array()) {
        return;
    }
    for (const Json& entry : *json) {
        const bool named = entry.is_object() && entry.contains("name_contains") && entry["name_contains"].is_string() &&
                           device.name.find(entry["name_contains"].get<std::string>()) != std::string::npos;
        if (!named || roofNumber(entry, "sm_major") != device.smMajor ||
            roofNumber(entry, "sm_minor") != device.smMinor) {
            continue;
        }
        for (const KnownField& field : knownFields) {
            const Json& measured = entry.contains("measured") ? entry["measured"] : entry;
            const Json& theory = entry.contains("theory") ? entry["theory"] : entry;
            if (const double value = roofNumber(measured, field.field); value > 0 && *field.measured) {
                roofOf(roofs, field.measured).measured = value / giga;
            }
            if (const double value = roofNumber(theory, field.field); value > 0) {
                roofOf(roofs, field.theory).theory = value / giga;
            }
        }
        return;
    }
}

void addMeasured(const DeviceInfo& device, const std::string& text, std::vector<Roof>& roofs)
{
    const auto json = parseJson(text, "measured roofs");
    if (!json || !json->is_object() || !json->contains("roofs") || !(*json)["roofs"].is_array() ||
        json->value("uuid", std::string()) != device.uuid) {
        return;
    }
    for (const Json& entry : (*json)["roofs"]) {
        if (!entry.is_object() || !entry.contains("id") || !entry["id"].is_string()) {
            continue;
        }
        Roof& roof = roofOf(roofs, entry["id"].get<std::string>());
        if (const double theory = roofNumber(entry, "theory"); theory > 0) {
            roof.theory = theory;
        }
        if (const double measured = roofNumber(entry, "measured"); measured > 0) {
            roof.measured = measured;
        }
    }
}

} // namespace

std::string measuredRoofsFile(const std::string& uuid)
{
    return (cacheFolder() / fmt::format("roofs-{}.json", uuid)).string();
}

std::vector<Roof> deviceRoofs(const DeviceInfo& device, const std::string& measured, const std::string& known)
{
    std::vector<Roof> roofs;
    addKnown(device, known, roofs);
    addMeasured(device, measured, roofs);
    for (Roof& roof : roofs) {
        if (roof.theory > 0 && roof.measured > roof.theory) {
            roof.measured = 0;
        }
    }
    return roofs;
}

std::vector<Roof> simulatedRoofs(const std::string& profile)
{
    std::vector<Roof> roofs;
    const auto json = parseJson(profile, "device profile");
    if (!json) {
        return roofs;
    }
    constexpr std::pair<const char*, const char*> fields[] = {{"dram_bytes_per_second", "dram"},
                                                              {"l2_bytes_per_second", "l2"},
                                                              {"flops_f32_per_second", "f32"},
                                                              {"flops_f64_per_second", "f64"},
                                                              {"flops_f16_per_second", "f16"}};
    for (const auto& [field, id] : fields) {
        if (const double value = roofNumber(*json, field); value > 0) {
            roofs.push_back({id, 0, value / giga});
        }
    }
    return roofs;
}

} // namespace espalier::judge
