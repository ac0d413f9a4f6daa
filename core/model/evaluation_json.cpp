// SPDX-License-Identifier: Apache-2.0
#include "core/model/evaluation_json.h"

#include "core/base/text.h"
#include "core/model/metric.h"

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

namespace espalier {

namespace {

template <typename T, typename Record>
concept Is = std::same_as<std::remove_const_t<T>, Record>;

// One list of fields per record, walked by the writer and by the reader: they cannot disagree.

template <typename V, Is<Interval> R>
void visit(V& v, R& r)
{
    v("value", r.value);
    v("low", r.low);
    v("high", r.high);
}

template <typename V, Is<Evidence> R>
void visit(V& v, R& r)
{
    v("check", r.check);
    v("sentence", r.sentence);
}

template <typename V, Is<CompileMessage> R>
void visit(V& v, R& r)
{
    v("file", r.file);
    v("line", r.line);
    v("column", r.column);
    v("error", r.error);
    v("text", r.text);
}

template <typename V, Is<KernelResources> R>
void visit(V& v, R& r)
{
    v("kernel", r.kernel);
    v("registers", r.registers);
    v("shared_bytes", r.sharedBytes);
    v("spill_store_bytes", r.spillStoreBytes);
    v("spill_load_bytes", r.spillLoadBytes);
    v("stack_bytes", r.stackBytes);
    v("instructions", r.instructions);
}

template <typename V, Is<BuildRecord> R>
void visit(V& v, R& r)
{
    v("key", r.key);
    v("library_hash", r.libraryHash);
    v("program", r.program);
    v("architecture", r.architecture);
    v("toolkit", r.toolkit);
    v("seconds", r.seconds);
    v("cached", r.cached);
    v("device_only", r.deviceOnly);
    v("messages", r.messages);
    v("kernels", r.kernels);
    v("log", r.log);
}

template <typename V, Is<OutputError> R>
void visit(V& v, R& r)
{
    v("case", r.caseId);
    v("output", r.output);
    v("worst_element_ratio", r.worstElementRatio);
    v("norm_error", r.normError);
    v("norm_bound", r.normBound);
    v("compared", r.compared);
}

template <typename V, Is<LaunchCount> R>
void visit(V& v, R& r)
{
    v("case", r.caseId);
    v("kernels", r.kernels);
    v("copies", r.copies);
    v("memsets", r.memsets);
}

template <typename V, Is<RepeatRecord> R>
void visit(V& v, R& r)
{
    v("case", r.caseId);
    v("calls", r.calls);
    v("elements", r.elements);
    v("differing", r.differing);
    v("spread", r.spread);
}

template <typename V, Is<VerifyRecord> R>
void visit(V& v, R& r)
{
    v("calls", r.calls);
    v("errors", r.errors);
    v("launches", r.launches);
    v("seconds", r.seconds);
    v("sandbox", r.sandbox);
    v("repeat", r.repeat);
}

template <typename V, Is<Latency> R>
void visit(V& v, R& r)
{
    v("p50_us", r.p50Us);
    v("p95_us", r.p95Us);
    v("p99_us", r.p99Us);
    v("calls", r.calls);
}

template <typename V, Is<BlockConditions> R>
void visit(V& v, R& r)
{
    v("sm_mhz", r.smMhz);
    v("memory_mhz", r.memoryMhz);
    v("power_w", r.powerWatts);
    v("temperature_c", r.temperature);
    v("throttle_reasons", r.throttleReasons);
    v("foreign_processes", r.foreignProcesses);
    v("runner", r.runner);
    v("median_us", r.medianUs);
    v("dropped", r.dropped);
    v("contender", r.contender);
}

template <typename V, Is<SanitizerFinding> R>
void visit(V& v, R& r)
{
    v("tool", r.tool);
    v("state", r.state);
    v("errors", r.errors);
    v("seconds", r.seconds);
}

template <typename V, Is<CaseTiming> R>
void visit(V& v, R& r)
{
    v("case", r.caseId);
    v("provenance", r.provenance);
    v("time_us", r.timeUs);
    v("speedup_root", r.speedupRoot);
    v("speedup_parent", r.speedupParent);
    v("speedup_incumbent", r.speedupIncumbent);
    v("speedup_baselines", r.speedupBaselines);
    v("rival_time_us", r.rivalTimeUs);
    v("goal_floor_us", r.goalFloorUs);
    v("blocks", r.blocks);
    v("samples", r.samples);
    v("dropped", r.dropped);
    v("stopped_by", r.stoppedBy);
    v("samples_us", r.samplesUs);
    v("method", r.method);
    v("runners", r.runners);
    v("launch_us", r.launchUs);
    v("end_to_end_us", r.endToEndUs);
    v("unseen_over_seen", r.unseenOverSeen);
    v("latency", r.latency);
    v("rival_latency", r.rivalLatency);
    v("dropped_because", r.droppedBecause);
    v("conditions", r.conditions);
}

template <typename V, Is<ActivityFacts> R>
void visit(V& v, R& r)
{
    v("case", r.caseId);
    v("calls", r.calls);
    v("kernels", r.kernels);
    v("copies", r.copies);
    v("memsets", r.memsets);
    v("fewest_works", r.fewestWorks);
    v("most_works", r.mostWorks);
    v("elsewhere", r.elsewhere);
    v("span_us", r.spanUs);
    v("kernel_us", r.kernelUs);
    v("event_us", r.eventUs);
    v("timed_us", r.timedUs);
}

template <typename V, Is<TimingRecord> R>
void visit(V& v, R& r)
{
    v("cases", r.cases);
    v("objective_us", r.objectiveUs);
    v("speedup_root", r.speedupRoot);
    v("speedup_parent", r.speedupParent);
    v("speedup_incumbent", r.speedupIncumbent);
    v("regime", r.regime);
    v("tier", r.tier);
    v("seconds", r.seconds);
    v("timed_calls", r.timedCalls);
    v("checked_calls", r.checkedCalls);
    v("fully_compared", r.fullyCompared);
    v("mode", r.mode);
    v("rate", r.rate);
    v("clocks", r.clocks);
    v("monitor", r.monitor);
    v("guard_broken", r.guardBroken);
    v("again", r.again);
    v("phase_seconds", r.phaseSeconds);
    v("activity", r.activity);
    v("device", r.device);
    v("rival_versions", r.rivalVersions);
}

template <typename V, Is<MetricValue> R>
void visit(V& v, R& r)
{
    v("id", r.id);
    v("value", r.value);
    v("provenance", r.provenance);
    v("peak", r.peak);
}

template <typename V, Is<ProfiledKernel> R>
void visit(V& v, R& r)
{
    v("name", r.name);
    v("time_us", r.timeUs);
    v("grid", r.grid);
    v("block", r.block);
    v("registers", r.registers);
    v("static_shared_bytes", r.staticSharedBytes);
    v("dynamic_shared_bytes", r.dynamicSharedBytes);
    v("local_bytes", r.localBytes);
    v("occupancy_limit", r.occupancyLimit);
    v("limited_by", r.limitedBy);
}

template <typename V, Is<SourceLine> R>
void visit(V& v, R& r)
{
    v("file", r.file);
    v("line", r.line);
}

template <typename V, Is<InstructionSamples> R>
void visit(V& v, R& r)
{
    v("function", r.function);
    v("offset", r.offset);
    v("samples", r.samples);
    v("reasons", r.reasons);
    v("chain", r.chain);
    v("counts", r.counts);
}

template <typename V, Is<CollectorRun> R>
void visit(V& v, R& r)
{
    v("collector", r.collector);
    v("done", r.done);
    v("seconds", r.seconds);
    v("collect_seconds", r.collectSeconds);
    v("note", r.note);
}

template <typename V, Is<Roof> R>
void visit(V& v, R& r)
{
    v("id", r.id);
    v("measured", r.measured);
    v("theory", r.theory);
}

template <typename V, Is<ProfileRecord> R>
void visit(V& v, R& r)
{
    v("case", r.caseId);
    v("level", r.level);
    v("provenance", r.provenance);
    v("tool", r.tool);
    v("chip", r.chip);
    v("passes", r.passes);
    v("seconds", r.seconds);
    v("task_bytes", r.taskBytes);
    v("task_flops", r.taskFlops);
    v("roofs", r.roofs);
    v("collectors", r.collectors);
    v("kernels", r.kernels);
    v("samples", r.samples);
    v("instructions", r.instructions);
}

template <typename V, Is<Evaluation> R>
void visit(V& v, R& r)
{
    v("outcome", r.outcome);
    v("cause", r.cause);
    v("stage", r.stage);
    v("reason", r.reason);
    v("evidence", r.evidence);
    v("build", r.build);
    v("verify", r.verify);
    v("timing", r.timing);
    v("sanitizer", r.sanitizer);
    v("metrics", r.metrics);
    v("profile", r.profile);
    v("epoch", r.epoch);
    v("output", r.output);
    v("judge_seconds", r.judgeSeconds);
}

template <typename E>
concept NamedEnum = std::is_enum_v<E>;

class Writer
{
public:
    template <typename T>
    void operator()(const char* name, const T& value)
    {
        put(name, value);
    }

