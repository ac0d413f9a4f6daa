// SPDX-License-Identifier: Apache-2.0
#include "core/build/fat_binary.h"

#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace espalier {

namespace {

// The container as nvcc 13 writes it: a header, then entries back to back, each with a header of its own size.
constexpr std::uint32_t containerMagic = 0xBA55ED50;
constexpr std::uint16_t ptxKind = 1, cubinKind = 2;
constexpr std::uint64_t compressedFlags = 0xf000;

std::unexpected<Error> malformed(std::string_view what)
{
    return fail(ErrorCode::InvalidInput, fmt::format("the library's machine code cannot be read: {}", what));
}

/// A copy of the value at an offset; nullopt outside the bytes.
template <typename T>
std::optional<T> valueAt(std::string_view bytes, std::uint64_t offset)
{
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
        return std::nullopt;
    }
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

std::optional<std::string_view> partOf(std::string_view bytes, std::uint64_t offset, std::uint64_t size)
{
    if (offset > bytes.size() || size > bytes.size() - offset) {
        return std::nullopt;
    }
    return bytes.substr(offset, size);
}

/// Reads one container at the start of `bytes`; returns its length.
Result<std::size_t> readContainer(std::string_view bytes, std::vector<FatEntry>& entries)
{
    const auto headerBytes = valueAt<std::uint16_t>(bytes, 6);
    const auto bodyBytes = valueAt<std::uint64_t>(bytes, 8);
    const auto body = headerBytes && bodyBytes && *headerBytes >= 16 ? partOf(bytes, *headerBytes, *bodyBytes)
                                                                     : std::optional<std::string_view>();
    if (!body) {
        return malformed("a size in a fat binary's header is wrong");
    }
    for (std::string_view rest = *body; !rest.empty();) {
        const auto kind = valueAt<std::uint16_t>(rest, 0);
        const auto entryHeader = valueAt<std::uint32_t>(rest, 4);
        const auto payloadBytes = valueAt<std::uint64_t>(rest, 8);
        const auto compressedBytes = valueAt<std::uint32_t>(rest, 16);
        const auto architecture = valueAt<std::uint32_t>(rest, 28);
        const auto flags = valueAt<std::uint64_t>(rest, 40);
        const auto payload =
            flags && *entryHeader >= 48 ? partOf(rest, *entryHeader, *payloadBytes) : std::optional<std::string_view>();
        if (!payload) {
            return malformed("an entry of a fat binary is cut short");
        }
        entries.push_back({*kind == ptxKind     ? FatEntry::Kind::Ptx
                           : *kind == cubinKind ? FatEntry::Kind::Cubin
                                                : FatEntry::Kind::Other,
                           static_cast<int>(*architecture & 0xffff),
                           *compressedBytes != 0 || (*flags & compressedFlags) != 0, *payload});
        rest.remove_prefix(*entryHeader + *payloadBytes);
    }
    return *headerBytes + body->size();
}

Result<std::string_view> bestEntry(std::string_view library, FatEntry::Kind kind, std::string_view what)
{
    ESPALIER_TRY(const std::vector<FatEntry> entries, readFatBinaries(library));
    const FatEntry* best = nullptr;
    for (const FatEntry& entry : entries) {
        if (entry.kind == kind && !entry.payload.empty() && (!best || entry.architecture > best->architecture)) {
            best = &entry;
        }
    }
    if (!best) {
        return fail(ErrorCode::NotFound, fmt::format("the library holds no {}", what));
    }
    if (best->compressed) {
        return fail(ErrorCode::NotSupported,
                    fmt::format("the library's {} is compressed: build it with --no-compress", what));
    }
    return best->payload;
}

} // namespace

Result<std::vector<FatEntry>> readFatBinaries(std::string_view library)
{
    std::vector<FatEntry> entries;
    const std::string_view magic(reinterpret_cast<const char*>(&containerMagic), sizeof containerMagic);
    for (std::size_t found = library.find(magic); found != std::string_view::npos; found = library.find(magic, found)) {
        if (found % 8 != 0) { // containers are aligned; anything else is data that looks like one
            ++found;
            continue;
        }
        ESPALIER_TRY(const std::size_t length, readContainer(library.substr(found), entries));
        found += length;
    }
    return entries;
}

Result<std::string_view> ptxOfLibrary(std::string_view library)
{
    ESPALIER_TRY(std::string_view text, bestEntry(library, FatEntry::Kind::Ptx, "PTX"));
    while (!text.empty() && text.back() == '\0') {
        text.remove_suffix(1);
    }
    return text;
}

Result<std::string_view> cubinOfLibrary(std::string_view library)
{
    return bestEntry(library, FatEntry::Kind::Cubin, "machine code");
}

} // namespace espalier
