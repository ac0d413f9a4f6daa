// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/interpreter.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace espalier::sim {

/// One thing a stream was told to do.
struct Work {
    enum class Kind { Launch, Memset, CopyDevice, CopyIn, Free };
    Kind kind = Kind::Launch;
    std::uint32_t kernel = 0; ///< Launch: index of the client's kernel
    Dim3 grid, block;
    std::uint32_t dynamicShared = 0;
    std::uint64_t to = 0, from = 0, bytes = 0;
    std::uint8_t value = 0; ///< Memset
    std::string data;       ///< Launch: parameters; CopyIn: the bytes
};

using WorkId = std::uint64_t;

/// The streams and events of one client as a graph: each piece of work knows what it must come after, so what is
/// *joined* to a stream is what can be reached from its end. Work is executed in the order in which it was enqueued,
/// which always respects the graph. Thread: one.
///
/// The legacy default stream (0) waits for all blocking streams and they wait for it, as in CUDA.
class WorkQueue
{
public:
    WorkQueue();

    bool createStream(std::uint32_t stream, bool blocking); ///< false: exists, or too many
    bool destroyStream(std::uint32_t stream);               ///< its work stays
    bool hasStream(std::uint32_t stream) const { return m_streams.contains(stream); }

    WorkId enqueue(std::uint32_t stream, Work work); ///< the stream must exist (asserted)
    bool recordEvent(std::uint32_t event, std::uint32_t stream);
    bool waitEvent(std::uint32_t stream, std::uint32_t event); ///< an event never recorded: waits for nothing

    /// What the end of a stream comes after; stays valid while more is enqueued.
    std::vector<WorkId> endOf(std::uint32_t stream) const;
    /// Pending work that `ends` come after, themselves included, in order of enqueueing.
    std::vector<WorkId> reachableFrom(std::span<const WorkId> ends) const;
    std::vector<WorkId> pending() const;
    std::size_t size() const { return m_items.size(); }
    WorkId lastId() const { return m_lastId; }
    const Work& work(WorkId id) const { return m_items.at(id).work; }
    void finished(WorkId id) { m_items.erase(id); }
    void clear();

    static constexpr std::size_t maxStreams = 1024;
    static constexpr std::size_t maxEvents = 4096;

private:
    struct Item {
        std::vector<WorkId> after;
        Work work;
    };
    struct Stream {
        bool blocking = false;
        std::vector<WorkId> ends;
    };
    void mergeEnds(std::vector<WorkId>& into, const std::vector<WorkId>& more) const;

    std::map<WorkId, Item> m_items;
    std::map<std::uint32_t, Stream> m_streams;
    std::map<std::uint32_t, std::vector<WorkId>> m_events;
    WorkId m_lastId = 0;
};

} // namespace espalier::sim
