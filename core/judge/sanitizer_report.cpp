// SPDX-License-Identifier: Apache-2.0
#include "core/judge/sanitizer_report.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace espalier::judge {

namespace {

constexpr std::string_view mark = "=========";
constexpr std::size_t mostFindings = 8;
constexpr std::size_t longestFinding = 400;

/// The whole number in front of `unit`: "3 errors" -> 3.
std::optional<int> countBefore(std::string_view line, std::string_view unit)
{
    const std::size_t end = line.find(unit);
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    std::size_t begin = end;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') {
        --begin;
    }
    int count = 0;
    const auto parsed = std::from_chars(line.data() + begin, line.data() + end, count);
    return parsed.ec == std::errc() && begin != end ? std::optional(count) : std::nullopt;
}

/// Errors of a summary line; nullopt for any other line. racecheck counts hazards: a warning is one too.
std::optional<int> summaryOf(std::string_view tool, std::string_view line)
{
    const std::string_view title = tool == "racecheck" ? "RACECHECK SUMMARY: " : "ERROR SUMMARY: ";
    if (!line.starts_with(title)) {
        return std::nullopt;
    }
    const std::string_view rest = line.substr(title.size());
    return tool == "racecheck" ? countBefore(rest, " hazard") : countBefore(rest, " error");
}

/// Lines that are no finding: what the tool says of itself.
bool isChatter(std::string_view line)
{
    return line.empty() || line == "COMPUTE-SANITIZER" || line.find("SUMMARY:") != std::string_view::npos ||
           line.starts_with("Target application returned an error");
}

/// A call of the runtime that was refused for want of registers, shared memory or memory.
bool isRefusal(std::string_view line)
{
    constexpr std::array refusals = {std::string_view("(error 701)"), std::string_view("(error 2)")};
    return line.starts_with("Program hit ") &&
           std::any_of(refusals.begin(), refusals.end(),
                       [line](std::string_view code) { return line.find(code) != std::string_view::npos; });
}

/// "at racing(float*)+0x130 in candidate.cu:41" out of the lines below a finding's first.
bool isPlace(std::string_view line)
{
    return line.starts_with("at ") || line.find(".cu:") != std::string_view::npos;
}

/// "racing(float*)" out of "… access at racing(float*)+0x130 in candidate.cu:41".
void addFunction(std::string_view line, std::vector<std::string>& functions)
{
    constexpr std::string_view before = "at ";
    const std::size_t end = line.find("+0x");
    const std::size_t access = line.starts_with(before) ? 0 : line.find(" access at ");
    if (end == std::string_view::npos || access == std::string_view::npos || access > end) {
        return;
    }
    const std::size_t begin = line.find(before, access) + before.size();
    std::string name = printable(line.substr(begin, end - std::min(begin, end)), longestFinding);
    if (std::find(functions.begin(), functions.end(), name) == functions.end()) {
        functions.push_back(std::move(name));
    }
}

} // namespace

SanitizerReport parseSanitizerReport(std::string_view tool, std::string_view text)
{
    SanitizerReport report;
    int summaries = 0, found = 0, refused = 0;
    bool open = false; // a finding whose place has not been seen yet
    for (std::string_view line : splitOn(text, '\n')) {
        if (!line.starts_with(mark)) {
            continue;
        }
        line.remove_prefix(mark.size());
        const bool detail = line.starts_with("    "); // indented: belongs to the finding above
        const std::string_view words = trimmed(line);
        addFunction(words, report.functions);
        if (const auto count = summaryOf(tool, words)) {
            ++summaries;
            report.errors = std::max(report.errors, *count);
            open = false;
        } else if (detail) {
            if (open && isPlace(words)) {
                report.findings.back() += fmt::format(" {}", printable(words, longestFinding));
                open = false;
            }
        } else if (!isChatter(words)) {
            ++found;
            refused += isRefusal(words) ? 1 : 0;
            open = report.findings.size() < mostFindings;
            if (open) {
                report.findings.push_back(printable(words, longestFinding));
            }
        }
    }
    std::vector<std::string> kept;
    for (std::string& finding : report.findings) {
        if (std::find(kept.begin(), kept.end(), finding) == kept.end()) {
            kept.push_back(std::move(finding));
        }
    }
    report.findings = std::move(kept);
    // One summary, and not fewer errors than findings: a summary of none below a finding is not the tool's own.
    report.noRoom = found > 0 && refused == found;
    report.complete = summaries == 1 && (found == 0 || report.errors > 0);
    report.errors = std::max(report.errors, found > 0 ? 1 : 0);
    return report;
}

} // namespace espalier::judge
