// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/toolchain.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace espalier {

/// One thing to be compiled, named by what goes into it. A value.
struct BuildOrder {
    SourceRole role = SourceRole::Candidate;
    std::string source;
    std::vector<std::string> libraries;
    std::string key() const;
};

/// Libraries by what they were compiled from. The same source is compiled once, however many ask for it; an old library
/// that fell off the shelf comes back through the build pool's own cache. Thread: the engine's. Refers to the pool.
class LibraryShelf
{
public:
    static constexpr std::size_t mostKept = 96;

    LibraryShelf(BuildPool& pool, std::shared_ptr<const Task> task, std::string architecture, int builders);

    bool room() const { return static_cast<int>(m_running.size()) < m_builders; }
    /// The result when it is there. The pointer holds until the next call of receive() or order().
    const BuildResult* find(const std::string& key) const;
    bool running(const std::string& key) const;
    /// Submits it, unless it is there or on its way.
    void order(const BuildOrder& order);
    std::vector<std::string> receive(); ///< keys that have a result now
    void forget(const std::string& key);
    void cancel(const std::string& key);
    void cancelAll();
    int running() const { return static_cast<int>(m_running.size()); }

private:
    BuildPool& m_pool;
    std::shared_ptr<const Task> m_task;
    std::string m_architecture;
    int m_builders;
    std::int64_t m_nextRequest = 1;
    std::map<RequestId, std::string> m_running;
    std::map<std::string, BuildResult> m_done;
    std::deque<std::string> m_age; ///< oldest first
};

} // namespace espalier
