// SPDX-License-Identifier: Apache-2.0
#include "core/base/json.h"
#include "core/device/sim/time_model.h"

namespace espalier::sim {

namespace {

Result<double> positive(const JsonReader& reader, const char* field)
{
    ESPALIER_TRY(const JsonReader at, reader.at(field));
    ESPALIER_TRY(const double value, at.number());
    if (!(value > 0))
        return at.complain("a number above 0");
    return value;
}

Result<std::int64_t> whole(const JsonReader& reader, const char* field, std::int64_t least)
{
    ESPALIER_TRY(const JsonReader at, reader.at(field));
    ESPALIER_TRY(const std::int64_t value, at.integer());
    if (value < least || value > (std::int64_t{1} << 50))
        return at.complain("a whole number that is not too small or too large");
    return value;
}

} // namespace

Result<DeviceProfile> DeviceProfile::parse(std::string_view text, std::string_view file)
{
    ESPALIER_TRY(const Json json, parseJson(text, file));
    const JsonReader reader(json, std::string(file));
    ESPALIER_CHECK(reader.onlyFields(
        {"name", "sm_major", "sm_minor", "multiprocessors", "l2_bytes", "total_bytes", "dram_bytes_per_second",
         "l2_bytes_per_second", "shared_bytes_per_second", "flops_f32_per_second", "flops_f64_per_second",
         "flops_f16_per_second", "special_per_second", "warp_issue_per_second", "launch_seconds",
         "max_threads_per_multiprocessor", "max_blocks_per_multiprocessor", "shared_per_multiprocessor"}));
    DeviceProfile profile;
    DeviceInfo& info = profile.info;
    info.id = "sim";
    info.simulated = true;
    ESPALIER_TRY(const JsonReader name, reader.at("name"));
    ESPALIER_TRY(info.name, name.string());
    ESPALIER_TRY(const std::int64_t major, whole(reader, "sm_major", 1));
    ESPALIER_TRY(const std::int64_t minor, whole(reader, "sm_minor", 0));
    ESPALIER_TRY(const std::int64_t multiprocessors, whole(reader, "multiprocessors", 1));
    ESPALIER_TRY(const std::int64_t l2, whole(reader, "l2_bytes", 1));
    ESPALIER_TRY(const std::int64_t total, whole(reader, "total_bytes", 1));
    ESPALIER_TRY(const std::int64_t threads, whole(reader, "max_threads_per_multiprocessor", 32));
    ESPALIER_TRY(const std::int64_t blocks, whole(reader, "max_blocks_per_multiprocessor", 1));
    ESPALIER_TRY(const std::int64_t shared, whole(reader, "shared_per_multiprocessor", 1));
    info.smMajor = static_cast<int>(major);
    info.smMinor = static_cast<int>(minor);
    info.multiprocessors = static_cast<int>(multiprocessors);
    info.l2Bytes = static_cast<std::size_t>(l2);
    info.totalBytes = static_cast<std::size_t>(total);
    profile.maxThreadsPerMultiprocessor = static_cast<int>(threads);
    profile.maxBlocksPerMultiprocessor = static_cast<int>(blocks);
    profile.sharedPerMultiprocessor = static_cast<std::size_t>(shared);
    ESPALIER_TRY(profile.dramBytesPerSecond, positive(reader, "dram_bytes_per_second"));
    ESPALIER_TRY(profile.l2BytesPerSecond, positive(reader, "l2_bytes_per_second"));
    ESPALIER_TRY(profile.sharedBytesPerSecond, positive(reader, "shared_bytes_per_second"));
    ESPALIER_TRY(profile.flopsF32PerSecond, positive(reader, "flops_f32_per_second"));
    ESPALIER_TRY(profile.flopsF64PerSecond, positive(reader, "flops_f64_per_second"));
    ESPALIER_TRY(profile.flopsF16PerSecond, positive(reader, "flops_f16_per_second"));
    ESPALIER_TRY(profile.specialPerSecond, positive(reader, "special_per_second"));
    ESPALIER_TRY(profile.warpIssuePerSecond, positive(reader, "warp_issue_per_second"));
    ESPALIER_TRY(profile.launchSeconds, positive(reader, "launch_seconds"));
    return profile;
}

} // namespace espalier::sim
