// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/node.h"
#include "core/search/node_book.h"
#include "core/store/store.h"

#include <memory>
#include <string>

namespace espalier::ctl {

/// A session opened for reading only, as show and export need it; a running engine is not disturbed.
class SessionReader
{
public:
    static Result<SessionReader> open(const std::string& file);

    const SessionInfo& info() const { return m_store->info(); }
    double secondsSpent() const { return m_store->secondsSpent(); }
    const NodeBook& book() const { return m_book; }
    /// Errors: NotFound "SESSION has no node 99; its nodes are 1 to 23".
    Result<NodeDetail> detail(NodeId id) const;

private:
    std::unique_ptr<Store> m_store;
    NodeBook m_book;
};

} // namespace espalier::ctl
