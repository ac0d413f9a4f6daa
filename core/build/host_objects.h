// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace espalier {

/// Host objects of late builds by what they depend on, the least lately used forgotten first. In memory only: they are
/// cheap to make again. Thread: any.
class HostObjects
{
public:
    explicit HostObjects(std::size_t most = 64) : m_most(most) {}

    std::shared_ptr<const std::string> find(const std::string& key)
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_byKey.find(key);
        if (found == m_byKey.end()) {
            return nullptr;
        }
        m_entries.splice(m_entries.begin(), m_entries, found->second);
        return found->second->second;
    }

    void store(const std::string& key, std::string object)
    {
        const std::lock_guard lock(m_mutex);
        if (m_byKey.contains(key) || m_refused.contains(key)) {
            return;
        }
        m_entries.emplace_front(key, std::make_shared<const std::string>(std::move(object)));
        m_byKey[key] = m_entries.begin();
        if (m_entries.size() > m_most) {
            m_byKey.erase(m_entries.back().first);
            m_entries.pop_back();
        }
    }

    /// It does not fit the device parts that were made for it: they are built whole from now on.
    void refuse(const std::string& key)
    {
        const std::lock_guard lock(m_mutex);
        m_refused.insert(key);
        if (const auto found = m_byKey.find(key); found != m_byKey.end()) {
            m_entries.erase(found->second);
            m_byKey.erase(found);
        }
    }
    bool refused(const std::string& key)
    {
        const std::lock_guard lock(m_mutex);
        return m_refused.contains(key);
    }

private:
    using Entry = std::pair<std::string, std::shared_ptr<const std::string>>;
    std::size_t m_most;
    std::mutex m_mutex;
    std::list<Entry> m_entries; ///< most lately used first
    std::unordered_map<std::string, std::list<Entry>::iterator> m_byKey;
    std::unordered_set<std::string> m_refused; ///< a name of 64 bytes each
};

} // namespace espalier
