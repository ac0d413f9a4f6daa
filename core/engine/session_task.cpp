// SPDX-License-Identifier: Apache-2.0
#include "core/engine/session_task.h"

#include "core/base/text.h"
#include "core/model/task_loader.h"
#include "core/search/editions.h"
#include "core/search/renewed_figures.h"
#include "core/search/session_journal.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier::session_task {
namespace {

namespace fs = std::filesystem;

constexpr const char* incumbentKey = "incumbent.text";
constexpr std::size_t largestKept = std::size_t{16} << 20;

Result<Task> loadHere(std::string_view nameOrFolder)
{
    ESPALIER_TRY(Task task, loadTask(nameOrFolder));
    ESPALIER_CHECK(checkSupported(task));
    return task;
}

/// As the newest edition says; nullopt: the session does not carry it.
Result<std::optional<Task>> carried(Store& store)
{
    ESPALIER_TRY(const std::vector<StoredEdition> editions, store.editions());
    if (editions.empty()) {
        return std::nullopt;
    }
    ESPALIER_TRY(const TaskParts parts, TaskParts::fromJson(editions.back().parts));
    if (!parts.carriesTask()) {
        return std::nullopt;
    }
    ESPALIER_TRY(Task task,
                 parts.compose([&](const std::string& hash) { return store.text(hash); }, store.info().taskFolder));
    ESPALIER_CHECK(checkSupported(task));
    return task;
}

/// The places where a session of an older Espalier may find its task: as it was named (also seen from the session's
/// own folder), and by its id.
std::vector<std::string> placesOf(const SessionInfo& info)
{
    std::vector<std::string> places;
    if (const fs::path folder = info.taskFolder; !folder.empty()) {
        places.push_back(folder.string());
        if (folder.is_relative()) {
            places.push_back((fs::absolute(info.file).parent_path() / folder).lexically_normal().string());
        }
    }
    places.push_back(info.taskId);
    return places;
}

Result<Task> loadedAgain(const SessionInfo& info, const Loader& load)
{
    std::optional<Task> changed;
    for (const std::string& place : placesOf(info)) {
        Result<Task> task = load(place);
        if (task && task->id == info.taskId && task->hash == info.taskHash) {
            return task;
        }
        if (task) {
            changed = std::move(*task);
        } else if (task.error().code != ErrorCode::NotFound) {
            return task;
        }
    }
    const std::string what =
        changed ? fmt::format("task {} in {} has changed since {} was started", info.taskId, changed->folder, info.file)
                : fmt::format("the task {} of {} is not in {} any more", info.taskId, info.file, info.taskFolder);
    return fail(ErrorCode::InvalidInput,
                fmt::format("An older Espalier wrote this session and kept its task outside, and {}: name a folder "
                            "that holds the task as it was (espalierctl run FOLDER --session {}), or start a new "
                            "session.",
                            what, shellWord(fs::absolute(info.file).string())));
}

StoredEdition editionOf(const Task& task, const TaskParts& parts)
{
    return {.hash = task.hash, .parts = parts.toJson(), .createdAt = timestamp()};
}

std::string meaningOf(const EditionChange& change, std::int64_t edition, const Task& task)
{
    std::string means = change.root ? "the root is another kernel: it is timed beside the one before, and ratios follow"
                        : change.gate      ? "the root and what leads are verified and timed again"
                        : change.timing    ? "the root and what leads are timed again"
                        : change.objective ? "the objective is added up anew from the times that there are"
                                           : "records stay as they are";
    return fmt::format("Task {} in {} is taken over as edition {} (changed: {}): {}.", task.id, task.folder, edition,
                       change.parts.empty() ? "nothing that counts" : fmt::format("{}", fmt::join(change.parts, ", ")),
                       means);
}

/// From the session's newest edition; nullopt: it is that one.
Result<std::optional<EditionChange>> changeTo(Store& store, const TaskParts& parts)
{
    ESPALIER_TRY(const std::vector<StoredEdition> editions, store.editions());
    ESPALIER_TRY(const TaskParts before,
                 editions.empty() ? TaskParts::fromJson("{}") : TaskParts::fromJson(editions.back().parts));
    return parts.hashes() == before.hashes() ? std::nullopt : std::optional(before.changesTo(parts));
}

/// What the edition means for the nodes: the root's gets its source, and waits for a verdict where the old one does not
/// hold; where another objective is all that has changed, it is added up.
Result<void> renewNodes(Store& store, std::int64_t edition, const Task& task, const EditionChange& change)
{
    if (change.objective) { // while it is known which of the root's records are of the present one
        ESPALIER_CHECK(renewed_figures::addUp(store, task));
    }
    ESPALIER_TRY(std::optional<StoredNode> root, store.node(taskRoot)); // with its new figure
    ESPALIER_CHECK(editions::begin(store, edition, change, root ? root->source : std::string()));
    ESPALIER_TRY(const auto before, editions::rootOfRatios(store));
    if (before && *before == task.root.text) { // it came back before the one between was timed
        ESPALIER_CHECK(editions::ratiosRenewed(store));
    }
    if (!root || (!change.stale() && !change.root)) {
        return {};
    }
    root->source = task.root.text;
    root->state = NodeState::Queued;
    root->payload = "{}";
    return store.updateNode(*root);
}

} // namespace

