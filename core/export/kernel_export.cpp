// SPDX-License-Identifier: Apache-2.0
#include "core/export/kernel_export.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/export/export_check.h"
#include "core/export/export_text.h"
#include "core/export/task_folder.h"
#include "core/model/evaluation_json.h"
#include "core/model/language_standard.h"
#include "core/model/node_text.h"
#include "core/model/task_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

namespace espalier {

namespace {

namespace fs = std::filesystem;

/// What is written, in this order: path below the folder, content.
using Files = std::vector<std::pair<std::string, std::string>>;

Result<void> checkExportable(const ExportRequest& request)
{
    const NodeSummary& node = request.node.summary;
    if (request.form != "cuda") {
        return fail(ErrorCode::NotSupported,
                    fmt::format("the export form {} is not supported yet; use cuda", request.form));
    }
    if (!request.name.empty() && !task_fields::isIdentifier(request.name)) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("\"{}\" cannot name a C function: use letters, digits and _, and no keyword", request.name));
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
    if (node.olderEdition) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("node {0} passed under an earlier edition of the task, and only what passes the present "
                        "one is exported: judge it again with espalierctl steer {1} re-time --node {0}",
                        node.id.value, shellWord(fs::absolute(request.session.file).string())));
    }
    return {};
}

Json contractJson(const Contract& contract)
{
    Json outputs = Json::object();
    for (const Tolerance& tolerance : contract.tolerances) {
        outputs[tolerance.output] = {{"element_factor", tolerance.elementFactor},
                                     {"norm_factor", tolerance.normFactor},
                                     {"norm_sqrt_factor", tolerance.normSqrtFactor},
                                     {"reason", tolerance.reason}};
    }
    return {{"precision", contract.precision},
            {"unit_roundoff", contract.unitRoundoff},
            {"internal", contract.allowedInternal},
            {"element_factor", contract.elementFactor},
            {"norm_factor", 8 * contract.normFactor},
            {"norm_sqrt_factor", 0.45 * contract.normFactor},
            {"widened", outputs},
            {"bitwise", contract.deterministic}};
}

