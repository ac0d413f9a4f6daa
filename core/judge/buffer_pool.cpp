// SPDX-License-Identifier: Apache-2.0
#include "core/judge/buffer_pool.h"

#include "core/base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier::judge {

std::uint64_t BufferPool::rounded(std::uint64_t bytes) const
{
    const std::uint64_t granule = std::max<std::uint64_t>(m_device.info().granularity, 4096);
    return std::max<std::uint64_t>(1, (bytes + granule - 1) / granule) * granule;
}

BufferPool::Entry* BufferPool::idle(const Want& want)
{
    if (want.temporary) {
        return nullptr;
    }
    const std::uint64_t bytes = rounded(want.bytes + want.retreat);
    for (const auto& entry : m_entries) {
        if (!entry->inUse && entry->purpose == want.purpose && entry->buffer->bytes() == bytes) {
            return entry.get();
        }
    }
    return nullptr;
}

bool BufferPool::evictOldest()
{
    auto oldest = m_entries.end();
    for (auto it = m_entries.begin(); it != m_entries.end(); ++it) {
        if (!(*it)->inUse && (oldest == m_entries.end() || (*it)->lastUse < (*oldest)->lastUse)) {
            oldest = it;
        }
    }
    if (oldest == m_entries.end()) {
        return false;
    }
    m_forget((*oldest)->serial);
    m_entries.erase(oldest);
    return true;
}

Result<void> BufferPool::makeRoom(std::uint64_t missing, std::uint64_t reserve)
{
    for (;;) {
        ESPALIER_TRY(const DeviceMemory memory, m_device.memory());
        if (memory.freeBytes >= missing + reserve) {
            return {};
        }
        if (!evictOldest()) {
            return fail(
                ErrorCode::OutOfMemory,
                fmt::format(
                    "needs {} of device memory, has {} free of {}; free memory on the device or choose smaller cases",
                    bytesText(missing + reserve), bytesText(memory.freeBytes), bytesText(memory.totalBytes)));
        }
    }
}

Result<std::vector<Region>> BufferPool::take(const std::vector<Want>& wants, std::uint64_t reserve)
{
    std::vector<Entry*> chosen;
    std::uint64_t missing = 0;
    ++m_clock;
    for (const Want& want : wants) {
        Entry* entry = idle(want);
        if (entry) {
            entry->inUse = true;
            entry->lastUse = m_clock;
        } else {
            missing += rounded(want.bytes + want.retreat);
        }
        chosen.push_back(entry);
    }
    if (missing > 0) {
        if (auto room = makeRoom(missing, reserve); !room) {
            release();
            return std::unexpected(room.error());
        }
    }
    std::vector<Region> regions;
    for (std::size_t i = 0; i < wants.size(); ++i) {
        if (!chosen[i]) {
            auto buffer = m_device.allocate(rounded(wants[i].bytes + wants[i].retreat));
            if (!buffer) {
                release();
                return std::unexpected(buffer.error());
            }
            m_entries.push_back(std::make_unique<Entry>(
                Entry{std::move(*buffer), wants[i].purpose, m_nextSerial++, m_clock, true, wants[i].temporary}));
            chosen[i] = m_entries.back().get();
        }
        const std::uint64_t capacity = chosen[i]->buffer->bytes();
        const std::uint64_t end = capacity - wants[i].bytes - wants[i].retreat;
        const std::uint64_t offset = end / wants[i].alignment * wants[i].alignment;
        regions.push_back({chosen[i]->buffer.get(), chosen[i]->serial, offset, wants[i].bytes});
    }
    return regions;
}

void BufferPool::release()
{
    for (const auto& entry : m_entries) {
        entry->inUse = false;
        if (entry->temporary) {
            m_forget(entry->serial);
        }
    }
    std::erase_if(m_entries, [](const auto& entry) { return entry->temporary; });
}

void BufferPool::clear()
{
    release();
    while (evictOldest()) {
    }
}

} // namespace espalier::judge
