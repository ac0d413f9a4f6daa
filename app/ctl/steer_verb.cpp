// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/event_queue.h"
#include "app/ctl/output.h"
#include "app/ctl/verbs.h"

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

} // namespace

int steer(const SteerVerb& options)
{
    const NodeId node{options.node};
    if (const auto done = act(options.session, command::Overturn{node, options.as == "passed", options.reason}); !done) {
        return failWith(done.error(), options.json);
    }
    if (options.json) {
        printJson({{"act", "overturn"}, {"node", options.node}, {"as", options.as}, {"reason", options.reason}});
    } else {
        print(fmt::format("Node {} is {} by hand; the judge's verdict stays in its record.", options.node, options.as));
    }
    return exitOk;
}

} // namespace espalier::ctl
