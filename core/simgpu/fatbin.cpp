// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/fatbin.h"

#include "core/simgpu/wire.h"

#include <fmt/format.h>

namespace espalier::sim {

namespace {

// The container as nvcc 11 to 13 writes it: a header, then entries back to back, each with a header of its own size.
constexpr std::uint32_t containerMagic = 0xBA55ED50;
constexpr std::uint16_t ptxKind = 1;
constexpr std::uint64_t compressedFlags = 0xf000; ///< 0x2000 LZ4, 0x8000 zstd, the others unused so far

struct Entry {
    std::uint16_t kind = 0;
    std::uint32_t architecture = 0;
    bool compressed = false;
    std::string_view payload;
};

/// Takes one entry off the front of `rest`; false when it does not fit.
bool takeEntry(std::string_view& rest, Entry& entry)
{
    ByteReader reader(rest);
    entry.kind = reader.get<std::uint16_t>();
    reader.get<std::uint16_t>();
    const auto headerBytes = reader.get<std::uint32_t>();
    const auto payloadBytes = reader.get<std::uint64_t>();
    const auto compressedBytes = reader.get<std::uint32_t>();
    reader.get<std::uint32_t>();
    reader.get<std::uint32_t>();
    entry.architecture = reader.get<std::uint32_t>();
    reader.get<std::uint64_t>();
    const auto flags = reader.get<std::uint64_t>();
    if (!reader.ok() || headerBytes < 48 || headerBytes > rest.size() || payloadBytes > rest.size() - headerBytes) {
        return false;
    }
    entry.compressed = compressedBytes != 0 || (flags & compressedFlags) != 0;
    entry.payload = rest.substr(headerBytes, payloadBytes);
    rest.remove_prefix(headerBytes + payloadBytes);
    return true;
}

std::string_view withoutPadding(std::string_view text)
{
    while (!text.empty() && text.back() == '\0') {
        text.remove_suffix(1);
    }
    return text;
}

} // namespace

Result<std::string_view> ptxOfFatbin(std::string_view fatbin, int sm)
{
    const auto broken = [](const char* what) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("the library's fat binary is broken ({}): build it with nvcc 13", what));
    };
    ByteReader reader(fatbin);
    const auto magic = reader.get<std::uint32_t>();
    reader.get<std::uint16_t>();
    const auto headerBytes = reader.get<std::uint16_t>();
    const auto bodyBytes = reader.get<std::uint64_t>();
    if (!reader.ok() || magic != containerMagic) {
        return broken("no container header");
    }
    if (headerBytes < 16 || headerBytes > fatbin.size() || bodyBytes > fatbin.size() - headerBytes) {
        return broken("a size in its header is wrong");
    }
    std::string_view rest = fatbin.substr(headerBytes, bodyBytes);
    Entry best;
    while (!rest.empty()) {
        Entry entry;
        if (!takeEntry(rest, entry)) {
            return broken("an entry is cut short");
        }
        if (entry.kind == ptxKind && entry.architecture <= static_cast<std::uint32_t>(sm) &&
            entry.architecture > best.architecture) {
            best = entry;
        }
    }
    if (best.payload.empty()) {
        return fail(
            ErrorCode::NotSupported,
            fmt::format("the library holds no PTX for sm_{}: build it with code=[sm_{}a,compute_{}a]", sm, sm, sm));
    }
    if (best.compressed) {
        return fail(ErrorCode::NotSupported, "the library's PTX is compressed: build it with nvcc's --no-compress");
    }
    return withoutPadding(best.payload);
}

} // namespace espalier::sim
