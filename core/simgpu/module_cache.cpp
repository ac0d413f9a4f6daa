// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/module_cache.h"

#include "core/base/hash.h"

#include <algorithm>

namespace espalier::sim {

Result<std::shared_ptr<const PtxModule>> ModuleCache::parsed(std::string_view ptx)
{
    std::string hash = sha256(ptx);
    const auto found = std::ranges::find(m_entries, hash, &Entry::hash);
    if (found != m_entries.end()) {
        m_entries.splice(m_entries.begin(), m_entries, found);
        return m_entries.front().module;
    }
    ESPALIER_TRY(std::shared_ptr<const PtxModule> module, PtxModule::parse(ptx));
    m_entries.push_front({std::move(hash), module});
    if (m_entries.size() > m_capacity) {
        m_entries.pop_back();
    }
    return module;
}

} // namespace espalier::sim
