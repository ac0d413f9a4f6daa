// SPDX-License-Identifier: Apache-2.0
#include "core/worker/protocol.h"

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/model/evaluation_json.h"

#include <algorithm>
#include <array>

namespace espalier::worker {

namespace {

template <typename... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};

constexpr std::array<std::string_view, 3> sanitizingNames = {"off", "installed", "required"}; ///< in the enum's order
constexpr std::array<std::string_view, 4> profilingNames = {"off", "core", "full", "exact"};  ///< in the enum's order

std::string lineOf(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json baselinesToJson(const Evaluate& job)
{
    Json list = Json::array();
    for (const auto& [id, hash] : job.baselines) {
        list.push_back({{"id", id}, {"hash", hash}});
    }
    return list;
}

Json toJson(const Evaluate& job)
{
    Json json = {{"type", "evaluate"},
                 {"id", job.id.value},
                 {"task", job.task},
                 {"candidate", job.candidate},
                 {"root", job.root},
                 {"oracle", job.oracle},
                 {"cases", job.cases},
                 {"tier", nameOf(job.tier)},
                 {"regime", job.setting.regime},
                 {"mode", job.setting.mode},
                 {"rate", job.setting.rate},
                 {"verify_only", job.verifyOnly},
                 {"sanitize", sanitizingNames[static_cast<std::size_t>(job.sanitizing)]},
                 {"profile", profilingNames[static_cast<std::size_t>(job.profiling)]},
                 {"baselines", baselinesToJson(job)}};
    if (job.parent) {
        json["parent"] = *job.parent;
    }
    if (job.incumbent) {
        json["incumbent"] = {{"hash", job.incumbent->first}, {"symbol", job.incumbent->second}};
    }
    if (job.verified) {
        json["verified"] = espalier::toJson(*job.verified);
    }
    return json;
}

Json toJson(const HelloReply& hello)
{
    const JudgeHello& judge = hello.judge;
    return {{"type", "hello"},
            {"version", hello.version},
            {"device",
             {{"id", judge.deviceId},
              {"name", judge.deviceName},
              {"uuid", judge.uuid},
              {"driver", judge.driver},
              {"architecture", judge.architecture},
              {"simulated", judge.simulated},
              {"bytes", judge.deviceBytes}}},
            {"runtime", judge.runtime},
            {"provenance", espalier::nameOf(judge.provenance())},
            {"sandbox", judge.sandbox}};
}

/// One typed field; missing ones complain by themselves.
template <typename Getter>
auto field(const JsonReader& json, const char* name, Getter getter) -> decltype(std::invoke(getter, json))
{
    ESPALIER_TRY(const JsonReader value, json.at(name));
    return std::invoke(getter, value);
}

Result<RequestId> readId(const JsonReader& json)
{
    ESPALIER_TRY(const std::int64_t value, field(json, "id", &JsonReader::integer));
    return RequestId{value};
}

Result<std::string> readHash(const JsonReader& value)
{
    ESPALIER_TRY(std::string hash, value.string());
    const bool hexadecimal =
        std::all_of(hash.begin(), hash.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    if (hash.size() != 64 || !hexadecimal) {
        return value.complain("a SHA-256 as 64 lower-case hexadecimal digits");
    }
    return hash;
}

Result<std::vector<std::string>> readHashes(const JsonReader& json)
{
    ESPALIER_TRY(const JsonReader list, json.at("hashes"));
    ESPALIER_TRY(const std::vector<JsonReader> items, list.items());
    if (items.size() > maxHashes) {
        return list.complain("at most 256 hashes");
    }
    std::vector<std::string> hashes;
    for (const JsonReader& item : items) {
        ESPALIER_TRY(hashes.emplace_back(), readHash(item));
    }
    return hashes;
}

Result<Put> readPut(const JsonReader& json)
{
    Put put;
    ESPALIER_TRY(put.hash, field(json, "hash", readHash));
    ESPALIER_TRY(const std::string text, field(json, "base64", &JsonReader::string));
    bool ok = false;
    put.bytes = fromBase64(text, ok);
    if (!ok || put.bytes.size() > maxArtefactBytes) {
        return json.complain("base64 of at most 64 MiB");
    }
    if (sha256(put.bytes) != put.hash) {
        return json.complain("bytes whose SHA-256 is `hash`");
    }
    return put;
}

Result<std::vector<std::pair<std::string, std::string>>> readBaselines(const JsonReader& json)
{
    std::vector<std::pair<std::string, std::string>> baselines;
    if (!json.has("baselines")) {
        return baselines;
    }
    ESPALIER_TRY(const JsonReader list, json.at("baselines"));
    ESPALIER_TRY(const std::vector<JsonReader> items, list.items());
    for (const JsonReader& item : items) {
        std::pair<std::string, std::string> baseline;
        ESPALIER_TRY(baseline.first, field(item, "id", &JsonReader::string));
        ESPALIER_TRY(baseline.second, field(item, "hash", readHash));
        baselines.push_back(std::move(baseline));
    }
    return baselines;
}

Result<std::vector<std::string>> readCases(const JsonReader& json)
{
    std::vector<std::string> cases;
    if (json.has("cases")) {
        ESPALIER_TRY(const JsonReader list, json.at("cases"));
        ESPALIER_TRY(const std::vector<JsonReader> items, list.items());
        for (const JsonReader& item : items) {
            ESPALIER_TRY(cases.emplace_back(), item.string());
        }
    }
    return cases;
}

Result<TimingSetting> readSetting(const JsonReader& json)
{
    TimingSetting setting;
    if (json.has("regime")) {
        ESPALIER_TRY(setting.regime,
                     field(json, "regime", [](const JsonReader& value) { return value.oneOf({"cold", "steady"}); }));
    }
    if (json.has("mode")) {
        ESPALIER_TRY(setting.mode,
                     field(json, "mode", [](const JsonReader& value) { return value.oneOf({"offline", "server"}); }));
    }
    if (json.has("rate")) {
        ESPALIER_TRY(setting.rate, field(json, "rate", &JsonReader::number));
    }
    ESPALIER_CHECK(checkSetting(setting));
    return setting;
}

Result<Evaluate> readEvaluate(const JsonReader& json)
{
    Evaluate job;
    ESPALIER_TRY(job.id, readId(json));
    ESPALIER_TRY(job.task, field(json, "task", readHash));
    ESPALIER_TRY(job.candidate, field(json, "candidate", readHash));
    ESPALIER_TRY(job.root, field(json, "root", readHash));
    ESPALIER_TRY(job.oracle, field(json, "oracle", readHash));
    if (json.has("parent")) {
        ESPALIER_TRY(job.parent, field(json, "parent", readHash));
    }
    if (json.has("incumbent")) {
        ESPALIER_TRY(const JsonReader incumbent, json.at("incumbent"));
        ESPALIER_TRY(std::string hash, field(incumbent, "hash", readHash));
        ESPALIER_TRY(std::string symbol, field(incumbent, "symbol", &JsonReader::string));
        job.incumbent.emplace(std::move(hash), std::move(symbol));
    }
    ESPALIER_TRY(job.baselines, readBaselines(json));
    ESPALIER_TRY(job.cases, readCases(json));
    if (json.has("tier")) {
        ESPALIER_TRY(const std::string tier,
                     field(json, "tier", [](const JsonReader& value) { return value.oneOf({"quick", "full"}); }));
        job.tier = tier == "full" ? Tier::Full : Tier::Quick;
    }
    ESPALIER_TRY(job.setting, readSetting(json));
    if (json.has("verified")) {
        ESPALIER_TRY(const JsonReader record, json.at("verified"));
        ESPALIER_TRY(job.verified, espalier::fromJson<VerifyRecord>(record.value(), "verified"));
    }
    if (json.has("sanitize")) {
        ESPALIER_TRY(const std::string word, field(json, "sanitize", [](const JsonReader& value) {
                         return value.oneOf({"off", "installed", "required"});
                     }));
        const auto found = std::find(sanitizingNames.begin(), sanitizingNames.end(), word);
        job.sanitizing = static_cast<Sanitizing>(found - sanitizingNames.begin());
    }
    if (json.has("profile")) {
        ESPALIER_TRY(const std::string word, field(json, "profile", [](const JsonReader& value) {
                         return value.oneOf({"off", "core", "full", "exact"});
                     }));
        const auto found = std::find(profilingNames.begin(), profilingNames.end(), word);
        job.profiling = static_cast<Profiling>(found - profilingNames.begin());
    }
    if (json.has("verify_only")) {
        ESPALIER_TRY(job.verifyOnly, field(json, "verify_only", &JsonReader::boolean));
    }
    return job;
}

Result<int> readVersion(const JsonReader& json)
{
    ESPALIER_TRY(const std::int64_t version, field(json, "version", &JsonReader::integer));
    return static_cast<int>(std::clamp<std::int64_t>(version, -1, 1 << 30));
}

Result<HelloReply> readHelloReply(const JsonReader& json)
{
    HelloReply hello;
    ESPALIER_TRY(hello.version, readVersion(json));
    ESPALIER_TRY(const JsonReader device, json.at("device"));
    JudgeHello& judge = hello.judge;
    ESPALIER_TRY(judge.deviceId, field(device, "id", &JsonReader::string));
    ESPALIER_TRY(judge.deviceName, field(device, "name", &JsonReader::string));
    ESPALIER_TRY(judge.uuid, field(device, "uuid", &JsonReader::string));
    ESPALIER_TRY(judge.driver, field(device, "driver", &JsonReader::string));
    ESPALIER_TRY(judge.architecture, field(device, "architecture", &JsonReader::string));
    ESPALIER_TRY(judge.simulated, field(device, "simulated", &JsonReader::boolean));
    ESPALIER_TRY(const std::int64_t bytes, field(device, "bytes", &JsonReader::integer));
    judge.deviceBytes = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
    ESPALIER_TRY(judge.runtime, field(json, "runtime", &JsonReader::string));
    ESPALIER_TRY(judge.sandbox, field(json, "sandbox", &JsonReader::string));
    return hello;
}

Result<Progress> readProgress(const JsonReader& json)
{
    Progress progress;
    ESPALIER_TRY(progress.id, readId(json));
    ESPALIER_TRY(const std::string stage, field(json, "stage", &JsonReader::string));
    const std::optional<Stage> known = stageNamed(stage);
    if (!known) {
        return json.complain("a known stage");
    }
    progress.stage = *known;
    ESPALIER_TRY(progress.text, field(json, "text", &JsonReader::string));
    return progress;
}

Result<Verified> readVerified(const JsonReader& json)
{
    ESPALIER_TRY(const RequestId id, readId(json));
    ESPALIER_TRY(const JsonReader record, json.at("verify"));
    ESPALIER_TRY(VerifyRecord value, fromJson<VerifyRecord>(record.value(), "the judge's verify record"));
    return Verified{id, std::move(value)};
}

Result<Finished> readFinished(const JsonReader& json)
{
    ESPALIER_TRY(const RequestId id, readId(json));
    ESPALIER_TRY(const JsonReader evaluation, json.at("evaluation"));
    ESPALIER_TRY(Evaluation value, fromJson<Evaluation>(evaluation.value(), "the judge's evaluation"));
    return Finished{id, std::move(value)};
}

} // namespace

std::string_view nameOf(Tier tier)
{
    return tier == Tier::Full ? "full" : "quick";
}

std::string encode(const ToJudge& message)
{
    return lineOf(std::visit(
        Overloaded{
            [](const Hello& m) { return Json{{"type", "hello"}, {"version", m.version}}; },
            [](const Have& m) { return Json{{"type", "have"}, {"hashes", m.hashes}}; },
            [](const Put& m) { return Json{{"type", "put"}, {"hash", m.hash}, {"base64", toBase64(m.bytes)}}; },
            [](const Evaluate& m) { return toJson(m); },
            [](const Cancel& m) { return Json{{"type", "cancel"}, {"id", m.id.value}}; },
            [](const Quit&) { return Json{{"type", "quit"}}; },
        },
        message));
}

std::string encode(const FromJudge& message)
{
    return lineOf(std::visit(
        Overloaded{
            [](const HelloReply& m) { return toJson(m); },
            [](const Missing& m) { return Json{{"type", "missing"}, {"hashes", m.hashes}}; },
            [](const Stored& m) { return Json{{"type", "stored"}, {"hash", m.hash}}; },
            [](const Progress& m) {
                return Json{
                    {"type", "progress"}, {"id", m.id.value}, {"stage", espalier::nameOf(m.stage)}, {"text", m.text}};
            },
            [](const Verified& m) {
                return Json{{"type", "verified"}, {"id", m.id.value}, {"verify", espalier::toJson(m.record)}};
            },
            [](const Finished& m) {
                return Json{{"type", "finished"}, {"id", m.id.value}, {"evaluation", espalier::toJson(m.evaluation)}};
            },
            [](const Complaint& m) { return Json{{"type", "error"}, {"message", m.message}}; },
        },
        message));
}

Result<ToJudge> decodeToJudge(std::string_view line)
{
    ESPALIER_TRY(const Json json, parseJson(line, "message"));
    const JsonReader reader(json, "message");
    ESPALIER_TRY(const std::string type, field(reader, "type", &JsonReader::string));
    if (type == "hello") {
        ESPALIER_TRY(const int version, readVersion(reader));
        return Hello{version};
    }
    if (type == "have") {
        ESPALIER_TRY(std::vector<std::string> hashes, readHashes(reader));
        return Have{std::move(hashes)};
    }
    if (type == "put") {
        return readPut(reader);
    }
    if (type == "evaluate") {
        return readEvaluate(reader);
    }
    if (type == "cancel") {
        ESPALIER_TRY(const RequestId id, readId(reader));
        return Cancel{id};
    }
    if (type == "quit") {
        return Quit{};
    }
    return reader.complain("type hello, have, put, evaluate, cancel or quit");
}

Result<FromJudge> decodeFromJudge(std::string_view line)
{
    ESPALIER_TRY(const Json json, parseJson(line, "judge's message"));
    const JsonReader reader(json, "judge's message");
    ESPALIER_TRY(const std::string type, field(reader, "type", &JsonReader::string));
    if (type == "hello") {
        return readHelloReply(reader);
    }
    if (type == "missing") {
        ESPALIER_TRY(std::vector<std::string> hashes, readHashes(reader));
        return Missing{std::move(hashes)};
    }
    if (type == "stored") {
        ESPALIER_TRY(std::string hash, field(reader, "hash", readHash));
        return Stored{std::move(hash)};
    }
    if (type == "progress") {
        return readProgress(reader);
    }
    if (type == "verified") {
        return readVerified(reader);
    }
    if (type == "finished") {
        return readFinished(reader);
    }
    if (type == "error") {
        ESPALIER_TRY(std::string message, field(reader, "message", &JsonReader::string));
        return Complaint{std::move(message)};
    }
    return reader.complain("type hello, missing, stored, progress, verified, finished or error");
}

} // namespace espalier::worker
