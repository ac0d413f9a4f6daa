// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/work_queue.h"

#include "core/simgpu/simgpu_protocol.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace espalier::sim {

WorkQueue::WorkQueue()
{
    m_streams[legacyStream] = {};
    m_streams[perThreadStream] = {true, {}};
    m_streams[givenStream] = {};
}

bool WorkQueue::createStream(std::uint32_t stream, bool blocking)
{
    if (m_streams.size() >= maxStreams || stream == allStreams || m_streams.contains(stream)) {
        return false;
    }
    m_streams[stream] = {blocking, blocking ? m_streams[legacyStream].ends : std::vector<WorkId>{}};
    return true;
}

bool WorkQueue::destroyStream(std::uint32_t stream)
{
    return stream >= firstFreeStream && m_streams.erase(stream) == 1;
}

/// Ends that were executed meanwhile are dropped, so the lists stay as short as there are streams.
void WorkQueue::mergeEnds(std::vector<WorkId>& into, const std::vector<WorkId>& more) const
{
    into.insert(into.end(), more.begin(), more.end());
    std::ranges::sort(into);
    into.erase(std::unique(into.begin(), into.end()), into.end());
    std::erase_if(into, [this](WorkId id) { return !m_items.contains(id); });
}

WorkId WorkQueue::enqueue(std::uint32_t stream, Work work)
{
    const auto found = m_streams.find(stream);
    assert(found != m_streams.end());
    const WorkId id = ++m_lastId;
    std::vector<WorkId> after = std::move(found->second.ends);
    if (stream == legacyStream) {
        for (const auto& [other, state] : m_streams) {
            if (state.blocking) {
                after.insert(after.end(), state.ends.begin(), state.ends.end());
            }
        }
    }
    mergeEnds(after, {});
    m_items.emplace(id, Item{std::move(after), std::move(work)});
    found->second.ends = {id};
    if (stream == legacyStream) {
        for (auto& [other, state] : m_streams) {
            if (state.blocking) {
                state.ends = {id};
            }
        }
    }
    return id;
}

bool WorkQueue::recordEvent(std::uint32_t event, std::uint32_t stream)
{
    if (m_events.size() >= maxEvents) {
        // Waiting for work that is done is waiting for nothing, so such records can be forgotten.
        std::erase_if(m_events, [this](const auto& recorded) {
            return std::ranges::none_of(recorded.second, [this](WorkId id) { return m_items.contains(id); });
        });
    }
    if (!m_streams.contains(stream) || (m_events.size() >= maxEvents && !m_events.contains(event))) {
        return false;
    }
    m_events[event] = endOf(stream);
    return true;
}

bool WorkQueue::waitEvent(std::uint32_t stream, std::uint32_t event)
{
    const auto found = m_streams.find(stream);
    if (found == m_streams.end()) {
        return false;
    }
    if (const auto recorded = m_events.find(event); recorded != m_events.end()) {
        mergeEnds(found->second.ends, recorded->second);
    }
    return true;
}

std::vector<WorkId> WorkQueue::endOf(std::uint32_t stream) const
{
    std::vector<WorkId> ends;
    if (stream == allStreams) {
        for (const auto& [id, item] : m_items) {
            ends.push_back(id);
        }
        return ends;
    }
    if (const auto found = m_streams.find(stream); found != m_streams.end()) {
        mergeEnds(ends, found->second.ends);
        if (stream == legacyStream) {
            for (const auto& [other, state] : m_streams) {
                if (state.blocking) {
                    mergeEnds(ends, state.ends);
                }
            }
        }
    }
    return ends;
}

std::vector<WorkId> WorkQueue::reachableFrom(std::span<const WorkId> ends) const
{
    std::set<WorkId> reached;
    std::vector<WorkId> open(ends.begin(), ends.end());
    while (!open.empty()) {
        const WorkId id = open.back();
        open.pop_back();
        const auto found = m_items.find(id);
        if (found != m_items.end() && reached.insert(id).second) {
            open.insert(open.end(), found->second.after.begin(), found->second.after.end());
        }
    }
    return {reached.begin(), reached.end()};
}

std::vector<WorkId> WorkQueue::pending() const
{
    return endOf(allStreams);
}

void WorkQueue::clear()
{
    m_items.clear();
    for (auto& [id, stream] : m_streams) {
        stream.ends.clear();
    }
    m_events.clear();
}

} // namespace espalier::sim
