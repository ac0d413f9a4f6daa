// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/device.h"
#include "core/judge/device_session.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace espalier::judge {

/// Buffers that outlive a case, so that small cases and the next candidate find theirs allocated and mapped. A buffer
/// serves one purpose for ever: what one runner may write is never another case's read-only input. Thread: the judge's.
/// Owns them.
class BufferPool
{
public:
    enum class Purpose { Input, Output, Workspace, Reference, Snapshot };

    /// `forget` is called with a buffer's serial before it is freed: runners give their mappings back.
    BufferPool(Device& device, std::function<void(std::uint64_t)> forget)
        : m_device(device), m_forget(std::move(forget))
    {
    }

    /// What one case needs is announced first, so that "needs X, has Y" is said before anything is allocated.
    struct Want {
        Purpose purpose = Purpose::Input;
        std::uint64_t bytes = 0;
        std::uint32_t alignment = 256;
        std::uint64_t retreat = 0; ///< bytes that the data lie further from the buffer's end than they could
        bool temporary = false;    ///< freed by release(): a place and a size that will hardly be asked for again
    };
    /// Regions for all wants, each with its data pushed against the buffer's end as far as its alignment and retreat
    /// allow. Frees idle buffers first when they do not fit. `reserve`: bytes that others will need beside. All regions
    /// are in use until release(). Errors: OutOfMemory "needs X, has Y".
    Result<std::vector<Region>> take(const std::vector<Want>& wants, std::uint64_t reserve);
    void release();
    void clear(); ///< frees everything

private:
    struct Entry {
        std::unique_ptr<DeviceBuffer> buffer;
        Purpose purpose = Purpose::Input;
        std::uint64_t serial = 0;
        std::uint64_t lastUse = 0;
        bool inUse = false;
        bool temporary = false;
    };
    std::uint64_t rounded(std::uint64_t bytes) const;
    Entry* idle(const Want& want);
    bool evictOldest();
    Result<void> makeRoom(std::uint64_t missing, std::uint64_t reserve);

    Device& m_device;
    std::function<void(std::uint64_t)> m_forget;
    std::vector<std::unique_ptr<Entry>> m_entries;
    std::uint64_t m_nextSerial = 1;
    std::uint64_t m_clock = 0;
};

} // namespace espalier::judge
