// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/event_queue.h"
#include "app/ctl/output.h"
#include "app/ctl/verbs.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <fmt/format.h>
#include <optional>
#include <poll.h>

namespace espalier::ctl {

namespace {

/// Opens a closed session, does one act and closes it again. The first complaint is what went wrong.
Result<void> act(const std::string& session, command::Command command)
{
    EventQueue events;
    EngineOptions options;
    options.session = session;
    options.actsOnly = true;
    ESPALIER_TRY(std::unique_ptr<Engine> engine,
                 Engine::open(std::move(options), [&events](const event::Event& event) { events.push(event); }));
    engine->post(std::move(command));
    engine->post(command::Stop{});
    std::optional<Error> error;
    for (bool closed = false; !closed;) {
        pollfd polled = {events.descriptor(), POLLIN, 0};
        ::poll(&polled, 1, -1);
        for (const event::Event& event : events.take()) {
            if (const auto* failed = std::get_if<event::CommandFailed>(&event); failed && !error) {
                error = failed->error;
            } else if (const auto* ended = std::get_if<event::Closed>(&event)) {
                error = error ? error : ended->error;
                closed = true;
            }
        }
    }
    engine.reset();
    return error ? Result<void>(std::unexpected(*error)) : Result<void>();
}

Result<std::string> ownPrompt(const std::string& file)
{
    if (file.empty()) {
        return std::string();
    }
    if (file != "-") {
        return readFile(file, std::size_t{1} << 20);
    }
    std::string text;
    char buffer[65536];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) {
        text.append(buffer, got);
    }
    return text;
}

struct Done {
    Json json;
    std::string sentence;
};

Result<command::Command> commandOf(const SteerVerb& options)
{
    const NodeId node{options.node};
    if (options.act == "overturn") {
        return command::Overturn{node, options.as == "passed", options.reason};
    }
    if (options.act == "pin" || options.act == "unpin") {
        return command::SetPinned{node, options.act == "pin"};
    }
    if (options.act == "prune" || options.act == "restore") {
        return command::SetPruned{node, options.act == "prune"};
    }
    if (options.act == "boost") {
        return command::SetBoost{node, options.factor};
    }
    if (options.act == "edit") {
        return command::EditIdea{node, options.title, options.text};
    }
    if (options.act == "add-idea") {
        return command::AddIdea{node, options.title, options.text};
    }
    if (options.act == "inject") {
        ESPALIER_TRY(std::string source, readFile(options.file, std::size_t{1} << 20));
        return command::Inject{options.node > 0 ? std::optional(node) : std::nullopt,
                               options.title.empty() ? std::filesystem::path(options.file).stem().string() : options.title,
                               std::move(source)};
    }
    if (options.act == "ask") {
        ESPALIER_TRY(std::string prompt, ownPrompt(options.promptFile));
        return command::Ask{node, std::move(prompt), options.ideas};
    }
    if (options.act == "hint") {
        return command::AddHint{options.text};
    }
    if (options.act == "unhint") {
        return command::RemoveHint{options.number};
    }
    if (options.act == "detach") {
        return command::Attach{options.name, ""};
    }
    ESPALIER_TRY(std::string text, readFile(options.file, std::size_t{1} << 20));
    if (text.empty()) {
        return fail(ErrorCode::InvalidInput, fmt::format("{} is empty: there is nothing to attach.", options.file));
    }
    const std::string name =
        options.name.empty() ? std::filesystem::path(options.file).filename().string() : options.name;
    return command::Attach{name, printable(text, text.size())};
}

Done doneOf(const SteerVerb& options)
{
    static const std::map<std::string, const char*> plain = {
        {"pin", "It is protected and always a parent."},
        {"unpin", "It is an ordinary node again."},
        {"prune", "It and all below it have left the search; they stay visible."},
        {"restore", "It is in the search again."},
        {"boost", "The strategy weighs it by the factor from now on."},
        {"edit", "The idea has its new words."},
        {"add-idea", "The idea stands in the tree as a draft."},
        {"inject", "The kernel is judged when the session runs."},
    };
    if (const auto words = plain.find(options.act); words != plain.end()) {
        Json json = {{"act", options.act}};
        if (options.node > 0) {
            json["node"] = options.node;
        }
        return {std::move(json), words->second};
    }
    if (options.act == "overturn") {
        return {{{"act", "overturn"}, {"node", options.node}, {"as", options.as}, {"reason", options.reason}},
                fmt::format("Node {} is {} by hand; the judge's verdict stays in its record.", options.node, options.as)};
    }
    if (options.act == "ask") {
        return {{{"act", "ask"}, {"node", options.node}},
                fmt::format("The model is asked about node {} again when the session runs.", options.node)};
    }
    if (options.act == "hint") {
        return {{{"act", "hint"}, {"text", options.text}}, "The hint stands in every prompt from now on."};
    }
    if (options.act == "unhint") {
        return {{{"act", "unhint"}, {"number", options.number}}, "The hint is gone."};
    }
    if (options.act == "attach") {
        return {{{"act", "attach"}, {"file", options.file}},
                "It goes to models whose profile names the channel attachments (--channels)."};
    }
    return {{{"act", "detach"}, {"name", options.name}}, "It is sent no more."};
}

} // namespace

int steer(const SteerVerb& options)
{
    auto command = commandOf(options);
    if (!command) {
        return failWith(command.error(), options.json);
    }
    if (const auto done = act(options.session, std::move(*command)); !done) {
        return failWith(done.error(), options.json);
    }
    const Done done = doneOf(options);
    if (options.json) {
        printJson(done.json);
    } else {
        print(done.sentence);
    }
    return exitOk;
}

} // namespace espalier::ctl
