// SPDX-License-Identifier: Apache-2.0
#include "core/export/export_check.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/model/evaluation_json.h"
#include "core/model/node_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view sums = ".sha256", evidence = ".evidence.json";

/// Lines as sha256sum writes them: path -> hash. nullopt: the text is no such list.
std::optional<std::map<std::string, std::string>> sumsIn(std::string_view text)
{
    constexpr std::size_t digits = 64;
    std::map<std::string, std::string> all;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos || end < digits + 3 || text.substr(digits, 2) != "  ") {
            return std::nullopt;
        }
        all.emplace(text.substr(digits + 2, end - digits - 2), text.substr(0, digits));
        text.remove_prefix(end + 1);
    }
    return all.empty() ? std::nullopt : std::optional(std::move(all));
}

bool staysInside(const std::string& path)
{
    const fs::path relative(path);
    return !path.empty() && relative.is_relative() &&
           std::none_of(relative.begin(), relative.end(), [](const fs::path& part) { return part == ".."; });
}

/// Whether a list of hashes is an export's: others write such files, too.
bool namesEvidence(const fs::path& list, const std::string& name)
{
    const auto text = readFile(list);
    const auto known = text ? sumsIn(*text) : std::nullopt;
    return known && known->contains(name + std::string(evidence));
}

std::string ratioText(const TimingRecord& timing, Provenance provenance)
{
    return timing.speedupRoot ? fmt::format(", {} of the root", speedupText(*timing.speedupRoot, provenance)) : "";
}

/// The objective's time; of a record without one that of its first case.
std::optional<Interval> timeOf(const Evaluation& evaluation)
{
    const auto& timing = evaluation.timing;
    return !timing || timing->cases.empty() ? std::nullopt
           : timing->objectiveUs            ? timing->objectiveUs
                                            : std::optional(timing->cases.front().timeUs);
}

} // namespace

std::string_view nameOf(EvidenceState state)
{
    return state == EvidenceState::Holds ? "holds" : state == EvidenceState::Broken ? "broken" : "unknown";
}

std::vector<std::string> strangersIn(const fs::path& folder, const std::string& name,
                                     const std::map<std::string, std::string>& known)
{
    std::vector<std::string> strangers;
    std::error_code error;
    const fs::path task = folder / (name + ".task");
    for (fs::recursive_directory_iterator entry(task, error), end; !error && entry != end; entry.increment(error)) {
        std::string path = entry->path().lexically_relative(folder).generic_string();
        if (const std::size_t bak = path.rfind(".bak"); bak != std::string::npos && bak > path.rfind('/')) {
            continue; // what an earlier export was
        }
        if (!entry->is_directory(error) && !known.contains(path)) {
            strangers.push_back(std::move(path));
        }
    }
    return strangers;
}

Result<std::vector<std::string>> exportsIn(const fs::path& folder)
{
    std::set<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const std::string file = entry->path().filename().string();
        for (const std::string_view suffix : {sums, evidence}) {
            std::string name = file.substr(0, file.size() - std::min(file.size(), suffix.size()));
            if (file.ends_with(suffix) && !name.empty() && (suffix == evidence || namesEvidence(entry->path(), name))) {
                names.insert(std::move(name));
            }
        }
    }
    if (error) {
        return fail(ErrorCode::NotFound, fmt::format("{} cannot be read: {}", folder.string(), error.message()));
    }
    if (names.empty()) {
        return fail(ErrorCode::NotFound,
                    fmt::format("{} holds no export: name the folder that was given to export --to", folder.string()));
    }
    return std::vector<std::string>(names.begin(), names.end());
}

std::string changedSince(const fs::path& folder, const std::string& name)
{
    const std::string list = name + std::string(sums);
    const auto text = readFile(folder / list);
    if (!text) {
        return fmt::format("{} is missing", list);
    }
    const auto known = sumsIn(*text);
    if (!known) {
        return fmt::format("{} is no list of hashes any more", list);
    }
    for (const char* suffix : {".cu", ".h", ".evidence.json"}) {
        if (!known->contains(name + suffix)) {
            return fmt::format("{} does not name {}{}", list, name, suffix);
        }
    }
    for (const auto& [path, hash] : *known) {
        if (!staysInside(path)) {
            return fmt::format("{} names {}, which lies outside", list, path);
        }
        const auto content = readFile(folder / path);
        if (!content) {
            return fmt::format("{} is missing", path);
        }
        if (sha256(*content) != hash) {
            return fmt::format("{} is not what was exported", path);
        }
    }
    const auto strangers = strangersIn(folder, name, *known);
    return strangers.empty() ? "" : fmt::format("{} was not exported", strangers.front());
}

