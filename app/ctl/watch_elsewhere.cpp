// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/watch_elsewhere.h"

#include "app/ctl/interrupts.h"
#include "app/ctl/output.h"
#include "app/ctl/verdict_line.h"
#include "core/base/file.h"
#include "core/engine/command_socket.h"
#include "core/search/node_book.h"
#include "core/search/record_merge.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <poll.h>
#include <vector>

namespace espalier::ctl {

namespace {

constexpr int lookMilliseconds = 300; ///< between two looks into the session, while a verdict is awaited

/// The newest injection of this source: its act is stored before the command is answered.
Result<std::optional<NodeId>> injected(Store& store, const std::string& source)
{
    ESPALIER_TRY(const std::vector<StoredAct> acts, store.acts());
    for (auto act = acts.rbegin(); act != acts.rend(); ++act) {
        const Json what = parseJson(act->what, "act").value_or(Json());
        if (!what.is_object() || what.value("act", Json()) != "inject" || !what.value("node", Json()).is_number_integer()) {
            continue;
        }
        ESPALIER_TRY(const auto node, store.node(NodeId{what["node"].get<std::int64_t>()}));
        if (node && node->source == source) {
            return node->id;
        }
    }
    return std::nullopt;
}

/// The node with its figures once it has ended; of the session only what stands above it is read.
Result<std::optional<NodeSummary>> verdictOf(Store& store, NodeId id)
{
    std::vector<StoredNode> chain;
    for (std::optional<NodeId> up = id; up;) {
        ESPALIER_TRY(auto node, store.node(*up));
        if (!node || (chain.empty() && node->state != NodeState::Done)) {
            return std::nullopt;
        }
        up = node->parents.empty() ? std::nullopt : std::optional(node->parents.front().parent);
        chain.push_back(std::move(*node));
    }
    ESPALIER_TRY(const auto stages, store.stages(id));
    const MergedRecords records = mergeRecords(stages, std::nullopt);
    if (!records.final) {
        return std::nullopt;
    }
    NodeBook book;
    book.setFrame({store.info().provenance, store.info().epoch});
    for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
        book.add(*node);
    }
    book.finished(id, records.evaluation);
    return *book.find(id);
}

class Elsewhere
{
public:
    Elsewhere(const WatchVerb& options, WatchedFile file) : m_options(options), m_file(std::move(file)) {}

    Result<void> hold(const std::string& parentSource)
    {
        note(fmt::format("Watching {}: every save becomes a child of node {}, judged when the process that has {} open is "
                         "running. Ctrl-C ends.",
                         m_file.path().string(), m_options.node, m_options.session));
        if (auto text = readFile(m_file.path()); text && *text != parentSource) {
            ESPALIER_CHECK(inject(std::move(*text))); // it was edited before we looked
        }
        while (m_options.saves == 0 || m_told < m_options.saves) {
            std::array<pollfd, 2> polled = {pollfd{m_interrupts.descriptor(), POLLIN, 0}, pollfd{m_file.descriptor(), POLLIN, 0}};
            ::poll(polled.data(), polled.size(), m_awaited.empty() ? -1 : lookMilliseconds);
            if (m_interrupts.take()) {
                break;
            }
            if (auto text = m_file.take()) {
                ESPALIER_CHECK(inject(std::move(*text)));
            }
            ESPALIER_CHECK(look());
        }
        return {};
    }

private:
    std::unexpected<Error> ended() const
    {
        return fail(ErrorCode::NotFound, fmt::format("The process that had {} open has ended: start watch again, it then judges "
                                                     "by itself.",
                                                     m_options.session));
    }

    Result<void> inject(std::string source)
    {
        const std::string title = fmt::format("{} {}", m_file.path().filename().string(), ++m_saved);
        const auto answer = sendCommand(m_options.session, command::Inject{NodeId{m_options.node}, title, source});
        if (!answer) {
            return ended();
        }
        if (!*answer) {
            note(fmt::format("espalierctl: {}", answer->error().message));
            return {};
        }
        ESPALIER_TRY(const auto store, Store::open(m_options.session, Store::Mode::ReadOnly));
        ESPALIER_TRY(const std::optional<NodeId> node, injected(*store, source));
        if (node) {
            m_awaited.push_back(*node);
        }
        return {};
    }

    Result<void> look()
    {
        if (m_awaited.empty()) {
            return {};
        }
        const bool held = somebodyListens(m_options.session); // asked first: what it stored before it ended is found
        ESPALIER_TRY(const auto store, Store::open(m_options.session, Store::Mode::ReadOnly));
        for (const NodeId id : std::vector<NodeId>(m_awaited)) {
            ESPALIER_TRY(const std::optional<NodeSummary> node, verdictOf(*store, id));
            if (node) {
                printVerdict(*node, m_options.json);
                std::erase(m_awaited, id);
                ++m_told;
            }
        }
        return held || m_awaited.empty() ? Result<void>() : ended();
    }

    const WatchVerb& m_options;
    WatchedFile m_file;
    Interrupts m_interrupts;
    std::vector<NodeId> m_awaited;
    int m_saved = 0, m_told = 0;
};

} // namespace

int watchElsewhere(const WatchVerb& options, WatchedFile file, const std::string& text)
{
    const auto held = Elsewhere(options, std::move(file)).hold(text);
    return held ? exitOk : failWith(held.error(), options.json);
}

} // namespace espalier::ctl
