// SPDX-License-Identifier: Apache-2.0
#include "core/engine/session_opening.h"

#include "core/engine/model_profiles.h"
#include "core/engine/participants.h"
#include "core/engine/session_task.h"
#include "core/model/task_loader.h"
#include "core/propose/llm/profile_record.h"
#include "core/search/search_tree.h"
#include "core/search/session_journal.h"
#include "core/search/strategy.h"
#include "core/worker/evaluator_group.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

Result<void> checkOneDevice(const std::string& device, bool several)
{
    const bool numbered =
        device.starts_with("cuda:") && device.size() > 5 && device.size() < 9 &&
        std::all_of(
            device.begin() + 5, device.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
    if ((device == "auto" && !several) || device == "sim" || numbered) {
        return {};
    }
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("There is no device \"{}\": choose auto, sim or cuda:N, such as cuda:0; several of one kind "
                    "with commas between them.",
                    device));
}

Result<void> checkDevice(const std::string& text)
{
    const std::vector<std::string> devices = devicesNamed(text);
    for (auto device = devices.begin(); device != devices.end(); ++device) {
        ESPALIER_CHECK(checkOneDevice(*device, devices.size() > 1));
        if (*device != "sim" && std::find(devices.begin(), device, *device) != device) {
            return fail(ErrorCode::InvalidInput, fmt::format("The device {} is named twice: name each once.", *device));
        }
    }
    return {};
}

Result<void> checkNames(const SessionInfo& info, const EngineOptions& options, const EngineParts& parts)
{
    ESPALIER_CHECK(checkDevice(info.device));
    ESPALIER_CHECK(checkBudget(info.budget));
    ESPALIER_CHECK(makeStrategy(info.strategy, info.seed));
    ESPALIER_CHECK(makeStrategy(options.strategyOnce.value_or(info.strategy), info.seed));
    SessionInfo with = info;
    with.proposers = namesFor(info, options);
    if (!allAreAsked(with.proposers, options.models)) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("A model is named and nobody asks it: add llm to the proposers ({}), or leave the model "
                        "out.",
                        fmt::join(with.proposers, ",")));
    }
    ESPALIER_TRY(const ProposerChoice choice, proposerChoice(with, options));
    ESPALIER_CHECK(parts.makeProposers(choice));
    return {};
}

std::unexpected<Error> conflict(const SessionInfo& info, std::string_view what, std::string_view has,
                                std::string_view asked)
{
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} was started with {} {}, not {}: leave the option out, or start a new session.",
                            info.file, what, has, asked));
}

/// Where no judge has ever answered, any device will do; where one has measured, any GPU: whether it is of the kind is
/// seen when it answers.
bool takesOther(const SessionInfo& info, const std::string& device)
{
    return info.deviceName.empty() ||
           (info.provenance == Provenance::Measured && device.find("sim") == std::string::npos);
}

/// "auto" that became the simulated device is "sim" as well.
bool sameDevice(const SessionInfo& info, const std::string& asked)
{
    return asked == info.device || asked == "auto" ||
           (info.device == "auto" && asked == "sim" && info.provenance == Provenance::Model);
}

Result<void> checkConflicts(const SessionInfo& info, const EngineOptions& options)
{
    if (options.device && !sameDevice(info, *options.device) && !takesOther(info, *options.device)) {
        return conflict(info, "device", info.device, *options.device);
    }
    if (options.seed && *options.seed != info.seed) {
        return conflict(info, "seed", std::to_string(info.seed), std::to_string(*options.seed));
    }
    if (options.incumbent && *options.incumbent != info.incumbent) {
        return conflict(info, "incumbent", info.incumbent.empty() ? "the task's" : info.incumbent, *options.incumbent);
    }
    return {};
}

/// As a session keeps it: whoever opens it, from wherever, finds it again.
std::string absoluteFolder(const std::filesystem::path& folder)
{
    std::error_code error;
    const auto absolute = std::filesystem::absolute(folder, error).lexically_normal();
    return (absolute.has_filename() ? absolute : absolute.parent_path()).string();
}

/// What the engineer's words for the task of an existing session mean; nullopt: the session's own texts. A plain name
/// that is the session's own task's is that one's, unless it was a built-in task from the start: its folder, where one
/// of that name is here, and not a built-in task that happens to be called the same.
std::optional<std::string> meantBy(const std::string& words, const SessionInfo& info)
{
    const bool plain = words.find('/') == std::string::npos && words == info.taskId;
    if (!plain || std::filesystem::path(info.taskFolder).parent_path() == builtInTasksFolder()) {
        return words;
    }
    std::error_code ignored;
    const std::string here = absoluteFolder(words);
    return std::filesystem::exists(std::filesystem::path(here) / "task.json", ignored) ? std::optional(here)
                                                                                       : std::nullopt;
}

