// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/device/runner_device.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::runner {

/// The protocol between a judge and one runner: one request, one reply, each one message of a SOCK_SEQPACKET pair
/// (MessageSocket) on descriptor 3 of the runner. Little-endian, fixed sizes. After `Load` everything a runner answers
/// is a claim of an untrusted process: decodeReply() accepts nothing that does not fit to the byte, and the judge takes
/// no verdict from it. The first message after the start is a reply with sequence 0: the runner is ready (or why not).
///
/// Request   descriptors      does
/// Load      the library      loads it and looks up `names`; the value of a reply is a bit set of the names found
/// Map       0 or 1           maps a buffer as `slot`
/// Unmap     -                gives `slot` back
/// Size      -                calls a function that returns size_t: `size` of the reply
/// Block     -                makes the calls in order: `clock` of the reply
/// Empty     -                the same without calling anything (calibration, before Load): `clock` of the reply
/// Ping      -                nothing: wakes a runner that sleeps, so that its waking is not timed
/// Capture   -                captures the calls into one graph: `graph` of the reply
/// Replay    -                launches the captured graph once: `clock` of the reply, with one call
/// Collect   a memory file    only of a profiler (profiler_main.h): makes the calls as often as its collector wants to
/// and
///                            writes what it saw into the file, as JSON
enum class Verb : std::uint32_t { Load = 1, Map, Unmap, Size, Block, Empty, Ping, Capture, Replay, Collect };

enum class ValueKind : std::uint8_t {
    Pointer, ///< address of `slot` plus `bits`
    Null,
    Stream,
    U8,  ///< bool, i8 and 8-bit floats, by their bits
    U16, ///< 16-bit floats, by their bits
    I32,
    I64, ///< also size_t
    F32,
    F64,
};

struct CallValue {
    ValueKind kind = ValueKind::Null;
    std::uint32_t slot = 0;
    std::uint64_t bits = 0;
};

/// A copy made on the stream right behind a call, from one slot to another. Bytes.
struct Snapshot {
    std::uint32_t fromSlot = 0, toSlot = 0;
    std::uint64_t fromOffset = 0, toOffset = 0, bytes = 0;
};

struct Call {
    std::uint32_t function = 0; ///< index in Load's names
    std::vector<CallValue> values;
    std::vector<Snapshot> snapshots; ///< Block only
};

struct Request {
    Verb verb = Verb::Load;
    std::uint64_t sequence = 0;
    std::vector<std::string> names; ///< Load
    bool confined = false;          ///< Load: forbid new processes before the library is loaded
    std::uint32_t slot = 0;         ///< Map, Unmap
    BufferGrant grant;              ///< Map
    std::uint64_t offset = 0;       ///< Map
    bool displaceL2 = false;        ///< Block, Empty, Replay
    std::uint32_t emptyCalls = 0;   ///< Empty
    std::vector<Call> calls;        ///< Block, Capture, Collect, Size (one)
};

enum class Status : std::uint32_t {
    Ok = 0,
    Failed = 1,   ///< the request failed, the runner lives: `text` says why
    Lost = 2,     ///< the device context is gone: `text` has the device's words; the runner ends itself
    NoMemory = 3, ///< the device had no memory for what the runner itself needed
};

struct Reply {
    std::uint64_t sequence = 0;
    Status status = Status::Ok;
    std::string text;
    std::uint64_t size = 0; ///< Size: the value; Load: bit set of found names; ready: version of the runtime (13000)
    BlockClock clock;       ///< Block, Empty, Replay
    GraphFacts graph;       ///< Capture
};

constexpr std::size_t maxCalls = 128;
constexpr std::size_t maxValues = 64;
constexpr std::size_t maxNames = 32;
constexpr std::size_t maxSnapshots = 32; ///< of one call
constexpr std::size_t maxText = 4000;
constexpr std::size_t maxCollected = std::size_t{16} << 20; ///< what a judge reads of Collect's file

/// A request that exceeds the limits above is a bug of the judge's (asserted).
std::string encode(const Request& request);
Result<Request> decodeRequest(std::string_view bytes); ///< Errors: Protocol
std::string encode(const Reply& reply);                ///< cuts `text` to maxText
Result<Reply> decodeReply(std::string_view bytes);     ///< Errors: Protocol

} // namespace espalier::runner