    template <typename Record>
    static Json object(const Record& record)
    {
        Writer writer;
        writer.m_json = Json::object();
        visit(writer, record);
        return std::move(writer.m_json);
    }

private:
    template <typename T>
    void put(const char* name, const std::optional<T>& value)
    {
        if (value) {
            m_json[name] = json(*value);
        }
    }
    template <typename T>
    void put(const char* name, const T& value)
    {
        m_json[name] = json(value);
    }

    static Json json(const std::string& text) { return printableUnlessValid(text); }
    static Json json(double number)
    {
        if (std::isnan(number)) {
            return "nan";
        }
        return std::isinf(number) ? Json(number > 0 ? "inf" : "-inf") : Json(number);
    }
    template <std::integral T>
    static Json json(T number)
    {
        return number;
    }
    template <NamedEnum E>
    static Json json(E value)
    {
        return std::string(nameOf(value));
    }
    template <typename T>
    static Json json(const std::vector<T>& list)
    {
        Json array = Json::array();
        for (const T& item : list) {
            array.push_back(json(item));
        }
        return array;
    }
    template <typename T>
    static Json json(const std::map<std::string, T>& map)
    {
        Json members = Json::object();
        for (const auto& [key, item] : map) {
            members[printableUnlessValid(key)] = json(item);
        }
        return members;
    }
    template <typename Record>
        requires std::is_class_v<Record>
    static Json json(const Record& record)
    {
        return object(record);
    }

