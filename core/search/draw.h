// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace espalier {

/// Chance as a function: the same numbers in, the same number out, on every machine and after every restart (the
/// standard library's generators and distributions promise neither). SplitMix64's finaliser over each part
/// (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). Not for secrets. Thread: any.
inline std::uint64_t drawOf(std::initializer_list<std::uint64_t> parts)
{
    std::uint64_t state = 0x6a09e667f3bcc909ull;
    for (const std::uint64_t part : parts) {
        std::uint64_t z = (state ^ part) + 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        state = z ^ (z >> 31);
    }
    return state;
}

/// In [0, 1).
inline double unitDrawOf(std::initializer_list<std::uint64_t> parts)
{
    return static_cast<double>(drawOf(parts) >> 11) * 0x1.0p-53;
}

/// FNV-1a: a text as a part of a draw.
inline std::uint64_t drawPart(std::string_view text)
{
    std::uint64_t hash = 14695981039346656037ull;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    }
    return hash;
}

} // namespace espalier
