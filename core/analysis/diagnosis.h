// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/analysis/roofline.h"
#include "core/model/evaluation.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// What the rules look at, taken from one evaluation. Metrics that were not counted are absent: a rule that needs one
/// says nothing.
struct ProfileFacts {
    std::map<std::string, double, std::less<>> metrics;
    std::map<std::string, double, std::less<>>
        stallShare; ///< by reason: of all stalled warps, 0 to 1, issued ones left out
    std::optional<Roofline> roofline;
    const ProfileRecord* profile = nullptr;

    static ProfileFacts of(const Evaluation& evaluation); ///< refers to `evaluation`
    std::optional<double> metric(std::string_view id) const;
    double stall(std::string_view reason) const;   ///< 0: not counted
    double percentOf(std::string_view roof) const; ///< of a level or unit; 0: not known
};

/// A line of the candidate and its part in what was found.
struct DiagnosisLine {
    std::string file;
    int line = 0;
    double share = 0; ///< of all samples with the reasons looked at, 0 to 1
    bool operator==(const DiagnosisLine&) const = default;
};

struct Diagnosis {
    std::string rule;                 ///< id of the row
    std::string sentence;             ///< with its figures
    std::string advice;               ///< what usually helps
    double gainPercent = 0;           ///< of the time, at most, if it were fixed; an estimate of the rule's formula. 0:
                                      ///< cannot be told
    std::vector<DiagnosisLine> lines; ///< at most three, the heaviest first; empty: no samples
    Provenance provenance = Provenance::Model;
};

/// One rule: a row of a table.
struct DiagnosisRule {
    std::string_view id;
    std::string_view formula;   ///< what is looked at, in words and metric ids
    std::string_view threshold; ///< from where on it speaks
    std::string_view gain;      ///< formula of the expected gain
    std::string_view advice;
    std::string_view reasons; ///< stall reasons whose samples give its lines, comma-separated; empty: none
    /// What it finds, without advice and lines; nothing below its threshold or without its metrics.
    std::optional<Diagnosis> (*look)(const ProfileFacts& facts);
};
std::span<const DiagnosisRule> diagnosisRules();

/// All that the rules find, what gains most first. Nothing without a profile. Pure.
std::vector<Diagnosis> diagnose(const Evaluation& evaluation);

/// One line of text each, for the engineer's card and for prompts: "sectors … 16 where 4 would do (candidate.cu:12, 40
/// %); at most 35 % of the time to gain. Advice." The roofline's sentence comes first.
std::vector<std::string> diagnosisLines(const Evaluation& evaluation);

/// Samples by source line of the candidate, the heaviest first, and the reason most of them have.
struct LineSamples {
    std::string file;
    int line = 0;
    std::uint64_t samples = 0;
    std::map<std::string, std::uint64_t> reasons;
};
/// `reasons`: only these; empty: all. Inlined instructions count for the innermost place in a .cu file, not a header's.
std::vector<LineSamples> samplesByLine(const ProfileRecord& profile, const std::vector<std::string>& reasons = {});

} // namespace espalier
