// SPDX-License-Identifier: Apache-2.0
#include "core/search/library_shelf.h"

#include "core/base/hash.h"

#include <algorithm>

namespace espalier {

std::string BuildOrder::key() const
{
    std::string linked;
    for (const std::string& library : libraries) {
        linked += library + "\n";
    }
    return sha256Of({std::to_string(static_cast<int>(role)), source, linked});
}

LibraryShelf::LibraryShelf(BuildPool& pool, std::shared_ptr<const Task> task, std::string architecture, int builders)
    : m_pool(pool), m_task(std::move(task)), m_architecture(std::move(architecture)), m_builders(std::max(1, builders))
{
}

const BuildResult* LibraryShelf::find(const std::string& key) const
{
    const auto found = m_done.find(key);
    return found == m_done.end() ? nullptr : &found->second;
}

bool LibraryShelf::running(const std::string& key) const
{
    return std::any_of(m_running.begin(), m_running.end(), [&key](const auto& entry) { return entry.second == key; });
}

void LibraryShelf::order(const BuildOrder& order)
{
    std::string key = order.key();
    if (m_done.contains(key) || running(key)) {
        return;
    }
    const RequestId id{m_nextRequest++};
    m_running.emplace(id, std::move(key));
    m_pool.submit({id, m_task, order.role, order.source, order.libraries, m_architecture});
}

std::vector<std::string> LibraryShelf::receive()
{
    std::vector<std::string> ready;
    for (BuildResult& result : m_pool.receive()) {
        const auto running = m_running.find(result.id);
        if (running == m_running.end()) {
            continue; // cancelled meanwhile
        }
        std::string key = running->second;
        m_running.erase(running);
        m_done.insert_or_assign(key, std::move(result));
        m_age.push_back(key);
        ready.push_back(std::move(key));
    }
    while (m_age.size() > mostKept) {
        if (std::find(ready.begin(), ready.end(), m_age.front()) != ready.end()) {
            break;
        }
        m_done.erase(m_age.front());
        m_age.pop_front();
    }
    return ready;
}

void LibraryShelf::forget(const std::string& key)
{
    m_done.erase(key);
    std::erase(m_age, key);
}

void LibraryShelf::cancel(const std::string& key)
{
    for (auto entry = m_running.begin(); entry != m_running.end(); ++entry) {
        if (entry->second == key) {
            m_pool.cancel(entry->first);
            m_running.erase(entry);
            return;
        }
    }
}

void LibraryShelf::cancelAll()
{
    for (const auto& [id, key] : m_running) {
        m_pool.cancel(id);
    }
    m_running.clear();
}

} // namespace espalier