    /// nlohmann throws at dump() on a text that is not UTF-8; the only lossy case.
    static std::string printableUnlessValid(const std::string& text);

    Json m_json;
};

/// Strict: no surrogates, no overlong forms, nothing above U+10FFFF.
bool isUtf8(std::string_view text)
{
    std::size_t i = 0;
    while (i < text.size()) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const std::size_t length = lead < 0x80                   ? 1
                                   : lead >= 0xC2 && lead < 0xE0 ? 2
                                   : lead >= 0xE0 && lead < 0xF0 ? 3
                                   : lead >= 0xF0 && lead < 0xF5 ? 4
                                                                 : 0;
        if (length == 0 || i + length > text.size()) {
            return false;
        }
        for (std::size_t k = 1; k < length; ++k) {
            if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) {
                return false;
            }
        }
        const auto second = length > 1 ? static_cast<unsigned char>(text[i + 1]) : 0;
        if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
            (lead == 0xF4 && second > 0x8F)) {
            return false;
        }
        i += length;
    }
    return true;
}

std::string Writer::printableUnlessValid(const std::string& text)
{
    return isUtf8(text) ? text : printable(text, text.size() * 4);
}

/// Remembers the first complaint and reads nothing more after it.
class Reader
{
public:
    explicit Reader(const JsonReader& json) : m_json(json) {}

    template <typename T>
    void operator()(const char* name, T& value)
    {
        if (!m_error && m_json.has(name)) {
            keep(m_json.at(name), value);
        }
    }

    template <typename Record>
    static Result<Record> object(const JsonReader& json)
    {
        if (!json.value().is_object()) {
            return json.complain("an object");
        }
        Record record;
        Reader reader(json);
        visit(reader, record);
        if (reader.m_error) {
            return std::unexpected(std::move(*reader.m_error));
        }
        return record;
    }

private:
    template <typename T>
    void keep(const Result<JsonReader>& field, T& value)
    {
        const Result<void> done = field ? read(*field, value) : std::unexpected(field.error());
        if (!done) {
            m_error = done.error();
        }
    }

