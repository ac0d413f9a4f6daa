// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/device/sim/ptx_module.h"

#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace espalier::sim {

/// Parsed PTX by the SHA-256 of its text: parent and root are registered by every fresh runner. Keeps the most
/// recently used ones. Thread: simgpu's main thread.
class ModuleCache
{
public:
    explicit ModuleCache(std::size_t capacity = 64) : m_capacity(capacity) {}
    Result<std::shared_ptr<const PtxModule>> parsed(std::string_view ptx);

private:
    struct Entry {
        std::string hash;
        std::shared_ptr<const PtxModule> module;
    };
    std::size_t m_capacity;
    std::list<Entry> m_entries; ///< most recently used first
};

} // namespace espalier::sim
