// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/event_queue.h"
#include "app/ctl/interrupts.h"
#include "app/ctl/output.h"
#include "app/ctl/session_reader.h"
#include "app/ctl/verbs.h"
#include "app/ctl/verdict_line.h"
#include "app/ctl/watch_elsewhere.h"
#include "app/ctl/watched_file.h"
#include "core/base/file.h"

#include <array>
#include <fmt/format.h>
#include <poll.h>
#include <set>

namespace espalier::ctl {

namespace {

/// The engine runs with the strategy that waits for the engineer: nothing but what is saved is judged.
class Watching
{
public:
    Watching(const WatchVerb& options, WatchedFile file) : m_options(options), m_file(std::move(file)) {}

    int hold(const std::string& parentSource)
    {
        EngineOptions engine;
        engine.session = m_options.session;
        engine.strategyOnce = "manual";
        auto opened = Engine::open(std::move(engine), [this](const event::Event& event) { m_events.push(event); });
        if (!opened && opened.error().code == ErrorCode::Busy) {
            return watchElsewhere(m_options, std::move(m_file), parentSource);
        }
        if (!opened) {
            return failWith(opened.error(), m_options.json);
        }
        m_engine = std::move(*opened);
        note(fmt::format("Watching {}: every save becomes a child of node {}. Ctrl-C ends.", m_file.path().string(), m_options.node));
        if (auto text = readFile(m_file.path()); text && *text != parentSource) {
            inject(std::move(*text)); // it was edited before we looked
        }
        m_engine->post(command::Run{});
        while (!m_ended) {
            std::array<pollfd, 3> polled = {pollfd{m_events.descriptor(), POLLIN, 0}, pollfd{m_interrupts.descriptor(), POLLIN, 0},
                                            pollfd{m_file.descriptor(), POLLIN, 0}};
            ::poll(polled.data(), polled.size(), -1);
            if (m_interrupts.take()) {
                break;
            }
            if (auto text = m_file.take()) {
                inject(std::move(*text));
                m_engine->post(command::Run{});
            }
            for (const event::Event& event : m_events.take()) {
                handle(event);
            }
            if (m_options.saves > 0 && m_told >= m_options.saves) {
                break;
            }
        }
        m_engine.reset();
        if (m_error) {
            return failWith(*m_error, m_options.json);
        }
        return exitOk;
    }

private:
    void inject(std::string source)
    {
        ++m_saved;
        ++m_awaited;
        m_engine->post(command::Inject{NodeId{m_options.node}, fmt::format("{} {}", m_file.path().filename().string(), m_saved), std::move(source)});
    }

    void handle(const event::Event& event)
    {
        if (const auto* changes = std::get_if<event::Changes>(&event)) {
            if (m_first) { // what stands in the session already
                m_first = false;
                for (const NodeSummary& node : changes->nodes) {
                    m_known.insert(node.id);
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
                m_error = Error{ErrorCode::InvalidInput,
                                fmt::format("The session's budget of {} evaluations is used up: give it more with run --evals.", *limit)};
                m_ended = true;
            }
        } else if (const auto* closed = std::get_if<event::Closed>(&event)) {
            m_error = closed->error;
            m_ended = true;
        }
    }

    void tell(const NodeSummary& node)
    {
        ++m_told;
        --m_awaited;
        printVerdict(node, m_options.json);
    }

    const WatchVerb& m_options;
    WatchedFile m_file;
    EventQueue m_events;
    Interrupts m_interrupts;
    std::set<NodeId> m_known;
    bool m_first = true, m_ended = false;
    int m_saved = 0, m_told = 0, m_awaited = 0;
    RunStatus m_status;
    std::optional<Error> m_error;
    std::unique_ptr<Engine> m_engine; ///< last: its observer uses the members above
};

Result<std::string> sourceOf(const WatchVerb& options)
{
    ESPALIER_TRY(const SessionReader reader, SessionReader::open(options.session));
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
    return Watching(options, std::move(*watched)).hold(*source);
}

} // namespace espalier::ctl