Result<Task> of(Store& store, const Loader& load)
{
    ESPALIER_TRY(std::optional<Task> task, carried(store));
    return task ? Result<Task>(std::move(*task)) : loadedAgain(store.info(), load);
}

Result<Task> of(Store& store)
{
    return of(store, loadHere);
}

Result<void> keep(Store& store, const Task& task)
{
    if (store.info().edition > 0) {
        return {};
    }
    const TaskParts parts = TaskParts::of(task);
    ESPALIER_CHECK(store.addEdition(editionOf(task, parts), parts.texts()));
    return {};
}

Result<bool> isAnother(Store& store, const Task& task)
{
    ESPALIER_TRY(const auto change, changeTo(store, TaskParts::of(task)));
    if (change && change->prototype) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("Task {} in {} is another operation than that of {}: its id, entry or arguments have "
                                "changed, and kernels of one cannot serve the other; start a new session.",
                                task.id, task.folder, store.info().file));
    }
    return change.has_value();
}

Result<void> adopt(Store& store, const Task& task)
{
    const TaskParts parts = TaskParts::of(task);
    ESPALIER_TRY(const auto changed, changeTo(store, parts));
    const EditionChange change = changed.value_or(EditionChange());
    SessionInfo info = store.info();
    std::int64_t edition = 0;
    ESPALIER_CHECK(store.together([&]() -> Result<void> {
        ESPALIER_TRY(edition, store.addEdition(editionOf(task, parts), parts.texts()));
        info.taskHash = task.hash;
        info.taskTitle = task.title;
        info.taskFolder = task.folder;
        ESPALIER_CHECK(store.setInfo(info));
        return renewNodes(store, edition, task, change);
    }));
    const std::string& remark = store.info().remark; // about the file, which is no less true
    store.setRemark((remark.empty() ? "" : remark + " ") + meaningOf(change, edition, task));
    return {};
}

Result<std::optional<Incumbent>> incumbentOf(Store& store, const Task& task, bool named)
{
    const SessionInfo& info = store.info();
    if (info.incumbent.empty()) {
        return espalier::incumbentOf(task);
    }
    ESPALIER_TRY(const std::optional<std::string> hash, store.value(incumbentKey));
    ESPALIER_TRY(const std::optional<std::string> bytes,
                 hash ? store.text(*hash) : Result<std::optional<std::string>>(std::nullopt));
    if (bytes && !named) {
        return incumbentFrom(info.incumbent, *bytes, task);
    }
    auto loaded = loadIncumbent(info.incumbent, task);
    if (!loaded && bytes && loaded.error().code == ErrorCode::NotFound) {
        return incumbentFrom(info.incumbent, *bytes, task);
    }
    ESPALIER_TRY(Incumbent incumbent, std::move(loaded));
    if (!info.incumbentHash.empty() && incumbent.hash != info.incumbentHash) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("The incumbent {} has changed since {} was started: restore it, or start a new session.",
                        info.incumbent, info.file));
    }
    if (!bytes && incumbentBytes(incumbent).size() <= largestKept) {
        ESPALIER_CHECK(store.together([&]() -> Result<void> {
            ESPALIER_TRY(const std::string kept, store.keepText(incumbentBytes(incumbent)));
            return store.setValue(incumbentKey, kept);
        }));
    }
    return incumbent;
}

} // namespace espalier::session_task
