// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/store/store.h"

#include <functional>
#include <optional>

namespace espalier {

/// All writing of a search goes through here: the store, and a place to watch every single write from. Thread: the
/// engine's. Owns the store. Errors: the store's.
class SessionJournal
{
public:
    explicit SessionJournal(std::unique_ptr<Store> store, std::function<void()> afterWrite = {})
        : m_store(std::move(store)), m_afterWrite(std::move(afterWrite))
    {
    }

    Store& store() { return *m_store; } ///< reading
    const SessionInfo& info() const { return m_store->info(); }
    Result<void> addNode(const StoredNode& node);
    Result<void> updateNode(const StoredNode& node);
    Result<void> addStage(NodeId node, const Evaluation& record, double seconds); ///< the stage is the record's
    Result<void> addAct(std::string author, std::string what);
    Result<std::int64_t> addExchange(const Exchange& exchange);
    Result<void> updateExchange(const Exchange& exchange);
    Result<void> setValue(std::string_view key, std::string_view value);
    Result<void> setInfo(const SessionInfo& info);
    Result<void> addSeconds(double seconds);
    /// Several of these as one: after a crash there are all of them or none.
    Result<void> together(const std::function<Result<void>()>& writes) { return m_store->together(writes); }

    /// The WAL is emptied when nothing was written for two seconds. `now`: seconds of a clock that never goes back; to
    /// be called at least restMilliseconds() from then (-1: nothing waits).
    void rest(double now);
    int restMilliseconds() const;
    bool checkpoint(); ///< at once: the run has paused or ended; false: somebody reads meanwhile

private:
    Result<void> done(Result<void> result);

    std::unique_ptr<Store> m_store;
    std::function<void()> m_afterWrite;
    bool m_written = true;           ///< since rest() looked last
    std::optional<double> m_quietAt; ///< since then nothing was written, and the WAL holds something
};

/// Now, as ISO 8601 in UTC with milliseconds.
std::string timestamp();

} // namespace espalier
