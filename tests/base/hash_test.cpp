// SPDX-License-Identifier: Apache-2.0
#include "core/base/hash.h"

#include <gtest/gtest.h>

using namespace espalier;

TEST(Hash, KnownDigest)
{
    // FIPS 180-2 appendix B.1
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, PartsCannotBeConfused)
{
    EXPECT_NE(sha256Of({"ab", "c"}), sha256Of({"a", "bc"}));
    EXPECT_EQ(sha256Of({"ab", "c"}), sha256Of({"ab", "c"}));
}

TEST(Hash, Base64RoundTrip)
{
    for (std::size_t size = 0; size < 70; ++size) {
        const std::string bytes = randomBytes(size);
        bool ok = false;
        EXPECT_EQ(fromBase64(toBase64(bytes), ok), bytes);
        EXPECT_TRUE(ok);
    }
    bool ok = true;
    EXPECT_EQ(fromBase64("not base64!", ok), "");
    EXPECT_FALSE(ok);
}

TEST(Hash, SecretsDiffer)
{
    EXPECT_NE(randomSeed(), randomSeed());
}