/// `source`: the exported file.
std::string evidenceOf(const ExportRequest& request, const ExportNames& names, const std::string& source,
                       const std::map<std::string, std::string>& taskFiles)
{
    const NodeSummary& node = request.node.summary;
    const BuildRecord build = request.node.evaluation.build.value_or(BuildRecord{});
    Json hashes = Json::object();
    for (const auto& [path, text] : taskFiles) {
        hashes[path] = sha256(text);
    }
    Json json;
    json["format"] = evidenceFormat;
    json["espalier"] = ESPALIER_VERSION;
    json["task"] = {{"id", request.task.id},
                    {"hash", request.task.hash},
                    {"folder", names.file + ".task"},
                    {"oracle", request.task.oracle.source.name},
                    {"sha256", hashes}};
    json["contract"] = contractJson(request.task.contract);
    json["session"] = {{"file", fs::path(request.session.file).filename().string()},
                       {"device", request.session.deviceName},
                       {"provenance", nameOf(node.provenance.value_or(request.session.provenance))},
                       {"epoch", node.epoch.empty() ? request.session.epoch : node.epoch},
                       {"seed", request.session.seed}};
    json["device"] = {{"name", request.session.deviceName},
                      {"architecture", build.architecture},
                      {"driver", request.driver.empty() ? Json(nullptr) : Json(request.driver)},
                      {"toolkit", build.toolkit}};
    json["node"] = {{"id", node.id.value},
                    {"title", node.title},
                    {"found_by", node.proposer},
                    {"idea", request.node.ideaText},
                    {"created_at", request.node.createdAt}};
    json["overturned"] = overturnJson(node.overturned); // "evaluation" below keeps the judge's word
    json["symbol"] = names.symbol;
    json["source_sha256"] = sha256(source);              // of NAME.cu
    json["kernel_sha256"] = sha256(request.node.source); // of what it holds, as it was judged
    json["evaluation"] = toJson(request.node.evaluation);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Files> filesOf(const ExportRequest& request)
{
    const ExportNames names = ExportNames::of(request.task, request.node.source, request.name);
    ESPALIER_TRY(const TaskFolder folder, taskFolderOf(request.task));
    const auto& taskFiles = folder.files;
    Task task = request.task; // with its headers where they are exported to
    task.build.includeRoots.clear();
    for (const std::string& root : folder.includeRoots) {
        task.build.includeRoots.push_back((fs::path(names.file + ".task") / root).lexically_normal().string());
    }
    const ExportSubject subject{task, request.node, request.session, names};
    const std::string source = exportedSource(subject);
    Files files = {{names.file + ".cu", source},
                   {names.file + ".h", exportedHeader(subject)},
                   {names.file + ".evidence.json", evidenceOf(request, names, source, taskFiles)}};
    for (const auto& [path, text] : taskFiles) {
        files.emplace_back(fmt::format("{}.task/{}", names.file, path), text);
    }
    std::string sums;
    for (const auto& [path, content] : files) {
        sums += fmt::format("{}  {}\n", sha256(content), path);
    }
    files.emplace_back(names.file + ".sha256", std::move(sums));
    return files;
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

fs::path unusedBackup(const fs::path& path)
{
    std::error_code error;
    for (int number = 1;; ++number) {
        fs::path backup = path.string() + (number == 1 ? ".bak" : fmt::format(".bak{}", number));
        if (!fs::exists(backup, error)) {
            return backup;
        }
    }
}

/// Keeps a copy of an existing file with other content, which stays until the new one takes its place.
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
    fs::path backup = unusedBackup(path);
    ESPALIER_CHECK(writeFileAtomically(backup, old));
    return Room{.needed = true, .backup = std::move(backup)};
}

/// An earlier edition of the task may have had other files: they are none of this one.
Result<void> setStrangersAside(const fs::path& folder, const Files& files, std::vector<std::string>& kept)
{
    std::map<std::string, std::string> known(files.begin(), files.end());
    for (const std::string& path : strangersIn(folder, fs::path(files.back().first).stem().string(), known)) {
        const fs::path backup = unusedBackup(folder / path);
        std::error_code error;
        fs::rename(folder / path, backup, error);
        if (error) {
            return fail(ErrorCode::Io, fmt::format("cannot rename {}: {}", (folder / path).string(), error.message()));
        }
        kept.push_back(backup.filename().string());
    }
    return {};
}

Result<void> writeInto(const fs::path& folder, const Files& files, std::vector<std::string>& kept)
{
    ESPALIER_CHECK(setStrangersAside(folder, files, kept));
    for (const auto& [relative, content] : files) {
        const fs::path path = folder / relative;
        ESPALIER_CHECK(makeDirectories(path.parent_path()));
        ESPALIER_TRY(const Room room, makeRoom(path, content));
        if (room.needed) {
            ESPALIER_CHECK(writeFileAtomically(path, content));
        }
        if (!room.backup.empty()) {
            kept.push_back(room.backup.filename().string());
        }
    }
    return {};
}

/// A folder that was not there appears whole, by one rename. False: somebody else has made it meanwhile.
Result<bool> writeAtOnce(const fs::path& folder, const Files& files)
{
    const fs::path beside =
        folder.parent_path() / fmt::format(".{}.{:08x}", folder.filename().string(), randomSeed() & 0xffffffff);
    std::vector<std::string> kept;
    std::error_code error, removed;
    Result<void> written = writeInto(beside, files, kept);
    if (written) {
        fs::rename(beside, folder, error);
    }
    const bool there = fs::exists(folder, removed);
    fs::remove_all(beside, removed);
    if (!written || (error && !there)) {
        return fail(ErrorCode::Io, fmt::format("cannot write {}: {}", folder.string(),
                                               written ? error.message() : written.error().message));
    }
    return !error;
}

} // namespace

Result<ExportedFiles> exportKernel(const ExportRequest& request)
{
    ESPALIER_CHECK(checkExportable(request));
    ESPALIER_TRY(const Files files, filesOf(request));
    std::error_code error;
    fs::path folder = fs::absolute(request.folder, error).lexically_normal();
    folder = folder.has_filename() ? folder : folder.parent_path(); // "out/"
    const std::string name = request.name.empty() ? request.task.entry : request.name;
    const auto before = nodeInEvidence(folder / (name + ".evidence.json"));
    bool done = false;
    if (!fs::exists(folder, error)) {
        ESPALIER_TRY(done, writeAtOnce(folder, files));
    }
    std::vector<std::string> kept;
    if (!done) {
        ESPALIER_CHECK(writeInto(folder, files, kept));
    }
    ExportedFiles written;
    for (const auto& [path, content] : files) {
        written.files.push_back((request.folder / path).string());
    }
    if (before && *before != request.node.summary.id && !kept.empty()) {
        written.replaced = fmt::format(
            "The files of node {} in {} are replaced by those of node {}; the old ones are kept there as {}.",
            before->value, request.folder.string(), request.node.summary.id.value, fmt::join(kept, ", "));
    }
    return written;
}

} // namespace espalier
