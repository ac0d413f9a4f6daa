// SPDX-License-Identifier: Apache-2.0
#include "core/export/kernel_export.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/model/evaluation_json.h"
#include "core/model/node_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

namespace espalier {

namespace {

namespace fs = std::filesystem;

Result<void> checkExportable(const ExportRequest& request)
{
    const NodeSummary& node = request.node.summary;
    if (request.form != "cuda") {
        return fail(ErrorCode::NotSupported,
                    fmt::format("the export form {} is not supported yet; use cuda", request.form));
    }
    if (node.kind == NodeKind::Idea || request.node.source.empty()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("node {} has no source to export; choose a candidate", node.id.value));
    }
    if (node.state != NodeState::Done || node.outcome != Outcome::Passed) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("node {} did not pass ({}); only kernels that passed are exported", node.id.value,
                                node.state == NodeState::Done ? outcomeText(node) : std::string(nameOf(node.state))));
    }
    return {};
}

std::string timeLine(const CaseTiming& timing)
{
    const char* sign = timing.provenance == Provenance::Model ? "modelled, not measured: " : "";
    std::string line = fmt::format("case {}: {}{:.4g} us per call", timing.caseId, sign, timing.timeUs.value);
    if (timing.speedupRoot) {
        const Interval& speedup = *timing.speedupRoot;
        line += fmt::format(", {:.3g}x of the root kernel", speedup.value);
        line += speedup.low == speedup.high // a modelled figure has no noise
                    ? ""
                    : fmt::format(" (95 % interval {:.3g} to {:.3g})", speedup.low, speedup.high);
    }
    return line;
}

/// Text of others in a // comment: no end of a line in it, and no backslash that would draw the next line in.
std::string inComment(std::string text)
{
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
    while (text.ends_with('\\') || text.ends_with(' ')) {
        text.pop_back();
    }
    return text;
}

/// Who says that the kernel is right: what a person passed is never called verified.
std::string verdictHead(const ExportRequest& request)
{
    const NodeSummary& node = request.node.summary;
    if (!node.overturned) {
        return fmt::format("// Verified against the fp64 oracle of task {} on {}.\n", request.task.id,
                           request.session.deviceName);
    }
    const Overturn& overturn = *node.overturned;
    return fmt::format("// {}\n// {}\n",
                       inComment(fmt::format("Passed by hand, not by the judge ({}, {}): {}", overturn.author,
                                             overturn.at, overturn.reason)),
                       inComment(fmt::format("The judge's verdict in task {} on {}: {}", request.task.id,
                                             request.session.deviceName, judgedText(node))));
}

std::string headOf(const ExportRequest& request)
{
    const NodeSummary& node = request.node.summary;
    std::string head = "// SPDX-License-Identifier: 0BSD\n";
    head += fmt::format("// {}\n", inComment(fmt::format("{}: exported by Espalier from node {} (\"{}\", by {}).",
                                                         request.task.title, node.id.value, node.title,
                                                         node.proposer.empty() ? "the task's author" : node.proposer)));
    head += verdictHead(request);
    if (request.node.evaluation.timing) {
        for (const CaseTiming& timing : request.node.evaluation.timing->cases) {
            head += fmt::format("//   {}\n", timeLine(timing));
        }
    }
    const BuildRecord build = request.node.evaluation.build.value_or(BuildRecord{});
    std::string_view number = build.architecture; // "sm_90a"
    number.remove_prefix(number.starts_with("sm_") ? 3 : 0);
    head +=
        fmt::format("// Built with nvcc {} for sm_{}: nvcc -std=c++17 -gencode arch=compute_{},code=sm_{} -c {}.cu\n",
                    build.toolkit, number, number, number, request.task.entry);
    head += fmt::format("#include \"{}.h\"\n\n", request.task.entry);
    return head;
}

std::string evidenceOf(const ExportRequest& request)
{
    const NodeSummary& node = request.node.summary;
    Json json;
    json["format"] = "espalier-evidence-1";
    json["task"] = {{"id", request.task.id}, {"hash", request.task.hash}};
    json["session"] = {{"file", fs::path(request.session.file).filename().string()},
                       {"device", request.session.deviceName},
                       {"provenance", nameOf(request.session.provenance)},
                       {"epoch", request.session.epoch},
                       {"seed", request.session.seed}};
    json["node"] = {{"id", node.id.value},
                    {"title", node.title},
                    {"found_by", node.proposer},
                    {"idea", request.node.ideaText},
                    {"created_at", request.node.createdAt}};
    json["overturned"] = overturnJson(node.overturned); // "evaluation" below keeps the judge's word
    json["source_sha256"] = sha256(request.node.source);
    json["evaluation"] = toJson(request.node.evaluation);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The node whose evidence stands in a file; nullopt: there is none that can be read.
std::optional<NodeId> nodeInEvidence(const fs::path& path)
{
    const auto text = readFile(path);
    const auto json = text ? parseJson(*text, "evidence") : Result<Json>(Json());
    const Json node = json && json->is_object() ? json->value("node", Json()) : Json();
    const Json id = node.is_object() ? node.value("id", Json()) : Json();
    return id.is_number_integer() ? std::optional(NodeId{id.get<std::int64_t>()}) : std::nullopt;
}

/// What became of a file.
struct Room {
    bool needed = true; ///< false: the same content stands there
    fs::path backup;    ///< where the old file is kept; empty: there was none
};

/// Moves an existing file with other content out of the way.
Result<Room> makeRoom(const fs::path& path, std::string_view content)
{
    std::error_code error;
    if (!fs::exists(path, error)) {
        return Room{};
    }
    ESPALIER_TRY(const std::string old, readFile(path));
    if (old == content) {
        return Room{.needed = false, .backup = {}};
    }
    for (int number = 1;; ++number) {
        const fs::path backup = path.string() + (number == 1 ? ".bak" : fmt::format(".bak{}", number));
        if (!fs::exists(backup, error)) {
            fs::rename(path, backup, error);
            if (error) {
                return fail(ErrorCode::Io, fmt::format("cannot keep the existing {} as {}: {}", path.string(),
                                                       backup.string(), error.message()));
            }
            return Room{.needed = true, .backup = backup};
        }
    }
}

} // namespace

Result<ExportedFiles> exportKernel(const ExportRequest& request)
{
    ESPALIER_CHECK(checkExportable(request));
    ESPALIER_CHECK(makeDirectories(request.folder));
    const std::pair<const char*, std::string> files[] = {
        {".cu", headOf(request) + request.node.source},
        {".h", request.prototype},
        {".evidence.json", evidenceOf(request)},
    };
    const auto before = nodeInEvidence(request.folder / (request.task.entry + ".evidence.json"));
    ExportedFiles written;
    std::vector<std::string> kept;
    for (const auto& [suffix, content] : files) {
        const fs::path path = request.folder / (request.task.entry + suffix);
        ESPALIER_TRY(const Room room, makeRoom(path, content));
        if (room.needed) {
            ESPALIER_CHECK(writeFileAtomically(path, content));
        }
        if (!room.backup.empty()) {
            kept.push_back(room.backup.filename().string());
        }
        written.files.push_back(path.string());
    }
    if (before && *before != request.node.summary.id && !kept.empty()) {
        written.replaced = fmt::format(
            "The files of node {} in {} are replaced by those of node {}; the old ones are kept there as {}.",
            before->value, request.folder.string(), request.node.summary.id.value, fmt::join(kept, ", "));
    }
    return written;
}

} // namespace espalier
