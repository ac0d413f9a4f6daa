// SPDX-License-Identifier: Apache-2.0
#include "core/profile/sampling_collector.h"

#include "core/device/cuda/driver_api.h"
#include "core/profile/cupti_error.h"
#include "core/profile/loaded_cubins.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <tuple>

namespace espalier::profile {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t recordsAtOnce = 4096;
constexpr std::size_t hardwareBuffer = std::size_t{256} << 20;
constexpr double enoughMicroseconds = 20'000; ///< of the calls: gives tens of thousands of samples
constexpr std::size_t mostCalls = 5000;
constexpr std::size_t mostInstructions = 4000; ///< instructions, those with the most samples
constexpr int mostReads = 10'000;

#define ESPALIER_SAMPLING_PARAMS(Type, name)                                                                           \
    Type name;                                                                                                         \
    std::memset(&name, 0, sizeof name);                                                                                \
    name.size = Type##Size;                                                                                            \
    name.ctx = m_context

/// Room for one reading of CUPTI's: records with their reasons.
struct Buffer {
    std::vector<CUpti_PCSamplingPCData> records;
    std::vector<CUpti_PCSamplingStallReason> reasons;
    CUpti_PCSamplingData data;

    explicit Buffer(std::size_t reasonCount) : records(recordsAtOnce), reasons(recordsAtOnce * reasonCount)
    {
        std::memset(&data, 0, sizeof data);
        data.size = sizeof data;
        data.collectNumPcs = recordsAtOnce;
        data.pPcData = records.data();
        for (std::size_t i = 0; i < recordsAtOnce; ++i) {
            std::memset(&records[i], 0, sizeof records[i]);
            records[i].size = sizeof records[i];
            records[i].stallReason = &reasons[i * reasonCount];
        }
    }
};

using Place = std::tuple<std::uint64_t, std::string, std::uint64_t>; ///< cubin, function, offset

class SamplingCollector final : public Collector
{
public:
    SamplingCollector(const CuptiApi& api, int ordinal) : m_api(api), m_ordinal(ordinal) {}

    Result<void> prepare() override
    {
        ESPALIER_TRY(m_driver, cuda::driverApi());
        ESPALIER_CHECK(LoadedCubins::watch(m_api));
        // The runner's device holds it and has made it current; one more reference tells which one it is.
        ESPALIER_CUDA(*m_driver, "Finding the device's context failed",
                      m_driver->cuDevicePrimaryCtxRetain(&m_context, m_ordinal));
        ESPALIER_SAMPLING_PARAMS(CUpti_PCSamplingEnableParams, on);
        ESPALIER_CUPTI(m_api, "Switching PC sampling on", m_api.cuptiPCSamplingEnable(&on));
        ESPALIER_CHECK(readReasons());
        return configure();
    }

    Result<Json> collect(const Workload& work) override
    {
        ESPALIER_TRY(const double microseconds, warmUp(work));
        const auto start = Clock::now();
        ESPALIER_SAMPLING_PARAMS(CUpti_PCSamplingStartParams, begin);
        ESPALIER_CUPTI(m_api, "Starting PC sampling", m_api.cuptiPCSamplingStart(&begin));
        const auto calls = static_cast<std::size_t>(
            std::clamp(enoughMicroseconds / std::max(microseconds, 1.0), 1.0, static_cast<double>(mostCalls)));
        for (std::size_t i = 0; i < calls; ++i) {
            if (const int status = work.call(i % work.calls); status != 0) {
                return fail(ErrorCode::InvalidInput,
                            "The call returned CUDA error " + std::to_string(status) + " while it was sampled.");
            }
        }
        ESPALIER_CHECK(work.device->synchronize());
        ESPALIER_SAMPLING_PARAMS(CUpti_PCSamplingStopParams, end);
        ESPALIER_CUPTI(m_api, "Stopping PC sampling", m_api.cuptiPCSamplingStop(&end));
        ESPALIER_CHECK(readSamples());
        ESPALIER_SAMPLING_PARAMS(CUpti_PCSamplingDisableParams, off);
        m_api.cuptiPCSamplingDisable(&off);
        add(*m_configured); // Disable puts the rest there
        Json json = report();
        json["calls"] = calls;
        json["milliseconds"] = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        return json;
    }

private:
    Result<void> readReasons()
    {
        std::size_t count = 0;
        ESPALIER_SAMPLING_PARAMS(CUpti_PCSamplingGetNumStallReasonsParams, number);
        number.numStallReasons = &count;
        ESPALIER_CUPTI(m_api, "Asking for stall reasons", m_api.cuptiPCSamplingGetNumStallReasons(&number));
        std::vector<std::uint32_t> indices(count);
        std::vector<std::array<char, CUPTI_STALL_REASON_STRING_SIZE>> texts(count);
        std::vector<char*> pointers;
        for (auto& text : texts) {
            text.fill('\0');
            pointers.push_back(text.data());
        }
        ESPALIER_SAMPLING_PARAMS(CUpti_PCSamplingGetStallReasonsParams, names);
        names.numStallReasons = count;
        names.stallReasonIndex = indices.data();
        names.stallReasons = pointers.data();
        ESPALIER_CUPTI(m_api, "Asking for stall reasons", m_api.cuptiPCSamplingGetStallReasons(&names));
        for (std::size_t i = 0; i < count; ++i) {
            m_reasons[indices[i]] = texts[i].data();
        }
        return {};
    }

