// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/watch_elsewhere.h"

#include "app/ctl/output.h"
#include "app/ctl/verdict_line.h"
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
        if (!what.is_object() || what.value("act", Json()) != "inject" ||
            !what.value("node", Json()).is_number_integer()) {
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
    Elsewhere(const WatchVerb& options, WatchProgress& progress) : m_options(options), m_progress(progress) {}

    Result<bool> hold()
    {
        note(fmt::format(
            "Watching {}: every save becomes a child of node {}, judged when the process that has {} open is "
            "running. Ctrl-C ends.",
            m_progress.file.path().string(), m_options.node, m_options.session));
        while (m_options.saves == 0 || m_progress.told < m_options.saves) {
            ESPALIER_TRY(const bool sent, sendSaves());
            ESPALIER_TRY(const bool held, look());
            if (!sent || !held) {
                return true;
            }
            std::array<pollfd, 2> polled = {pollfd{m_progress.interrupts.descriptor(), POLLIN, 0},
                                            pollfd{m_progress.file.descriptor(), POLLIN, 0}};
            ::poll(polled.data(), polled.size(), m_progress.awaited.empty() ? -1 : lookMilliseconds);
            if (m_progress.interrupts.take()) {
                break;
            }
            if (auto text = m_progress.file.take()) {
                m_progress.saved(std::move(*text));
            }
        }
        return false;
    }

private:
    /// False: nobody takes them any more.
    Result<bool> sendSaves()
    {
        while (!m_progress.unsent.empty()) {
            const WatchProgress::Save& save = m_progress.unsent.front();
            const auto answer =
                sendCommand(m_options.session, command::Inject{NodeId{m_options.node}, save.title, save.source});
            if (answer && !*answer) {
                note(fmt::format("espalierctl: {}", answer->error().message));
            } else { // without an answer it may be stored all the same
                ESPALIER_TRY(const auto store, Store::open(m_options.session, Store::Mode::ReadOnly));
                ESPALIER_TRY(const std::optional<NodeId> node, injected(*store, save.source));
                if (!answer && !node) {
                    return false;
                }
                if (node) {
                    m_progress.awaited.push_back(*node);
                }
            }
            m_progress.unsent.pop_front();
        }
        return true;
    }

    /// False: nobody is there who would judge what is awaited still.
    Result<bool> look()
    {
        if (m_progress.awaited.empty()) {
            return true;
        }
        const bool held = somebodyListens(m_options.session); // asked first: what it stored before it ended is found
        ESPALIER_TRY(const auto store, Store::open(m_options.session, Store::Mode::ReadOnly));
        for (const NodeId id : std::vector<NodeId>(m_progress.awaited)) {
            ESPALIER_TRY(const std::optional<NodeSummary> node, verdictOf(*store, id));
            if (node) {
                printVerdict(*node, m_options.json);
                std::erase(m_progress.awaited, id);
                ++m_progress.told;
            }
        }
        return held || m_progress.awaited.empty();
    }

    const WatchVerb& m_options;
    WatchProgress& m_progress;
};

} // namespace

Result<bool> watchElsewhere(const WatchVerb& options, WatchProgress& progress)
{
    return Elsewhere(options, progress).hold();
}

} // namespace espalier::ctl
