// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace espalier {

/// SHA-256 of `bytes` as 64 lower-case hexadecimal digits: the name of every artefact and the key of every cache.
/// Cryptographic on purpose: candidates are adversarial and must not be able to collide with another's build.
std::string sha256(std::string_view bytes);

/// Hash of several parts that cannot be confused with another split of the same text (each part's length goes in).
std::string sha256Of(std::initializer_list<std::string_view> parts);

/// `bytes` random bytes from the system, for secrets. Never returns fewer.
std::string randomBytes(std::size_t bytes);
/// A random 64-bit number from the system, for secret seeds.
unsigned long long randomSeed();

std::string toBase64(std::string_view bytes);
/// Empty result and `false` in `ok` when the text is not base64.
std::string fromBase64(std::string_view text, bool& ok);

} // namespace espalier
