// SPDX-License-Identifier: Apache-2.0
#include "core/judge/artefact_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace espalier::judge {
namespace {

TEST(ArtefactStore, KeepsAndReturns)
{
    ArtefactStore store(1000);
    ASSERT_TRUE(store.put("a", "text"));
    EXPECT_TRUE(store.has("a"));
    EXPECT_FALSE(store.has("b"));
    EXPECT_EQ(*store.text("a"), "text");
    EXPECT_EQ(*store.bytes("a"), 4U);
    EXPECT_FALSE(store.descriptor("b"));
}

TEST(ArtefactStore, WhatARunnerGetsCannotBeChanged)
{
    ArtefactStore store(1000);
    ASSERT_TRUE(store.put("a", "text"));
    const int fd = *store.descriptor("a");
    EXPECT_LT(::pwrite(fd, "x", 1, 0), 0);
    EXPECT_NE(::ftruncate(fd, 0), 0);
    EXPECT_EQ(*store.text("a"), "text");
}

TEST(ArtefactStore, ForgetsTheLeastRecentlyUsed)
{
    ArtefactStore store(10);
    ASSERT_TRUE(store.put("a", "1234"));
    ASSERT_TRUE(store.put("b", "1234"));
    EXPECT_TRUE(store.has("a")); // now b is older
    ASSERT_TRUE(store.put("c", "1234"));
    EXPECT_TRUE(store.has("a"));
    EXPECT_FALSE(store.has("b"));
    ASSERT_TRUE(store.put("huge", std::string(100, 'x'))); // the newest always stays
    EXPECT_TRUE(store.has("huge"));
    EXPECT_FALSE(store.has("a"));
}

} // namespace
} // namespace espalier::judge