    static Result<void> read(const JsonReader& json, std::string& value)
    {
        ESPALIER_TRY(value, json.string());
        return {};
    }
    static Result<void> read(const JsonReader& json, bool& value)
    {
        ESPALIER_TRY(value, json.boolean());
        return {};
    }
    static Result<void> read(const JsonReader& json, double& value)
    {
        if (json.value().is_string()) {
            ESPALIER_TRY(const std::string text, json.oneOf({"nan", "inf", "-inf"}));
            const double infinity = std::numeric_limits<double>::infinity();
            value = text == "nan" ? std::numeric_limits<double>::quiet_NaN() : text == "inf" ? infinity : -infinity;
            return {};
        }
        ESPALIER_TRY(value, json.number());
        return {};
    }
    static Result<void> read(const JsonReader& json, int& value)
    {
        ESPALIER_TRY(const std::int64_t wide, json.integer());
        if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
            return json.complain("a whole number of 32 bits");
        }
        value = static_cast<int>(wide);
        return {};
    }
    static Result<void> read(const JsonReader& json, std::int64_t& value)
    {
        ESPALIER_TRY(value, json.integer());
        return {};
    }
    static Result<void> read(const JsonReader& json, std::uint64_t& value)
    {
        if (!json.value().is_number_unsigned()) {
            return json.complain("a whole number of 0 or more");
        }
        value = json.value().get<std::uint64_t>();
        return {};
    }
    static std::optional<Outcome> named(std::string_view name, Outcome) { return outcomeNamed(name); }
    static std::optional<NotRunCause> named(std::string_view name, NotRunCause) { return causeNamed(name); }
    static std::optional<Stage> named(std::string_view name, Stage) { return stageNamed(name); }
    static std::optional<Provenance> named(std::string_view name, Provenance) { return provenanceNamed(name); }
    template <NamedEnum E>
    static Result<void> read(const JsonReader& json, E& value)
    {
        ESPALIER_TRY(const std::string name, json.string());
        const std::optional<E> found = named(name, value);
        if (!found) {
            return json.complain("a name that this version knows");
        }
        value = *found;
        return {};
    }
    template <typename T>
    static Result<void> read(const JsonReader& json, std::optional<T>& value)
    {
        if (json.value().is_null()) {
            return {};
        }
        T item{};
        ESPALIER_CHECK(read(json, item));
        value = std::move(item);
        return {};
    }
    template <typename T>
    static Result<void> read(const JsonReader& json, std::vector<T>& value)
    {
        ESPALIER_TRY(const std::vector<JsonReader> items, json.items());
        value.clear();
        value.reserve(items.size());
        for (const JsonReader& item : items) {
            ESPALIER_CHECK(read(item, value.emplace_back()));
        }
        return {};
    }
    template <typename T>
    static Result<void> read(const JsonReader& json, std::map<std::string, T>& value)
    {
        ESPALIER_TRY(const auto members, json.members());
        value.clear();
        for (const auto& [key, item] : members) {
            ESPALIER_CHECK(read(item, value[key]));
        }
        return {};
    }
    template <typename Record>
        requires std::is_class_v<Record>
    static Result<void> read(const JsonReader& json, Record& value)
    {
        ESPALIER_TRY(value, object<Record>(json));
        return {};
    }

    const JsonReader& m_json;
    std::optional<Error> m_error;
};

} // namespace

#define ESPALIER_RECORD(Record)                                                                                        \
    Json toJson(const Record& record)                                                                                  \
    {                                                                                                                  \
        return Writer::object(record);                                                                                 \
    }                                                                                                                  \
    template <>                                                                                                        \
    Result<Record> fromJson<Record>(const Json& json, std::string_view name)                                           \
    {                                                                                                                  \
        return Reader::object<Record>(JsonReader(json, std::string(name)));                                            \
    }

ESPALIER_RECORD(Interval)
ESPALIER_RECORD(Evidence)
ESPALIER_RECORD(CompileMessage)
ESPALIER_RECORD(KernelResources)
ESPALIER_RECORD(BuildRecord)
ESPALIER_RECORD(OutputError)
ESPALIER_RECORD(RepeatRecord)
ESPALIER_RECORD(VerifyRecord)
ESPALIER_RECORD(SanitizerFinding)
ESPALIER_RECORD(CaseTiming)
ESPALIER_RECORD(TimingRecord)
ESPALIER_RECORD(ActivityFacts)
ESPALIER_RECORD(MetricValue)
ESPALIER_RECORD(ProfileRecord)
ESPALIER_RECORD(Evaluation)
#undef ESPALIER_RECORD

std::string toJsonText(const Evaluation& evaluation)
{
    return toJson(evaluation).dump();
}

Result<Evaluation> evaluationFromText(std::string_view text, std::string_view name)
{
    ESPALIER_TRY(const Json json, parseJson(text, name));
    return fromJson<Evaluation>(json, name);
}

Json evaluationReport(const Evaluation& evaluation)
{
    Json report = toJson(evaluation);
    std::optional<Provenance> provenance;
    if (evaluation.timing && !evaluation.timing->cases.empty()) {
        provenance = evaluation.timing->cases.front().provenance;
    } else if (!evaluation.metrics.empty()) {
        provenance = evaluation.metrics.front().provenance;
    }
    report["provenance"] = provenance ? Json(std::string(nameOf(*provenance))) : Json();
    Json metrics = Json::object();
    for (const MetricValue& metric : evaluation.metrics) {
        Json row = {{"value", metric.value}, {"provenance", std::string(nameOf(metric.provenance))}};
        if (metric.peak > 0) {
            row["peak"] = metric.peak;
        }
        if (const Metric* known = findMetric(metric.id)) {
            row["name"] = known->name;
            row["unit"] = known->unit;
            row["better"] = nameOf(known->better);
            row["description"] = known->description;
        }
        metrics[metric.id] = std::move(row);
    }
    report["metrics"] = std::move(metrics);
    return report;
}

} // namespace espalier