    Result<void> configure()
    {
        m_configured = std::make_unique<Buffer>(m_reasons.size());
        m_read = std::make_unique<Buffer>(m_reasons.size());
        std::vector<CUpti_PCSamplingConfigurationInfo> infos(4);
        for (auto& info : infos) {
            std::memset(&info, 0, sizeof info);
        }
        infos[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
        infos[0].attributeData.collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
        infos[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL;
        infos[1].attributeData.enableStartStopControlData.enableStartStopControl = 1;
        infos[2].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
        infos[2].attributeData.samplingDataBufferData.samplingDataBuffer = &m_configured->data;
        infos[3].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE;
        infos[3].attributeData.hardwareBufferSizeData.hardwareBufferSize = hardwareBuffer;
        ESPALIER_SAMPLING_PARAMS(CUpti_PCSamplingConfigurationInfoParams, params);
        params.numAttributes = infos.size();
        params.pPCSamplingConfigurationInfo = infos.data();
        ESPALIER_CUPTI(m_api, "Configuring PC sampling", m_api.cuptiPCSamplingSetConfigurationAttribute(&params));
        return {};
    }

    /// Host microseconds of one warm call, launch and wait included.
    Result<double> warmUp(const Workload& work) const
    {
        double microseconds = 0;
        for (int i = 0; i < 2; ++i) {
            const auto start = Clock::now();
            if (const int status = work.call(0); status != 0) {
                return fail(ErrorCode::InvalidInput, "The call returned CUDA error " + std::to_string(status) + ".");
            }
            ESPALIER_CHECK(work.device->synchronize());
            microseconds = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
        }
        return microseconds;
    }

    Result<void> readSamples()
    {
        for (int i = 0; i < mostReads; ++i) {
            m_read->data.collectNumPcs = recordsAtOnce;
            m_read->data.totalNumPcs = 0;
            ESPALIER_SAMPLING_PARAMS(CUpti_PCSamplingGetDataParams, params);
            params.pcSamplingData = &m_read->data;
            const CUptiResult code = m_api.cuptiPCSamplingGetData(&params);
            if (code == CUPTI_ERROR_OUT_OF_MEMORY && m_read->data.hardwareBufferFull) {
                m_full = true;
            } else if (code != CUPTI_SUCCESS) {
                return std::unexpected(cuptiError(m_api.describe(code), code, "Reading samples"));
            }
            add(*m_read);
            if (m_read->data.remainingNumPcs == 0 || m_full) {
                break;
            }
        }
        return {};
    }

    void add(Buffer& buffer)
    {
        const std::size_t count = std::min<std::size_t>(buffer.data.totalNumPcs, recordsAtOnce);
        for (std::size_t i = 0; i < count; ++i) {
            const CUpti_PCSamplingPCData& record = buffer.records[i];
            const char* name = record.functionName; // packed: a copy before it is used; shared, so never freed here
            const std::uint64_t crc = record.cubinCrc, offset = record.pcOffset;
            auto& counts = m_samples[Place(crc, name ? name : "", offset)];
            const std::size_t reasons = std::min<std::size_t>(record.stallReasonCount, m_reasons.size());
            for (std::size_t r = 0; r < reasons; ++r) {
                const std::uint32_t index = record.stallReason[r].pcSamplingStallReasonIndex;
                const std::uint32_t samples = record.stallReason[r].samples;
                counts[index] += samples;
            }
        }
        m_total += buffer.data.totalSamples;
        m_dropped += buffer.data.droppedSamples;
        m_foreign += buffer.data.nonUsrKernelsTotalSamples;
        buffer.data.totalNumPcs = 0;
        buffer.data.totalSamples = buffer.data.droppedSamples = buffer.data.nonUsrKernelsTotalSamples = 0;
    }

    Json report()
    {
        const LoadedCubins cubins;
        std::vector<std::pair<std::uint64_t, const Place*>> order;
        for (const auto& [place, counts] : m_samples) {
            std::uint64_t sum = 0;
            for (const auto& [reason, samples] : counts) {
                sum += m_reasons[reason].ends_with("_not_issued") ? 0 : samples;
            }
            order.emplace_back(sum, &place);
        }
        std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        Json instructions = Json::array();
        for (const auto& [sum, place] : order) {
            if (instructions.size() == mostInstructions || sum == 0) {
                break;
            }
            const auto& [crc, function, offset] = *place;
            Json reasons = Json::object();
            for (const auto& [reason, samples] : m_samples.at(*place)) {
                const std::string& name = m_reasons[reason];
                if (samples > 0 && !name.ends_with("_not_issued")) { // a subset of the one without
                    reasons[name] = samples;
                }
            }
            Json one = {{"function", function}, {"offset", offset}, {"samples", sum}, {"reasons", std::move(reasons)}};
            if (const SourceChain chain = cubins.find(crc, function, offset); !chain.empty()) {
                Json places = Json::array();
                for (const SourcePlace& step : chain) {
                    places.push_back({{"file", step.file}, {"line", step.line}});
                }
                one["chain"] = std::move(places);
            }
            instructions.push_back(std::move(one));
        }
        return Json{{"instructions", std::move(instructions)},
                    {"total", m_total},
                    {"dropped", m_dropped},
                    {"foreign", m_foreign},
                    {"full", m_full},
                    {"cubins", cubins.count()}};
    }

    const CuptiApi& m_api;
    int m_ordinal;
    const cuda::DriverApi* m_driver = nullptr;
    CUcontext m_context = nullptr;
    std::map<std::uint32_t, std::string> m_reasons;
    std::unique_ptr<Buffer> m_configured, m_read;
    std::map<Place, std::map<std::uint32_t, std::uint64_t>> m_samples;
    std::uint64_t m_total = 0, m_dropped = 0, m_foreign = 0;
    bool m_full = false;
};

} // namespace

std::unique_ptr<Collector> makeSamplingCollector(const CuptiApi& api, int ordinal)
{
    return std::make_unique<SamplingCollector>(api, ordinal);
}

} // namespace espalier::profile
