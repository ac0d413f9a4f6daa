// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/session_reader.h"

#include "core/search/record_merge.h"

#include <fmt/format.h>

namespace espalier::ctl {

namespace {

/// The nearest candidate or root above a node, through ideas.
Result<std::optional<StoredNode>> candidateAbove(Store& store, const StoredNode& node)
{
    std::optional<StoredNode> at = node;
    while (at && !at->parents.empty()) {
        ESPALIER_TRY(at, store.node(at->parents.front().parent));
        if (at && at->kind != NodeKind::Idea) {
            return at;
        }
    }
    return std::nullopt;
}

/// The words behind a candidate are those of the idea it implements.
Result<std::string> ideaTextOf(Store& store, const StoredNode& node)
{
    if (node.kind == NodeKind::Candidate && node.ideaText.empty() && !node.parents.empty()) {
        ESPALIER_TRY(const auto parent, store.node(node.parents.front().parent));
        if (parent && parent->kind == NodeKind::Idea) {
            return parent->ideaText;
        }
    }
    return node.ideaText;
}

} // namespace

Result<SessionReader> SessionReader::open(const std::string& file)
{
    SessionReader reader;
    ESPALIER_TRY(reader.m_store, Store::open(file, Store::Mode::ReadOnly));
    const SessionInfo& info = reader.m_store->info();
    reader.m_book.setFrame({info.provenance, info.epoch});
    ESPALIER_TRY(const auto nodes, reader.m_store->nodes());
    for (const StoredNode& node : nodes) {
        reader.m_book.add(node);
        ESPALIER_TRY(const auto stages, reader.m_store->stages(node.id));
        const MergedRecords records = mergeRecords(stages, std::nullopt);
        if (records.final) {
            reader.m_book.finished(node.id, records.evaluation);
        }
    }
    return reader;
}

Result<NodeDetail> SessionReader::detail(NodeId id) const
{
    const NodeSummary* summary = m_book.find(id);
    ESPALIER_TRY(const auto node, m_store->node(id));
    if (!node || !summary) {
        return fail(ErrorCode::NotFound, fmt::format("{} has no node {}; its nodes are 1 to {}", info().file, id.value,
                                                     m_book.nextId().value - 1));
    }
    NodeDetail detail;
    detail.summary = *summary;
    detail.source = node->source;
    detail.createdAt = node->createdAt;
    ESPALIER_TRY(detail.ideaText, ideaTextOf(*m_store, *node));
    ESPALIER_TRY(const auto above, candidateAbove(*m_store, *node));
    if (above) {
        detail.parentCandidate = above->id;
        detail.parentSource = above->source;
    }
    ESPALIER_TRY(const auto stages, m_store->stages(id));
    detail.evaluation = mergeRecords(stages, std::nullopt).evaluation;
    return detail;
}

} // namespace espalier::ctl
