// SPDX-License-Identifier: Apache-2.0
#include "core/profile/activity_collector.h"

#include "core/device/cuda/driver_api.h"
#include "core/profile/cupti_error.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace espalier::profile {

namespace {

constexpr std::size_t bufferBytes = std::size_t{1} << 20;
constexpr std::size_t bufferAlignment = 8;
constexpr std::size_t mostRecords = 100'000; ///< of one call; what is beyond is counted
constexpr std::size_t mostReported = 64;     ///< of one call
constexpr std::uint32_t forced = CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;

struct Work {
    const char* kind = "kernel";
    std::string name;
    std::uint64_t start = 0, end = 0, bytes = 0; ///< nanoseconds of CUPTI's clock
    std::uint32_t stream = 0;
    std::int32_t grid[3] = {}, block[3] = {};
    std::uint32_t registers = 0, localBytes = 0;
    std::int32_t staticShared = 0, dynamicShared = 0;
};

/// CUPTI's callbacks carry no pointer of ours: what they fill is static.
struct Records {
    const CuptiApi* api = nullptr;
    std::mutex mutex; ///< CUPTI may call from a thread of its own
    std::vector<Work> works;
    std::size_t beyond = 0;
} records;

void CUPTIAPI takeBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most)
{
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(bufferAlignment, bufferBytes));
    *size = *buffer ? bufferBytes : 0;
    *most = 0;
}

// The records' layout is that of the loaded library; these fields have stood where they are since CUDA 11.
Work workOf(const CUpti_ActivityKernel9& record)
{
    Work work;
    work.name = record.name ? record.name : "";
    work.start = record.start;
    work.end = record.end;
    work.stream = record.streamId;
    const std::int32_t grid[] = {record.gridX, record.gridY, record.gridZ};
    const std::int32_t block[] = {record.blockX, record.blockY, record.blockZ};
    std::copy_n(grid, 3, work.grid);
    std::copy_n(block, 3, work.block);
    work.registers = record.registersPerThread;
    work.staticShared = record.staticSharedMemory;
    work.dynamicShared = record.dynamicSharedMemory;
    work.localBytes = record.localMemoryPerThread;
    return work;
}

template <typename Record>
Work transferOf(const char* kind, const Record& record)
{
    Work work;
    work.kind = kind;
    work.start = record.start;
    work.end = record.end;
    work.bytes = record.bytes;
    work.stream = record.streamId;
    return work;
}

void add(Work work)
{
    if (records.works.size() < mostRecords) {
        records.works.push_back(std::move(work));
    } else {
        ++records.beyond;
    }
}

void CUPTIAPI readBuffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid)
{
    const std::scoped_lock lock(records.mutex);
    CUpti_Activity* record = nullptr;
    while (records.api->cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            add(workOf(*reinterpret_cast<const CUpti_ActivityKernel9*>(record)));
            break;
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            add(transferOf("copy", *reinterpret_cast<const CUpti_ActivityMemcpy5*>(record)));
            break;
        case CUPTI_ACTIVITY_KIND_MEMSET:
            add(transferOf("memset", *reinterpret_cast<const CUpti_ActivityMemset4*>(record)));
            break;
        default:
            break;
        }
    }
    std::free(buffer);
}

Json jsonOf(const Work& work, std::uint64_t origin, std::uint32_t given)
{
    Json json = {{"kind", work.kind},
                 {"start_ns", work.start - origin},
                 {"end_ns", work.end - origin},
                 {"given", work.stream == given}};
    if (work.bytes > 0) {
        json["bytes"] = work.bytes;
    }
    if (!work.name.empty()) {
        json["name"] = work.name;
        json["grid"] = {work.grid[0], work.grid[1], work.grid[2]};
        json["block"] = {work.block[0], work.block[1], work.block[2]};
        json["registers"] = work.registers;
        json["static_shared"] = work.staticShared;
        json["dynamic_shared"] = work.dynamicShared;
        json["local_bytes"] = work.localBytes;
    }
    return json;
}

class ActivityCollector final : public Collector
{
public:
    ActivityCollector(const CuptiApi& api, int ordinal, bool cold) : m_api(api), m_ordinal(ordinal), m_cold(cold) {}

