// SPDX-License-Identifier: Apache-2.0
#include "core/model/task_parts.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/model/task_loader.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t mostHeaderBytes = std::size_t{16} << 20;
constexpr std::string_view filePrefix = "file:", headerPrefix = "include:";

/// The fields of an object that are named, where it has them.
Json only(const Json& object, std::initializer_list<const char*> fields)
{
    Json kept = Json::object();
    for (const char* field : fields) {
        if (object.is_object() && object.contains(field)) {
            kept[field] = object[field];
        }
    }
    return kept;
}

Json eachOf(const Json& task, const char* list, std::initializer_list<const char*> fields)
{
    Json kept = Json::array();
    for (const Json& one : task.value(list, Json::array())) {
        kept.push_back(only(one, fields));
    }
    return kept;
}

/// The cases of the task that have one of the roles.
Json casesWith(const Task& task, const Json& json, std::initializer_list<CaseRole> roles)
{
    Json kept = Json::array();
    const Json cases = json.value("cases", Json::array());
    for (std::size_t i = 0; i < task.cases.size() && i < cases.size(); ++i) {
        const TaskCase& one = task.cases[i];
        if (std::any_of(roles.begin(), roles.end(), [&](CaseRole role) { return one.has(role); })) {
            kept.push_back(only(cases[i], {"name", "parameters", "values", "variant"}));
        }
    }
    return kept;
}

std::string both(const Json& json, const std::string& text)
{
    return json.dump() + "\n" + text;
}

std::string playbookOf(const Task& task)
{
    std::string text;
    for (const PlaybookIdea& idea : task.playbook) {
        const Json one = {{"id", idea.id}, {"parent", idea.parent}, {"title", idea.title}, {"idea", idea.text}};
        text += both(one, idea.source.text) + "\n";
    }
    return text;
}

std::string baselinesOf(const Task& task, const Json& json)
{
    std::string text = eachOf(json, "baselines", {"id", "libraries", "headline", "cases"}).dump() + "\n";
    for (const Baseline& baseline : task.baselines) {
        text += baseline.source.text + "\n";
    }
    return text;
}

std::string headerRole(std::string_view path)
{
    return std::string(headerPrefix) + std::string(path);
}

/// A folder's path below the task's; empty: it lies elsewhere.
std::string within(const fs::path& folder, const std::string& task)
{
    std::error_code error;
    const fs::path inside = folder.lexically_normal().lexically_relative(fs::absolute(task, error).lexically_normal());
    return inside.empty() || inside.begin()->string() == ".." ? std::string() : inside.string();
}

} // namespace

void TaskParts::add(std::string role, std::string text)
{
    std::string hash = sha256(text);
    m_texts.insert_or_assign(hash, std::move(text));
    m_hashes.insert_or_assign(std::move(role), std::move(hash));
}

TaskParts TaskParts::of(const Task& task)
{
    TaskParts parts;
    for (const auto& [path, file] : task.files) {
        parts.m_hashes[std::string(filePrefix) + path] = file.hash; // all there is of one too large to be carried
        if (file.text) {
            parts.m_texts[file.hash] = *file.text;
        }
    }
    parts.addHeaders(task);
    const Json json = parseJson(task.json, "task.json").value_or(Json::object());
    parts.add("prototype", Json{{"id", task.id},
                                {"entry", task.entry},
                                {"arguments", eachOf(json, "arguments", {"kind", "dtype"})},
                                {"variants", eachOf(json, "variants", {"types"})}}
                               .dump());
    parts.add("shapes",
              Json{{"parameters", json.value("parameters", Json::array())},
                   {"arguments",
                    eachOf(json, "arguments", {"name", "shape", "strides", "pitch", "offset", "alignment", "value"})},
                   {"variants", eachOf(json, "variants", {"name", "constants"})}}
                  .dump());
    parts.add("values", Json{{"arguments", eachOf(json, "arguments", {"values", "index", "stress"})},
                             {"unseen", json.value("unseen", Json())}}
                            .dump());
    parts.add("verified", casesWith(task, json, {CaseRole::Verify, CaseRole::Simulate}).dump());
    parts.add("timed", casesWith(task, json, {CaseRole::Time, CaseRole::Simulate}).dump());
    parts.add("weights",
              Json{{"cases", eachOf(json, "cases", {"name", "weight"})}, {"objective", json.value("objective", Json())}}
                  .dump());
    parts.add(
        "tolerance",
        Json{only(json, {"contract", "tolerance", "reduction_length"}), eachOf(json, "arguments", {"compare"})}.dump());
    parts.add("oracle", both(json.value("oracle", Json()), task.oracle.source.text));
    parts.add("root", task.root.text);
    parts.add("incumbent", task.incumbent ? task.incumbent->text : std::string());
    parts.add("baselines", baselinesOf(task, json));
    parts.add("playbook", playbookOf(task));
    parts.add("build", only(json, {"build", "requires"}).dump());
    parts.add("flops", only(json, {"flops"}).dump());
    parts.add("words", Json{only(json, {"title", "description"}), eachOf(json, "baselines", {"title"})}.dump());
    return parts;
}

