// SPDX-License-Identifier: Apache-2.0
#include "core/runner/runner_messages.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace espalier::runner {

namespace {

constexpr std::uint32_t requestMagic = 0x51525345; // "ESRQ"
constexpr std::uint32_t replyMagic = 0x50525345;   // "ESRP"

class Writer
{
public:
    template <typename T>
    void put(T value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        m_bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put(std::string_view text)
    {
        put(static_cast<std::uint32_t>(text.size()));
        m_bytes.append(text);
    }
    std::string take() { return std::move(m_bytes); }

private:
    std::string m_bytes;
};

/// Reads past the end give zeros and make ok() false: the caller checks once, at the end.
class Reader
{
public:
    explicit Reader(std::string_view bytes) : m_rest(bytes) {}

    template <typename T>
    T get()
    {
        static_assert(std::is_trivially_copyable_v<T>);
        T value = {};
        if (m_rest.size() < sizeof value) {
            m_ok = false;
            m_rest = {};
            return value;
        }
        std::memcpy(&value, m_rest.data(), sizeof value);
        m_rest.remove_prefix(sizeof value);
        return value;
    }
    bool flag()
    {
        const auto byte = get<std::uint8_t>();
        m_ok &= byte <= 1;
        return byte == 1;
    }
    std::uint32_t count(std::size_t limit)
    {
        const auto value = get<std::uint32_t>();
        if (value > limit) {
            m_ok = false;
            return 0;
        }
        return value;
    }
    std::string text(std::size_t limit)
    {
        const std::uint32_t size = count(limit);
        if (m_rest.size() < size) {
            m_ok = false;
            return {};
        }
        std::string value(m_rest.substr(0, size));
        m_rest.remove_prefix(size);
        return value;
    }
    void refuse() { m_ok = false; }
    bool ok() const { return m_ok; }
    bool done() const { return m_ok && m_rest.empty(); }

private:
    std::string_view m_rest;
    bool m_ok = true;
};

void putCalls(Writer& writer, const std::vector<Call>& calls)
{
    assert(calls.size() <= maxCalls);
    writer.put(static_cast<std::uint32_t>(calls.size()));
    for (const Call& call : calls) {
        assert(call.values.size() <= maxValues);
        writer.put(call.function);
        writer.put(static_cast<std::uint32_t>(call.values.size()));
        for (const CallValue& value : call.values) {
            writer.put(value.kind);
            writer.put(value.slot);
            writer.put(value.bits);
        }
        assert(call.snapshots.size() <= maxSnapshots);
        writer.put(static_cast<std::uint32_t>(call.snapshots.size()));
        for (const Snapshot& snapshot : call.snapshots) {
            writer.put(snapshot.fromSlot);
            writer.put(snapshot.toSlot);
            writer.put(snapshot.fromOffset);
            writer.put(snapshot.toOffset);
            writer.put(snapshot.bytes);
        }
    }
}

std::vector<Call> getCalls(Reader& reader)
{
    std::vector<Call> calls(reader.count(maxCalls));
    for (Call& call : calls) {
        call.function = reader.get<std::uint32_t>();
        call.values.resize(reader.count(maxValues));
        for (CallValue& value : call.values) {
            value.kind = reader.get<ValueKind>();
            value.slot = reader.get<std::uint32_t>();
            value.bits = reader.get<std::uint64_t>();
            if (value.kind > ValueKind::F64) {
                reader.refuse();
            }
        }
        call.snapshots.resize(reader.count(maxSnapshots));
        for (Snapshot& snapshot : call.snapshots) {
            snapshot.fromSlot = reader.get<std::uint32_t>();
            snapshot.toSlot = reader.get<std::uint32_t>();
            snapshot.fromOffset = reader.get<std::uint64_t>();
            snapshot.toOffset = reader.get<std::uint64_t>();
            snapshot.bytes = reader.get<std::uint64_t>();
        }
    }
    return calls;
}

/// A time that somebody claims: finite and not negative, or the message is not believed at all.
double getTime(Reader& reader)
{
    const auto value = reader.get<double>();
    if (!std::isfinite(value) || value < 0) {
        reader.refuse();
        return 0;
    }
    return value;
}

} // namespace

std::string encode(const Request& request)
{
    Writer writer;
    writer.put(requestMagic);
    writer.put(request.verb);
    writer.put(request.sequence);
    assert(request.names.size() <= maxNames);
    writer.put(static_cast<std::uint32_t>(request.names.size()));
    for (const std::string& name : request.names) {
        writer.put(std::string_view(name));
    }
    writer.put(static_cast<std::uint8_t>(request.confined));
    writer.put(request.slot);
    writer.put(request.grant.mappedBytes);
    writer.put(request.grant.access);
    writer.put(request.offset);
    writer.put(static_cast<std::uint8_t>(request.displaceL2));
    writer.put(request.emptyCalls);
    putCalls(writer, request.calls);
    return writer.take();
}

Result<Request> decodeRequest(std::string_view bytes)
{
    Reader reader(bytes);
    Request request;
    if (reader.get<std::uint32_t>() != requestMagic) {
        reader.refuse();
    }
    request.verb = reader.get<Verb>();
    request.sequence = reader.get<std::uint64_t>();
    request.names.resize(reader.count(maxNames));
    for (std::string& name : request.names) {
        name = reader.text(maxText);
    }
    request.confined = reader.flag();
    request.slot = reader.get<std::uint32_t>();
    request.grant.mappedBytes = reader.get<std::uint64_t>();
    request.grant.access = reader.get<Grant>();
    request.offset = reader.get<std::uint64_t>();
    request.displaceL2 = reader.flag();
    request.emptyCalls = reader.count(maxCalls);
    request.calls = getCalls(reader);
    const bool known =
        request.verb >= Verb::Load && request.verb <= Verb::Collect && request.grant.access <= Grant::ReadWrite;
    if (!reader.done() || !known) {
        return fail(ErrorCode::Protocol, "the judge sent a message that is no request");
    }
    return request;
}

std::string encode(const Reply& reply)
{
    Writer writer;
    writer.put(replyMagic);
    writer.put(reply.sequence);
    writer.put(reply.status);
    writer.put(std::string_view(reply.text).substr(0, maxText));
    writer.put(reply.size);
    writer.put(reply.clock.hostMicroseconds);
    writer.put(static_cast<std::int32_t>(reply.clock.status));
    writer.put(static_cast<std::uint32_t>(reply.clock.failedCall));
    writer.put(std::string_view(reply.clock.refused).substr(0, maxText));
    const std::size_t calls = std::min(reply.clock.calls.size(), maxCalls);
    writer.put(static_cast<std::uint32_t>(calls));
    for (std::size_t i = 0; i < calls; ++i) {
        writer.put(reply.clock.calls[i].eventMicroseconds);
        writer.put(reply.clock.calls[i].hostMicroseconds);
    }
    const GraphFacts& graph = reply.graph;
    for (const std::uint32_t nodes : {graph.kernels, graph.copies, graph.memsets, graph.hosts, graph.others}) {
        writer.put(nodes);
    }
    writer.put(std::string_view(graph.error).substr(0, maxText));
    writer.put(static_cast<std::int32_t>(graph.status));
    return writer.take();
}

Result<Reply> decodeReply(std::string_view bytes)
{
    Reader reader(bytes);
    Reply reply;
    if (reader.get<std::uint32_t>() != replyMagic) {
        reader.refuse();
    }
    reply.sequence = reader.get<std::uint64_t>();
    reply.status = reader.get<Status>();
    reply.text = reader.text(maxText);
    reply.size = reader.get<std::uint64_t>();
    reply.clock.hostMicroseconds = getTime(reader);
    reply.clock.status = reader.get<std::int32_t>();
    reply.clock.failedCall = reader.count(maxCalls);
    reply.clock.refused = reader.text(maxText);
    reply.clock.calls.resize(reader.count(maxCalls));
    for (CallClock& call : reply.clock.calls) {
        call.eventMicroseconds = getTime(reader);
        call.hostMicroseconds = getTime(reader);
    }
    GraphFacts& graph = reply.graph;
    for (std::uint32_t* nodes : {&graph.kernels, &graph.copies, &graph.memsets, &graph.hosts, &graph.others}) {
        *nodes = reader.get<std::uint32_t>();
    }
    graph.error = reader.text(maxText);
    graph.status = reader.get<std::int32_t>();
    if (!reader.done() || reply.status > Status::NoMemory) {
        return fail(ErrorCode::Protocol, "the runner sent a message that is no reply");
    }
    return reply;
}

} // namespace espalier::runner
