// SPDX-License-Identifier: Apache-2.0
#include "core/search/ended_record.h"

#include "core/propose/source_text.h"
#include "core/search/bans.h"

#include <algorithm>

namespace espalier {
namespace {

Json pack(const std::optional<Interval>& interval)
{
    return interval ? Json::array({interval->value, interval->low, interval->high}) : Json(nullptr);
}

std::optional<Interval> unpack(const Json& json)
{
    if (!json.is_array() || json.size() != 3 || !json[0].is_number() || !json[1].is_number() || !json[2].is_number()) {
        return std::nullopt;
    }
    return Interval{json[0].get<double>(), json[1].get<double>(), json[2].get<double>()};
}

/// Field of an object, or null.
const Json& fieldOf(const Json& json, const char* name)
{
    static const Json none;
    const auto found = json.find(name);
    return found == json.end() ? none : *found;
}

std::string textOf(const Json& json)
{
    return json.is_string() ? json.get<std::string>() : std::string();
}

int wholeOf(const Json& json)
{
    return json.is_number_integer() ? json.get<int>() : 0;
}

Json packKernels(const std::vector<KernelResources>& kernels)
{
    Json list = Json::array();
    for (const KernelResources& one : kernels) {
        list.push_back({one.kernel, one.registers, one.sharedBytes, one.spillStoreBytes, one.spillLoadBytes, one.stackBytes,
                        one.instructions});
    }
    return list;
}

std::optional<std::vector<KernelResources>> unpackKernels(const Json& json)
{
    if (!json.is_array()) {
        return std::nullopt;
    }
    std::vector<KernelResources> kernels;
    for (const Json& one : json) {
        if (!one.is_array() || one.size() != 7 || !one[6].is_object()) {
            return std::nullopt;
        }
        KernelResources kernel{textOf(one[0]),  wholeOf(one[1]), wholeOf(one[2]), wholeOf(one[3]),
                               wholeOf(one[4]), wholeOf(one[5]), {}};
        for (const auto& [name, count] : one[6].items()) {
            kernel.instructions[name] = wholeOf(count);
        }
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

} // namespace

double deviceSecondsOf(const Evaluation& evaluation)
{
    if (evaluation.judgeSeconds > 0) {
        return evaluation.judgeSeconds;
    }
    return (evaluation.verify ? evaluation.verify->seconds : 0) + (evaluation.timing ? evaluation.timing->seconds : 0);
}

EndedRecord EndedRecord::of(const Evaluation& evaluation, const std::string& source)
{
    EndedRecord record;
    record.evaluation = evaluation;
    record.deviceSeconds = deviceSecondsOf(evaluation);
    if (evaluation.build) {
        record.build = traitsOfBuild(*evaluation.build);
    }
    if (!source.empty()) {
        record.traits = traitsOfSource(source);
        record.identity = evaluation.cause == NotRunCause::NoSource ? std::string() : sourceIdentity(source);
    }
    return record;
}

Json EndedRecord::toJson() const
{
    Json json = {{"o", nameOf(evaluation.outcome)}, {"s", nameOf(evaluation.stage)}};
    const auto put = [&json](const char* name, const std::string& text) {
        if (!text.empty()) {
            json[name] = text;
        }
    };
    put("c", std::string(nameOf(evaluation.cause)));
    put("r", evaluation.reason);
    put("e", evaluation.epoch);
    put("i", identity);
    if (evaluation.build && evaluation.outcome != Outcome::NotRun) {
        put("m", evaluation.build->program);
    }
    if (endedByBan(evaluation)) {
        json["b"] = 1;
    }
    if (evaluation.build) {
        json["k"] = packKernels(heldBy(*evaluation.build));
    }
    if (deviceSeconds > 0) {
        json["d"] = deviceSeconds;
    }
    json["t"] = {static_cast<int>(traits.memory), traits.size, build.occupancy, build.tensorCores ? 1 : 0,
                 traits.tensorCores ? 1 : 0, evaluation.build ? 1 : 0};
    if (evaluation.timing && !evaluation.timing->cases.empty()) {
        const TimingRecord& timing = *evaluation.timing;
        json["p"] = nameOf(timing.cases.front().provenance);
        json["f"] = {pack(timing.objectiveUs), pack(timing.speedupRoot), pack(timing.speedupParent),
                     pack(timing.speedupIncumbent)};
        if (timing.again) {
            json["a"] = 1;
        }
        if (timing.tier == "full") {
            json["l"] = 1;
        }
        if (!timing.guardBroken.empty()) {
            json["g"] = timing.guardBroken;
        }
    }
    return json;
}

std::optional<EndedRecord> EndedRecord::fromJson(const Json& json)
{
    if (!json.is_object()) {
        return std::nullopt;
    }
    const auto outcome = outcomeNamed(textOf(fieldOf(json, "o")));
    const auto stage = stageNamed(textOf(fieldOf(json, "s")));
    if (!outcome || !stage) {
        return std::nullopt;
    }
    EndedRecord record;
    Evaluation& evaluation = record.evaluation;
    evaluation.outcome = *outcome;
    evaluation.stage = *stage;
    evaluation.cause = causeNamed(textOf(fieldOf(json, "c"))).value_or(NotRunCause::None);
    evaluation.reason = textOf(fieldOf(json, "r"));
    evaluation.epoch = textOf(fieldOf(json, "e"));
    record.identity = textOf(fieldOf(json, "i"));
    if (const Json& seconds = fieldOf(json, "d"); seconds.is_number()) {
        record.deviceSeconds = seconds.get<double>();
    }
    if (const Json& traits = fieldOf(json, "t"); traits.is_array() && traits.size() == 6) {
        record.traits.memory = static_cast<MemoryStrategy>(std::clamp(wholeOf(traits[0]), 0, 4));
        record.traits.size = std::clamp(wholeOf(traits[1]), 0, 3);
        record.build.occupancy = std::clamp(wholeOf(traits[2]), 0, 3);
        record.build.tensorCores = wholeOf(traits[3]) != 0;
        record.traits.tensorCores = wholeOf(traits[4]) != 0;
        if (wholeOf(traits[5]) != 0) {
            auto kernels = unpackKernels(fieldOf(json, "k"));
            if (!kernels) {
                return std::nullopt; // of an older version: the stages' records say it
            }
            evaluation.build = BuildRecord{}; // the rest of its contents is in the stage's record
            evaluation.build->program = textOf(fieldOf(json, "m"));
            evaluation.build->kernels = std::move(*kernels);
        }
    }
    if (json.contains("b")) {
        evaluation.evidence.push_back({std::string(banCheck), evaluation.reason});
    }
    const auto provenance = provenanceNamed(textOf(fieldOf(json, "p")));
    if (const Json& figures = fieldOf(json, "f"); provenance && figures.is_array() && figures.size() == 4) {
        TimingRecord timing;
        timing.cases.push_back({});
        timing.cases.front().provenance = *provenance;
        timing.objectiveUs = unpack(figures[0]);
        timing.speedupRoot = unpack(figures[1]);
        timing.speedupParent = unpack(figures[2]);
        timing.speedupIncumbent = unpack(figures[3]);
        timing.again = wholeOf(fieldOf(json, "a")) != 0;
        if (wholeOf(fieldOf(json, "l")) != 0) {
            timing.tier = "full";
        }
        timing.guardBroken = textOf(fieldOf(json, "g"));
        evaluation.timing = std::move(timing);
    }
    return record;
}

} // namespace espalier
