// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/event_queue.h"
#include "app/ctl/output.h"
#include "app/ctl/read_session.h"
#include "app/ctl/verbs.h"
#include "app/ctl/verdict_line.h"
#include "app/ctl/watch_elsewhere.h"
#include "app/ctl/watch_progress.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/engine/command_socket.h"

#include <array>
#include <chrono>
#include <fmt/format.h>
#include <poll.h>
#include <set>

namespace espalier::ctl {

namespace {

constexpr std::chrono::seconds busyLimit{10}; ///< a process that is opening or closing the session

/// The engine runs with the strategy that waits for the engineer: nothing but what is saved is judged.
class Watching
{
public:
    Watching(const WatchVerb& options, WatchProgress& progress)
        : m_options(options), m_progress(progress), m_awaited(static_cast<int>(progress.awaited.size()))
    {
    }

    Result<void> open()
    {
        EngineOptions engine;
        engine.session = m_options.session;
        engine.strategyOnce = "manual";
        ESPALIER_TRY(m_engine,
                     Engine::open(std::move(engine), [this](const event::Event& event) { m_events.push(event); }));
        return {};
    }

    Result<void> hold()
    {
        note(fmt::format("Watching {}: every save becomes a child of node {}. Ctrl-C ends.",
                         m_progress.file.path().string(), m_options.node));
        injectSaves();
        m_engine->post(command::Run{});
        while (!m_ended) {
            std::array<pollfd, 3> polled = {pollfd{m_events.descriptor(), POLLIN, 0},
                                            pollfd{m_progress.interrupts.descriptor(), POLLIN, 0},
                                            pollfd{m_progress.file.descriptor(), POLLIN, 0}};
            ::poll(polled.data(), polled.size(), -1);
            if (m_progress.interrupts.take()) {
                break;
            }
            if (auto text = m_progress.file.take()) {
                m_progress.saved(std::move(*text));
                injectSaves();
                m_engine->post(command::Run{});
            }
            for (const event::Event& event : m_events.take()) {
                handle(event);
            }
            if (m_options.saves > 0 && m_progress.told >= m_options.saves) {
                break;
            }
        }
        m_engine.reset();
        return m_error ? Result<void>(std::unexpected(*m_error)) : Result<void>();
    }

private:
    void injectSaves()
    {
        for (WatchProgress::Save& save : m_progress.unsent) {
            ++m_awaited;
            m_engine->post(command::Inject{NodeId{m_options.node}, std::move(save.title), std::move(save.source)});
        }
        m_progress.unsent.clear();
    }

    void handle(const event::Event& event)
    {
        if (const auto* changes = std::get_if<event::Changes>(&event)) {
            if (m_first) { // what stands in the session already
                m_first = false;
                for (const NodeSummary& node : changes->nodes) {
                    m_known.insert(node.id);
                }
                for (const NodeId id : m_progress.awaited) { // of it the verdict is owed
                    m_known.erase(id);
                }
            }
            for (const NodeSummary& node : changes->nodes) {
                if (node.state == NodeState::Done && node.proposer == "engineer" && node.kind == NodeKind::Candidate &&
                    m_known.insert(node.id).second) {
                    tell(node);
                }
            }
            m_status = changes->status;
            if (changes->status.state == RunState::Failed) {
                m_error = Error{ErrorCode::Internal, changes->status.why};
                m_ended = true;
            }
        } else if (const auto* failed = std::get_if<event::CommandFailed>(&event)) {
            note(fmt::format("espalierctl: {}", failed->error.message));
            --m_awaited;
        } else if (std::holds_alternative<event::Finished>(event)) {
            const auto& limit = m_status.budget.evaluations;
            if (m_awaited > 0 && limit && m_status.evaluations >= *limit) {
                m_error = Error{
                    ErrorCode::InvalidInput,
                    fmt::format(
                        "The session's budget of {} evaluations is used up: espalierctl steer {} budget --evals {} "
                        "gives it more.",
                        *limit, shellWord(std::filesystem::absolute(m_options.session).string()), *limit + 10)};
                m_ended = true;
            }
        } else if (const auto* closed = std::get_if<event::Closed>(&event)) {
            m_error = closed->error;
            m_ended = true;
        }
    }

    void tell(const NodeSummary& node)
    {
        ++m_progress.told;
        --m_awaited;
        printVerdict(node, m_options.json);
    }

    const WatchVerb& m_options;
    WatchProgress& m_progress;
    EventQueue m_events;
    std::set<NodeId> m_known;
    bool m_first = true, m_ended = false;
    int m_awaited = 0;
    RunStatus m_status;
    std::optional<Error> m_error;
    std::unique_ptr<Engine> m_engine; ///< last: its observer uses the members above
};

/// The session is watched by this process, or beside the one that has it open, until that ends. Between two holders
/// lies a moment in which one has the session and does not listen.
Result<void> follow(const WatchVerb& options, WatchProgress& progress)
{
    for (auto patience = std::chrono::steady_clock::now() + busyLimit;;) {
        Watching watching(options, progress);
        const auto opened = watching.open();
        if (opened) {
            return watching.hold();
        }
        if (opened.error().code != ErrorCode::Busy) {
            return opened;
        }
        if (somebodyListens(options.session)) {
            ESPALIER_TRY(const bool ended, watchElsewhere(options, progress));
            if (!ended) {
                return {};
            }
            note(fmt::format("The process that had {} open has ended: what is saved is judged here.", options.session));
            patience = std::chrono::steady_clock::now() + busyLimit;
        } else if (std::chrono::steady_clock::now() >= patience) {
            return opened;
        }
        pollfd polled = {progress.interrupts.descriptor(), POLLIN, 0};
        if (::poll(&polled, 1, 100) > 0 && progress.interrupts.take()) {
            return {};
        }
    }
}

Result<std::string> sourceOf(const WatchVerb& options)
{
    ESPALIER_TRY(const SessionReader reader, readSession(options.session));
    ESPALIER_TRY(const NodeDetail detail, reader.detail(NodeId{options.node}));
    if (detail.source.empty()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("Node {} has no source to edit: name a root or a candidate.", options.node));
    }
    return detail.source;
}

} // namespace

int watch(const WatchVerb& options)
{
    const auto source = sourceOf(options);
    if (!source) {
        return failWith(source.error(), options.json);
    }
    const std::filesystem::path file = options.file.empty() ? fmt::format("node_{}.cu", options.node) : options.file;
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        if (const auto written = writeFileAtomically(file, *source); !written) {
            return failWith(written.error(), options.json);
        }
    }
    auto watched = WatchedFile::open(file);
    if (!watched) {
        return failWith(watched.error(), options.json);
    }
    WatchProgress progress(std::move(*watched));
    if (auto text = readFile(file); text && *text != *source) {
        progress.saved(std::move(*text)); // it was edited before we looked
    }
    const auto followed = follow(options, progress);
    return followed ? exitOk : failWith(followed.error(), options.json);
}

} // namespace espalier::ctl