/// The task that the engineer named for an existing session; nullopt: the session's own is meant. What is not there any
/// more need not be there, where it was the session's own.
Result<std::optional<Task>> namedTask(const SessionInfo& info, const EngineOptions& options, const EngineParts& parts)
{
    const auto named = options.task ? meantBy(*options.task, info) : std::nullopt;
    if (!named) {
        return std::nullopt;
    }
    auto task = parts.loadTask(*named);
    if (!task) {
        const bool own = *named == info.taskId || absoluteFolder(*named) == info.taskFolder;
        return own && task.error().code == ErrorCode::NotFound
                   ? Result<std::optional<Task>>(std::nullopt)
                   : Result<std::optional<Task>>(std::unexpected(task.error()));
    }
    if (task->id != info.taskId) {
        return conflict(info, "task", info.taskId, task->id);
    }
    task->folder = absoluteFolder(task->folder);
    return std::optional(std::move(*task));
}

struct SessionTask {
    Task task;
    bool another = false; ///< edition, which has yet to take over
};

/// The task that an existing session is to go on with. At most what the session was started with is written.
Result<SessionTask> sessionTask(Store& store, const EngineOptions& options, const EngineParts& parts)
{
    ESPALIER_TRY(std::optional<Task> named, namedTask(store.info(), options, parts));
    if (named && named->hash == store.info().taskHash && store.info().edition == 0) {
        ESPALIER_CHECK(session_task::keep(store, *named));
        return SessionTask{std::move(*named)};
    }
    auto own = session_task::of(store, parts.loadTask);
    if (own) {
        ESPALIER_CHECK(session_task::keep(store, *own));
    }
    if (named && store.info().edition > 0) {
        ESPALIER_TRY(const bool another, session_task::isAnother(store, *named));
        if (another || !own) {
            return SessionTask{std::move(*named), another};
        }
    }
    ESPALIER_TRY(Task task, std::move(own));
    return SessionTask{std::move(task)};
}

/// What the options say replaces what the session remembers.
void takeModels(SessionInfo& info, const EngineOptions& options)
{
    if (!options.models.empty()) {
        info.models.clear();
        for (const llm::ModelProfile& profile : options.models) {
            info.models.push_back(recordOf(profile));
        }
    }
    if (options.llm) {
        info.llm = recordOf(*options.llm);
    }
}

void takeOptions(SessionInfo& info, const EngineOptions& options)
{
    info.budget = options.budget.value_or(info.budget);
    if (options.device && takesOther(info, *options.device)) {
        info.device = *options.device;
    }
    info.strategy = options.strategy.value_or(info.strategy); // another one may take over at any time
    takeModels(info, options);
}

StoredNode rootNode(const Task& task)
{
    StoredNode root;
    root.id = taskRoot;
    root.kind = NodeKind::Root;
    root.state = NodeState::Queued;
    root.title = "root";
    root.ideaText = task.title;
    root.proposer = "task";
    root.payload = "{}";
    root.source = task.root.text;
    root.createdAt = timestamp();
    return root;
}

Result<OpenedSession> createSession(const EngineOptions& options, const EngineParts& parts)
{
    if (!options.task) {
        const std::string file = options.session.string();
        return fail(ErrorCode::InvalidInput,
                    options.actsOnly
                        ? fmt::format("There is no session {}: name one that espalierctl run has started.", file)
                        : fmt::format("{} does not exist yet: name a task to start it with.", file));
    }
    ESPALIER_TRY(Task task, parts.loadTask(*options.task));
    task.folder = absoluteFolder(task.folder);
    SessionInfo info;
    info.file = options.session.string();
    info.taskId = task.id;
    info.taskTitle = task.title;
    info.taskFolder = task.folder;
    info.taskHash = task.hash;
    info.device = options.device.value_or("auto");
    info.strategy = options.strategy.value_or("refine");
    info.proposers = options.proposers.value_or(usualProposers(!options.models.empty()));
    info.seed = options.seed.value_or(1);
    info.incumbent = options.incumbent.value_or("");
    std::optional<Incumbent> incumbent = incumbentOf(task);
    if (!info.incumbent.empty()) {
        ESPALIER_TRY(incumbent, loadIncumbent(info.incumbent, task));
        info.incumbentHash = incumbent->hash;
    }
    info.budget = options.budget.value_or(Budget{});
    info.createdAt = timestamp();
    takeModels(info, options);
    ESPALIER_CHECK(checkNames(info, options, parts));
    ESPALIER_TRY(std::unique_ptr<Store> store, Store::create(options.session, info));
    ESPALIER_CHECK(session_task::keep(*store, task));
    ESPALIER_CHECK(session_task::incumbentOf(*store, task, false));
    return OpenedSession{std::move(store), std::make_shared<const Task>(std::move(task)), std::move(incumbent)};
}

