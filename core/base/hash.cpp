// SPDX-License-Identifier: Apache-2.0
#include "core/base/hash.h"

#include <cassert>
#include <sodium.h>
#include <vector>

namespace espalier {

namespace {

void ensureSodium()
{
    static const int ready = sodium_init();
    assert(ready >= 0);
    (void)ready;
}

std::string hexOf(const unsigned char (&digest)[crypto_hash_sha256_BYTES])
{
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * sizeof digest);
    for (const unsigned char byte : digest) {
        text.push_back(digits[byte >> 4]);
        text.push_back(digits[byte & 15]);
    }
    return text;
}

} // namespace

std::string sha256(std::string_view bytes)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(digest, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    return hexOf(digest);
}

std::string sha256Of(std::initializer_list<std::string_view> parts)
{
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    for (const std::string_view part : parts) {
        const unsigned long long length = part.size();
        crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(&length), sizeof length);
        crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
    }
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&state, digest);
    return hexOf(digest);
}

std::string randomBytes(std::size_t bytes)
{
    ensureSodium();
    std::string result(bytes, '\0');
    randombytes_buf(result.data(), bytes);
    return result;
}

unsigned long long randomSeed()
{
    ensureSodium();
    unsigned long long seed = 0;
    randombytes_buf(&seed, sizeof seed);
    return seed;
}

std::string toBase64(std::string_view bytes)
{
    std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
    sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                      sodium_base64_VARIANT_ORIGINAL);
    text.pop_back(); // the terminator that the length includes
    return text;
}

std::string fromBase64(std::string_view text, bool& ok)
{
    std::string bytes(text.size() / 4 * 3 + 3, '\0');
    std::size_t length = 0;
    ok = sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(), text.size(),
                           nullptr, &length, nullptr, sodium_base64_VARIANT_ORIGINAL) == 0;
    bytes.resize(ok ? length : 0);
    return bytes;
}

} // namespace espalier
