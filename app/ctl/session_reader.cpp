// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/session_reader.h"

#include "core/engine/node_detail.h"
#include "core/search/overturns.h"
#include "core/search/record_merge.h"

#include <fmt/format.h>

namespace espalier::ctl {

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
    ESPALIER_TRY(const std::vector<StoredAct> acts, reader.m_store->acts());
    for (const auto& [id, overturn] : overturnsIn(acts)) {
        if (reader.m_book.find(id)) {
            reader.m_book.overturn(id, overturn);
        }
    }
    return reader;
}

Result<NodeDetail> SessionReader::detail(NodeId id) const
{
    const NodeSummary* summary = m_book.find(id);
    if (!summary) {
        return fail(ErrorCode::NotFound, fmt::format("{} has no node {}; its nodes are 1 to {}", info().file, id.value,
                                                     m_book.nextId().value - 1));
    }
    return readDetail(*m_store, *summary);
}

} // namespace espalier::ctl