    Result<void> prepare() override
    {
        ESPALIER_TRY(m_driver, cuda::driverApi());
        int l2 = 0;
        m_driver->cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, m_ordinal);
        m_displacement = 2 * static_cast<std::uint64_t>(l2);
        records.api = &m_api;
        ESPALIER_CUPTI(m_api, "Starting the activity records",
                       m_api.cuptiActivityRegisterCallbacks(takeBuffer, readBuffer));
        for (const CUpti_ActivityKind kind :
             {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET}) {
            ESPALIER_CUPTI(m_api, "Starting the activity records", m_api.cuptiActivityEnable(kind));
        }
        return {};
    }

    Result<Json> collect(const Workload& work) override
    {
        std::uint32_t given = 0;
        ESPALIER_CUPTI(m_api, "Asking for the stream's number",
                       m_api.cuptiGetStreamIdEx(nullptr, static_cast<CUstream>(work.device->stream()), 0, &given));
        ESPALIER_TRY(const Json warm, one(work, 0, given)); // loads what is loaded at a first launch
        Json calls = Json::array();
        for (std::size_t i = 0; i < work.calls; ++i) {
            ESPALIER_TRY(Json call, one(work, i, given));
            calls.push_back(std::move(call));
        }
        std::size_t dropped = 0;
        m_api.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
        return Json{{"calls", std::move(calls)}, {"dropped", dropped}};
    }

private:
    Result<Json> one(const Workload& work, std::size_t index, std::uint32_t given)
    {
        BlockPlan plan;
        plan.calls = 1;
        plan.displaceL2 = m_cold;
        plan.call = [&](std::size_t) { return work.call(index); };
        ESPALIER_TRY(const BlockClock clock, work.device->runBlock(plan));
        if (clock.status != 0) {
            return fail(ErrorCode::InvalidInput,
                        "The call returned CUDA error " + std::to_string(clock.status) + " while it was recorded.");
        }
        ESPALIER_CHECK(work.device->synchronize()); // what is not on the stream, too
        ESPALIER_CUPTI(m_api, "Reading the activity records", m_api.cuptiActivityFlushAll(forced));
        std::vector<Work> works;
        std::size_t beyond = 0;
        {
            const std::scoped_lock lock(records.mutex);
            works.swap(records.works);
            beyond = std::exchange(records.beyond, 0);
        }
        std::sort(works.begin(), works.end(), [](const Work& a, const Work& b) { return a.start < b.start; });
        leaveDisplacementOut(works, given);
        return report(clock, works, beyond, given);
    }

    /// Ours comes first on the given stream.
    void leaveDisplacementOut(std::vector<Work>& works, std::uint32_t given) const
    {
        const auto first =
            std::find_if(works.begin(), works.end(), [&](const Work& work) { return work.stream == given; });
        if (m_cold && first != works.end() && std::string_view(first->kind) == "memset" &&
            first->bytes == m_displacement) {
            works.erase(first);
        }
    }

    static Json report(const BlockClock& clock, const std::vector<Work>& works, std::size_t beyond, std::uint32_t given)
    {
        Json list = Json::array();
        const std::uint64_t origin = works.empty() ? 0 : works.front().start;
        std::uint64_t last = origin, inKernels = 0;
        int kernels = 0, copies = 0, memsets = 0, elsewhere = 0;
        for (const Work& work : works) {
            last = std::max(last, work.end);
            const std::string_view kind = work.kind;
            kernels += kind == "kernel";
            copies += kind == "copy";
            memsets += kind == "memset";
            inKernels += kind == "kernel" ? work.end - work.start : 0;
            elsewhere += work.stream != given;
            if (list.size() < mostReported) {
                list.push_back(jsonOf(work, origin, given));
            }
        }
        return Json{{"event_us", clock.calls.empty() ? 0 : clock.calls[0].eventMicroseconds},
                    {"host_us", clock.hostMicroseconds},
                    {"span_us", static_cast<double>(last - origin) / 1000},
                    {"kernel_us", static_cast<double>(inKernels) / 1000},
                    {"kernels", kernels},
                    {"copies", copies},
                    {"memsets", memsets},
                    {"elsewhere", elsewhere},
                    {"beyond", beyond},
                    {"works", std::move(list)}};
    }

    const CuptiApi& m_api;
    int m_ordinal;
    bool m_cold;
    const cuda::DriverApi* m_driver = nullptr;
    std::uint64_t m_displacement = 0;
};

} // namespace

std::unique_ptr<Collector> makeActivityCollector(const CuptiApi& api, int ordinal, bool cold)
{
    return std::make_unique<ActivityCollector>(api, ordinal, cold);
}

} // namespace espalier::profile