Result<OpenedSession> reopenSession(const EngineOptions& options, const EngineParts& parts)
{
    ESPALIER_TRY(std::unique_ptr<Store> store, Store::open(options.session, Store::Mode::ReadWrite));
    ESPALIER_CHECK(checkConflicts(store->info(), options));
    ESPALIER_TRY(SessionTask own, sessionTask(*store, options, parts));
    ESPALIER_TRY(std::optional<Incumbent> incumbent,
                 session_task::incumbentOf(*store, own.task, options.incumbent.has_value()));
    SessionInfo info = store->info();
    takeOptions(info, options);
    ESPALIER_CHECK(checkNames(info, options, parts));
    ESPALIER_CHECK(store->together([&]() -> Result<void> { // a refused opening has changed nothing
        if (own.another) {
            ESPALIER_CHECK(session_task::adopt(*store, own.task));
            info = store->info();
            takeOptions(info, options);
        }
        const SessionInfo& now = store->info();
        const bool changed = info.device != now.device || info.strategy != now.strategy || info.budget != now.budget ||
                             info.models != now.models || info.llm != now.llm;
        return changed ? store->setInfo(info) : Result<void>();
    }));
    return OpenedSession{std::move(store), std::make_shared<const Task>(std::move(own.task)), std::move(incumbent)};
}

} // namespace

Result<void> checkBudget(const Budget& budget)
{
    if ((budget.evaluations && *budget.evaluations < 0) || (budget.seconds && !(*budget.seconds >= 0)) ||
        (budget.usd && !(*budget.usd >= 0)) || (budget.tokens && *budget.tokens < 0)) {
        return fail(ErrorCode::InvalidInput,
                    "A budget cannot be negative: give evaluations, seconds, USD or tokens from 0 up.");
    }
    if (budget.target && !(*budget.target > 0 && std::isfinite(*budget.target))) {
        return fail(ErrorCode::InvalidInput, "The target is a speed-up above 0, such as 2 for twice as fast.");
    }
    if (budget.roofPercent && !(*budget.roofPercent >= 0 && std::isfinite(*budget.roofPercent))) {
        return fail(ErrorCode::InvalidInput,
                    "The roof is a distance in per cent from 0 up, such as 10 for within 10 % of the goal floor.");
    }
    if (budget.plateau && *budget.plateau < 1) {
        return fail(ErrorCode::InvalidInput,
                    "A plateau is a number of evaluations from 1 up: so many without a new best end the run.");
    }
    return {};
}

Result<ProposerChoice> proposerChoice(const SessionInfo& info, const EngineOptions& options)
{
    ProposerChoice choice{.names = info.proposers, .models = options.models, .llm = settingsFrom(info.llm)};
    choice.absentModels = options.actsOnly;
    if (choice.models.empty()) {
        for (const std::string& record : info.models) {
            ESPALIER_TRY(llm::ModelProfile profile, profileFrom(record));
            // A saved one knows its headers and proxy, which the session does not keep.
            const auto saved = savedProfile(profile.name);
            const bool same = saved && saved->provider == profile.provider && saved->model == profile.model &&
                              saved->baseUrl == profile.baseUrl;
            choice.models.push_back(same ? *saved : std::move(profile));
        }
    }
    return choice;
}

Result<OpenedSession> openSession(const EngineOptions& options, const EngineParts& parts)
{
    std::error_code ignored;
    const auto size = std::filesystem::file_size(options.session, ignored);
    const bool exists = std::filesystem::exists(options.session, ignored) && size > 0;
    ESPALIER_TRY(OpenedSession opened, exists ? reopenSession(options, parts) : createSession(options, parts));
    ESPALIER_TRY(const auto root, opened.store->node(taskRoot));
    if (!root) { // new, or its creation was cut off right here
        ESPALIER_CHECK(opened.store->addNode(rootNode(*opened.task)));
    }
    return opened;
}

} // namespace espalier