/// Those in include folders below the task's own: they belong to it, and travel with it.
void TaskParts::addHeaders(const Task& task)
{
    std::size_t bytes = 0;
    std::string listing;
    for (const std::string& root : task.build.includeRoots) {
        const std::string inside = within(root, task.folder);
        std::error_code error;
        if (inside.empty() || task.folder.empty()) {
            continue;
        }
        std::map<std::string, std::string> own{{inside + "/", {}}}; // the folder itself, also when it is empty
        for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
            if (!entry->is_regular_file(error)) {
                continue;
            }
            auto text = readFile(entry->path(), mostHeaderBytes);
            bytes += text ? text->size() : mostHeaderBytes + 1;
            if (bytes > mostHeaderBytes) {
                return add("headers", listing); // of a folder all or nothing: half a library compiles nothing
            }
            own.emplace((fs::path(inside) / entry->path().lexically_relative(root)).string(), std::move(*text));
        }
        for (auto& [path, text] : own) {
            add(headerRole(path), std::move(text));
            listing += fmt::format("{} {}\n", m_hashes.at(headerRole(path)), path);
        }
    }
    add("headers", std::move(listing));
}

Result<TaskParts> TaskParts::fromJson(std::string_view text)
{
    ESPALIER_TRY(const Json json, parseJson(text, "parts of the task"));
    ESPALIER_TRY(const auto members, JsonReader(json, "parts of the task").members());
    TaskParts parts;
    for (const auto& [role, hash] : members) {
        ESPALIER_TRY(parts.m_hashes[role], hash.string());
    }
    return parts;
}

std::string TaskParts::toJson() const
{
    return Json(m_hashes).dump();
}

EditionChange TaskParts::changesTo(const TaskParts& newer) const
{
    EditionChange change;
    for (const char* role : {"baselines", "build", "flops", "headers", "incumbent", "oracle", "playbook", "prototype",
                             "root", "shapes", "timed", "tolerance", "values", "verified", "weights", "words"}) {
        const auto before = m_hashes.find(role), now = newer.m_hashes.find(role);
        if (before == m_hashes.end() || now == newer.m_hashes.end() || before->second != now->second) {
            change.parts.emplace_back(role);
        }
    }
    const auto any = [&](std::initializer_list<std::string_view> roles) {
        return std::any_of(change.parts.begin(), change.parts.end(), [&](const std::string& part) {
            return std::find(roles.begin(), roles.end(), part) != roles.end();
        });
    };
    change.prototype = any({"prototype"});
    change.gate = any({"oracle", "tolerance", "verified", "values", "shapes", "headers"});
    change.timing = any({"timed", "shapes", "incumbent", "headers"});
    change.objective = any({"weights", "flops"});
    change.root = any({"root"});
    return change;
}

/// Where the headers lie for the compiler: a folder that is named by their content, so that it never changes.
Result<std::string> TaskParts::headersFolder(const Texts& texts) const
{
    std::string listing;
    for (const auto& [role, hash] : m_hashes) {
        listing += role.starts_with(headerPrefix) ? fmt::format("{} {}\n", hash, role) : "";
    }
    if (listing.empty()) {
        return std::string();
    }
    const fs::path folder = cacheFolder() / "task-headers" / sha256(listing).substr(0, 32);
    for (const auto& [role, hash] : m_hashes) {
        if (!role.starts_with(headerPrefix)) {
            continue;
        }
        const std::string path = role.substr(headerPrefix.size());
        if (path.ends_with('/')) {
            ESPALIER_CHECK(makeDirectories(folder / path));
            continue;
        }
        std::error_code error;
        if (fs::exists(folder / path, error)) {
            continue;
        }
        ESPALIER_TRY(const auto text, texts(hash));
        if (!text) {
            return fail(ErrorCode::NotFound, fmt::format("the text of {} is not kept", path));
        }
        ESPALIER_CHECK(makeDirectories((folder / path).parent_path()));
        ESPALIER_CHECK(writeFileAtomically(folder / path, *text));
    }
    return folder.string();
}

Result<Task> TaskParts::compose(const Texts& texts, const std::string& folder) const
{
    const TaskFiles files = [&](std::string_view path) -> Result<std::string> {
        const auto part = m_hashes.find(std::string(filePrefix) + std::string(path));
        if (part == m_hashes.end()) {
            return fail(ErrorCode::NotFound, fmt::format("the file {} is missing", path));
        }
        ESPALIER_TRY(std::optional<std::string> text, texts(part->second));
        if (text) {
            return std::move(*text);
        }
        ESPALIER_TRY(std::string large, readFile(fs::path(folder) / path, std::size_t{4} << 30));
        if (sha256(large) != part->second) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("{} is too large to be kept in the session, and it has changed since: restore it",
                                    (fs::path(folder) / path).string()));
        }
        return large;
    };
    ESPALIER_TRY(const std::string json, files("task.json"));
    ESPALIER_TRY(Task task, parseTask(json, files, folder));
    ESPALIER_TRY(const std::string headers, headersFolder(texts));
    for (std::string& root : task.build.includeRoots) {
        if (const std::string inside = within(root, folder); m_hashes.contains(headerRole(inside + "/"))) {
            root = (fs::path(headers) / inside).lexically_normal().string();
        }
    }
    ESPALIER_CHECK(checkIncludeFolders(task));
    return task;
}

} // namespace espalier