std::string olderFormat(const fs::path& folder, const std::string& name)
{
    const std::string file = name + std::string(evidence);
    std::error_code error;
    const auto text = readFile(folder / file);
    const auto json = text ? parseJson(*text, file) : Result<Json>(Json());
    const Json format = json && json->is_object() ? json->value("format", Json()) : Json();
    if (!format.is_string() || format == evidenceFormat || fs::exists(folder / (name + std::string(sums)), error)) {
        return "";
    }
    return fmt::format("{} is {}, which this version cannot verify: export the kernel again", file,
                       printable(format.get<std::string>(), 40));
}

Result<StoredExport> readExport(const fs::path& folder, const std::string& name)
{
    const std::string file = name + std::string(evidence);
    ESPALIER_TRY(const std::string text, readFile(folder / file));
    ESPALIER_TRY(const Json json, parseJson(text, file));
    StoredExport stored;
    stored.name = name;
    stored.folder = folder;
    ESPALIER_TRY(stored.source, readFile(folder / (name + ".cu")));
    std::error_code error;
    stored.task = fs::absolute(folder / (name + ".task"), error);
    const auto part = [](const Json& at, const char* field) {
        return at.is_object() && at.contains(field) ? at[field] : Json();
    };
    const Json session = part(json, "session"), device = part(session, "device");
    const Json provenance = part(session, "provenance"), node = part(part(json, "node"), "id");
    const auto known = provenance.is_string() ? provenanceNamed(provenance.get<std::string>()) : std::nullopt;
    if (!known || !device.is_string() || !node.is_number_integer() || !part(json, "evaluation").is_object()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{} is no evidence that this version can read: export the kernel again", file));
    }
    stored.provenance = *known;
    stored.device = device.get<std::string>();
    stored.node = node.get<std::int64_t>();
    stored.byHand = !part(json, "overturned").is_null();
    ESPALIER_TRY(stored.evaluation, fromJson<Evaluation>(json["evaluation"], file));
    if (part(json, "source_sha256") != sha256(stored.source)) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{} is not of {}.cu as it lies there: export the kernel again", file, name));
    }
    return stored;
}

EvidenceVerdict heldAgainst(const StoredExport& stored, const Evaluation& now, const std::string& device)
{
    const Evaluation& then = stored.evaluation;
    const std::string what = fmt::format("node {} on {}", stored.node, device);
    if (device != stored.device) {
        return {EvidenceState::Unknown,
                fmt::format("it is of {}, and this is {}: verify it there", stored.device, device)};
    }
    if (now.outcome == Outcome::NotRun) {
        return {EvidenceState::Unknown, fmt::format("it could not be judged: {}", now.reason)};
    }
    if (now.outcome != then.outcome) {
        return {EvidenceState::Broken, fmt::format("{} is {} now: {}", what, nameOf(now.outcome), now.reason)};
    }
    if (now.outcome != Outcome::Passed) { // passed by hand: the judge's word was kept beside it
        return {EvidenceState::Holds,
                fmt::format("the judge still says {} of {}, which was passed by hand", nameOf(now.outcome), what)};
    }
    const auto timeThen = timeOf(then), timeNow = timeOf(now);
    if (!timeThen || !timeNow) {
        return {EvidenceState::Holds, fmt::format("{} passed again; no time stands in it", what)};
    }
    const double margin = stored.provenance == Provenance::Model ? 0.001 : 0.03;
    const bool slowerTime = timeNow->low > timeThen->high * (1 + margin);
    const auto &ratioThen = then.timing->speedupRoot, &ratioNow = now.timing->speedupRoot;
    const bool slowerRatio = ratioThen && ratioNow && ratioNow->high * (1 + margin) < ratioThen->low;
    const std::string figures = fmt::format(
        "{}{} now, {}{} then", timeText(timeNow->value, stored.provenance), ratioText(*now.timing, stored.provenance),
        timeText(timeThen->value, stored.provenance), ratioText(*then.timing, stored.provenance));
    if (slowerTime || slowerRatio) {
        return {EvidenceState::Broken, fmt::format("{} passed again and is slower: {}", what, figures)};
    }
    return {EvidenceState::Holds, fmt::format("{} passed again: {}", what, figures)};
}

} // namespace espalier
