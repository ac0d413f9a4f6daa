// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/event_queue.h"
#include "app/ctl/output.h"
#include "app/ctl/steer_command.h"
#include "app/ctl/verbs.h"
#include "core/base/text.h"
#include "core/engine/command_socket.h"
#include "core/search/act_words.h"
#include "core/store/store.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <thread>

namespace espalier::ctl {

namespace {

constexpr std::chrono::seconds busyLimit{3}; ///< a process that is opening or closing the session

bool needsRun(const command::Command& command)
{
    return std::holds_alternative<command::Pause>(command) || std::holds_alternative<command::Step>(command) ||
           std::holds_alternative<command::Run>(command);
}

/// Opens a closed session, does one act and closes it again; what the judge is asked for is waited for. The first
/// complaint is what went wrong.
Result<void> actOnClosed(const std::string& session, const command::Command& command)
{
    EventQueue events;
    EngineOptions options;
    options.session = session;
    options.actsOnly = true;
    ESPALIER_TRY(std::unique_ptr<Engine> engine,
                 Engine::open(std::move(options), [&events](const event::Event& event) { events.push(event); }));
    engine->post(command);
    bool judging = std::holds_alternative<command::JudgeAgain>(command), began = false;
    const auto stop = [&] {
        judging = false;
        engine->post(command::Stop{});
    };
    if (!judging) {
        stop();
    }
    std::optional<Error> error;
    for (bool closed = false; !closed;) {
        pollfd polled = {events.descriptor(), POLLIN, 0};
        ::poll(&polled, 1, -1);
        for (const event::Event& event : events.take()) {
            if (const auto* failed = std::get_if<event::CommandFailed>(&event); failed && !error) {
                error = failed->error;
                if (judging) {
                    stop();
                }
            } else if (const auto* changes = std::get_if<event::Changes>(&event); changes && judging) {
                const RunStatus& status = changes->status;
                const bool active = status.state == RunState::Running || status.state == RunState::Pausing;
                began = began || active;
                if (status.state == RunState::Failed) {
                    error = Error{ErrorCode::Internal, status.why};
                }
                if (began && !active) {
                    stop();
                }
            } else if (const auto* ended = std::get_if<event::Closed>(&event)) {
                error = error ? error : ended->error;
                closed = true;
            }
        }
    }
    engine.reset();
    return error ? Result<void>(std::unexpected(*error)) : Result<void>();
}

/// In the process that has the session open, else on the closed session. Between the two lies a moment in which a
/// process holds the session and does not listen.
Result<void> act(const std::string& session, const command::Command& command)
{
    const auto end = std::chrono::steady_clock::now() + busyLimit;
    for (;;) {
        if (const auto answered = sendCommand(session, command)) {
            return *answered;
        }
        Result<void> done =
            needsRun(command)
                ? fail(ErrorCode::NotFound,
                       fmt::format("No process has {} open: espalierctl run --session {} goes on with it.", session,
                                   shellWord(std::filesystem::absolute(session).string())))
                : actOnClosed(session, command);
        if (done || done.error().code != ErrorCode::Busy || std::chrono::steady_clock::now() >= end) {
            return done;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

/// The session tells which act it was.
std::string takenBack(const std::string& session)
{
    const auto store = Store::open(session, Store::Mode::ReadOnly);
    const auto acts = store ? (*store)->acts() : std::unexpected(store.error());
    const std::string words = acts && !acts->empty() ? actInWords(acts->back().what) : std::string();
    return words.starts_with("undo: ") ? fmt::format("Taken back: {}.", words.substr(6))
                                       : "The last act is taken back.";
}

} // namespace

int steer(const SteerVerb& options)
{
    const auto command = commandOf(options);
    if (!command) {
        return failWith(command.error(), options.json);
    }
    if (const auto done = act(options.session, *command); !done) {
        return failWith(done.error(), options.json);
    }
    SteerDone done = doneOf(options);
    if (options.act == "undo") {
        done.sentence = takenBack(options.session);
    }
    if (options.json) {
        printJson(done.json);
    } else {
        print(done.sentence);
    }
    return exitOk;
}

} // namespace espalier::ctl
