// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace espalier {

struct FatPart {
    std::uint16_t kind;         ///< 1: PTX, 2: machine code
    std::uint32_t architecture; ///< 90
    std::string payload;
    std::uint64_t flags = 0;
};

/// A library's bytes with one fat binary in them, as nvcc 13 lays it out, at an address that is a multiple of eight.
inline std::string fatLibrary(const std::vector<FatPart>& parts)
{
    const auto put = [](std::string& out, std::size_t at, const auto value) {
        std::memcpy(out.data() + at, &value, sizeof value);
    };
    std::string body;
    for (const FatPart& part : parts) {
        std::string header(64, '\0');
        std::string payload = part.payload;
        payload.resize((payload.size() + 8) / 8 * 8, '\0'); // nvcc pads with zeros
        put(header, 0, part.kind);
        put(header, 4, std::uint32_t{64});
        put(header, 8, std::uint64_t{payload.size()});
        put(header, 28, part.architecture);
        put(header, 40, part.flags);
        body += header + payload;
    }
    std::string container(16, '\0');
    put(container, 0, std::uint32_t{0xBA55ED50});
    put(container, 4, std::uint16_t{1});
    put(container, 6, std::uint16_t{16});
    put(container, 8, std::uint64_t{body.size()});
    return std::string(64, 'x') + container + body + std::string(24, 'y');
}

} // namespace espalier
