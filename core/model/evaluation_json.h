// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/model/evaluation.h"

#include <string>
#include <string_view>

namespace espalier {

/// Evaluation records as JSON and back: the one form that the store, the worker protocol and `--json` share.
/// Lossless: every field, doubles with all their digits (NaN and infinities as the texts "nan", "inf", "-inf"), enums
/// by their names. Texts that are not UTF-8 are made printable, so that dump() never throws. Reading ignores fields it
/// does not know (a newer writer) and gives missing ones their default (an older writer). Thread: any. Errors:
/// InvalidInput naming `name`, field and what was expected; a record of a wrong shape is never half read.
Json toJson(const Interval& interval);
Json toJson(const Evidence& evidence);
Json toJson(const CompileMessage& message);
Json toJson(const KernelResources& resources);
Json toJson(const BuildRecord& record);
Json toJson(const OutputError& error);
Json toJson(const RepeatRecord& record);
Json toJson(const VerifyRecord& record);
Json toJson(const SanitizerFinding& finding);
Json toJson(const CaseTiming& timing);
Json toJson(const TimingRecord& record);
Json toJson(const ActivityFacts& activity);
Json toJson(const MetricValue& metric);
Json toJson(const ProfileRecord& profile);
Json toJson(const Evaluation& evaluation);

/// Instantiated for every record above: `fromJson<Evaluation>(json, "judge's answer")`.
template <typename Record>
Result<Record> fromJson(const Json& json, std::string_view name);
template <>
Result<Interval> fromJson<Interval>(const Json& json, std::string_view name);
template <>
Result<Evidence> fromJson<Evidence>(const Json& json, std::string_view name);
template <>
Result<CompileMessage> fromJson<CompileMessage>(const Json& json, std::string_view name);
template <>
Result<KernelResources> fromJson<KernelResources>(const Json& json, std::string_view name);
template <>
Result<BuildRecord> fromJson<BuildRecord>(const Json& json, std::string_view name);
template <>
Result<OutputError> fromJson<OutputError>(const Json& json, std::string_view name);
template <>
Result<RepeatRecord> fromJson<RepeatRecord>(const Json& json, std::string_view name);
template <>
Result<VerifyRecord> fromJson<VerifyRecord>(const Json& json, std::string_view name);
template <>
Result<SanitizerFinding> fromJson<SanitizerFinding>(const Json& json, std::string_view name);
template <>
Result<CaseTiming> fromJson<CaseTiming>(const Json& json, std::string_view name);
template <>
Result<TimingRecord> fromJson<TimingRecord>(const Json& json, std::string_view name);
template <>
Result<ActivityFacts> fromJson<ActivityFacts>(const Json& json, std::string_view name);
template <>
Result<ProfileRecord> fromJson<ProfileRecord>(const Json& json, std::string_view name);
template <>
Result<MetricValue> fromJson<MetricValue>(const Json& json, std::string_view name);
template <>
Result<Evaluation> fromJson<Evaluation>(const Json& json, std::string_view name);

/// The same from and to text.
std::string toJsonText(const Evaluation& evaluation);
Result<Evaluation> evaluationFromText(std::string_view text, std::string_view name);

/// What `eval --json` prints (DESIGN.md section 8): toJson plus "provenance" on top, and "metrics" as an object by id.
Json evaluationReport(const Evaluation& evaluation);

} // namespace espalier
