// SPDX-License-Identifier: Apache-2.0
#include "core/build/build_cache.h"

#include "core/base/file.h"
#include "core/base/hash.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <thread>

namespace espalier {
namespace {

namespace fs = std::filesystem;

BuildCache::Entry passed(std::string bytes)
{
    BuildCache::Entry entry;
    entry.evaluation.outcome = Outcome::Passed;
    entry.evaluation.stage = Stage::Build;
    entry.evaluation.build = BuildRecord{};
    entry.evaluation.build->libraryHash = sha256(bytes);
    entry.library = Library{sha256(bytes), std::make_shared<const std::string>(std::move(bytes))};
    return entry;
}

const std::string key = sha256("a key");

TEST(BuildCache, KeepsBuildsAndFailures)
{
    const auto scratch = *ScratchFolder::create("cache");
    const BuildCache cache(scratch.path() / "deep/er");
    EXPECT_FALSE(cache.find(key).has_value());
    ASSERT_TRUE(cache.store(key, passed(std::string("lib\0\n\xFF", 6))).has_value());
    const auto found = cache.find(key);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found->library->bytes, std::string("lib\0\n\xFF", 6));
    BuildCache::Entry failed;
    failed.evaluation.outcome = Outcome::BuildFailed;
    failed.evaluation.reason = "no";
    failed.evaluation.build = BuildRecord{};
    ASSERT_TRUE(cache.store(sha256("other"), failed).has_value());
    EXPECT_EQ(cache.find(sha256("other"))->evaluation.reason, "no");
    EXPECT_FALSE(cache.find(sha256("other"))->library.has_value());
}

TEST(BuildCache, EveryDamageIsAMiss)
{
    const auto scratch = *ScratchFolder::create("cache");
    const BuildCache cache(scratch.path());
    ASSERT_TRUE(cache.store(key, passed("the library")).has_value());
    const fs::path file = scratch.path() / key.substr(0, 2) / key;
    const std::string whole = *readFile(file);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
        std::ofstream(file, std::ios::binary) << damaged;
        ASSERT_FALSE(cache.find(key).has_value()) << i;
        std::ofstream(file, std::ios::binary) << whole.substr(0, i);
        ASSERT_FALSE(cache.find(key).has_value()) << i;
    }
    std::ofstream(file, std::ios::binary) << whole;
    EXPECT_TRUE(cache.find(key).has_value());
}

TEST(BuildCache, WritersOfOneKeyDoNotDisturbEachOther)
{
    const auto scratch = *ScratchFolder::create("cache");
    const BuildCache cache(scratch.path());
    ASSERT_TRUE(cache.store(key, passed(std::string(100000, 'a'))).has_value());
    std::vector<std::jthread> writers;
    for (int w = 0; w < 3; ++w) {
        writers.emplace_back([&cache] {
            for (int i = 0; i < 20; ++i) {
                EXPECT_TRUE(cache.store(key, passed(std::string(100000, 'a'))).has_value());
            }
        });
    }
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(cache.find(key).has_value());
    }
}

TEST(BuildCache, AFolderThatCannotBeWritten)
{
    const auto scratch = *ScratchFolder::create("cache");
    std::ofstream(scratch.path() / "file") << "x";
    const BuildCache cache(scratch.path() / "file");
    EXPECT_EQ(cache.store(key, passed("x")).error().code, ErrorCode::Io);
    EXPECT_FALSE(cache.find(key).has_value());
}

} // namespace
} // namespace espalier
