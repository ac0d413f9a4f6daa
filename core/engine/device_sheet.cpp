// SPDX-License-Identifier: Apache-2.0
#include "core/engine/device_sheet.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/resources.h"
#include "core/base/text.h"

#include <array>
#include <fmt/format.h>

namespace espalier {
namespace {

Json resourceJson(const char* name)
{
    const auto text = readFile(resourceFile(name));
    if (!text) {
        return {};
    }
    auto json = parseJson(*text, name);
    return json ? std::move(*json) : Json();
}

std::string rate(const Json& table, const char* field, double unit, const char* words)
{
    if (!table.is_object() || !table.contains(field) || !table[field].is_number()) {
        return {};
    }
    return fmt::format("{} {:.4g} {}", field, table[field].get<double>() / unit, words);
}

/// "measured: 4.28 TB/s DRAM, …" of one table of roofs.json.
std::string roofLine(const char* kind, const Json& table)
{
    struct Row {
        const char* field;
        const char* words;
    };
    static constexpr std::array<Row, 7> rows = {{{"dram_bytes_per_second", "TB/s of DRAM"},
                                                 {"f64_per_second", "TFLOP/s fp64"},
                                                 {"f32_per_second", "TFLOP/s fp32"},
                                                 {"f32_by_tf32_per_second", "TFLOP/s fp32 by split TF32 products"},
                                                 {"tf32_per_second", "TFLOP/s TF32"},
                                                 {"f16_per_second", "TFLOP/s fp16"},
                                                 {"f8_per_second", "TFLOP/s fp8"}}};
    std::string line;
    for (const Row& row : rows) {
        if (table.is_object() && table.contains(row.field) && table[row.field].is_number()) {
            line +=
                fmt::format("{}{:.4g} {}", line.empty() ? "" : ", ", table[row.field].get<double>() / 1e12, row.words);
        }
    }
    return line.empty() ? std::string() : fmt::format("- roofs, {}: {}\n", kind, line);
}

std::string roofs(const std::string& deviceName)
{
    std::string text;
    for (const Json& entry : resourceJson("devices/roofs.json")) {
        if (entry.is_object() && entry.contains("name_contains") && entry["name_contains"].is_string() &&
            deviceName.find(entry["name_contains"].get<std::string>()) != std::string::npos) {
            text += roofLine("measured on such a device", entry.value("measured", Json()));
            text += roofLine("theoretical peaks", entry.value("theory", Json()));
            return text;
        }
    }
    return text;
}

std::string simulatedFacts()
{
    const Json profile = resourceJson("devices/h200.json");
    std::string text;
    for (const auto& [field, unit, words] : {std::tuple{"multiprocessors", 1.0, ""},
                                             {"l2_bytes", 1048576.0, "MiB"},
                                             {"shared_per_multiprocessor", 1024.0, "KiB"},
                                             {"max_threads_per_multiprocessor", 1.0, ""},
                                             {"dram_bytes_per_second", 1e12, "TB/s"},
                                             {"l2_bytes_per_second", 1e12, "TB/s"},
                                             {"launch_seconds", 1e-6, "us a launch"}}) {
        const std::string fact = rate(profile, field, unit, words);
        text += fact.empty() ? "" : fmt::format("- {}\n", fact);
    }
    return text;
}

} // namespace

std::string deviceSheet(const JudgeHello& hello)
{
    std::string sheet = fmt::format("- {}, compiled for sm_{}\n", hello.deviceName, hello.architecture);
    if (hello.deviceBytes > 0) {
        sheet += fmt::format("- memory: {}\n", bytesText(hello.deviceBytes));
    }
    if (hello.simulated) {
        sheet += "- It is simulated: the PTX is interpreted, times are modelled from counted bytes, instructions and "
                 "launches, and only PTX that the simulator knows runs (no asynchronous bulk copies, no inline "
                 "assembly beyond common instructions).\n";
        return sheet + simulatedFacts();
    }
    return sheet + roofs(hello.deviceName);
}

} // namespace espalier
