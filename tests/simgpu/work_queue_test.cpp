// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/work_queue.h"

#include "core/simgpu/simgpu_protocol.h"

#include <gtest/gtest.h>

namespace espalier::sim {
namespace {

using Ids = std::vector<WorkId>;

Ids joined(const WorkQueue& queue)
{
    return queue.reachableFrom(queue.endOf(givenStream));
}

constexpr std::uint32_t side = 10, other = 11, event = 1;

TEST(WorkQueue, StreamOrderJoinsOnlyTheOwnStream)
{
    WorkQueue queue;
    ASSERT_TRUE(queue.createStream(side, false));
    const WorkId a = queue.enqueue(givenStream, {});
    queue.enqueue(side, {});
    const WorkId c = queue.enqueue(givenStream, {});
    EXPECT_EQ(joined(queue), (Ids{a, c}));
    EXPECT_EQ(queue.pending().size(), 3u);
}

TEST(WorkQueue, EventsJoinWhatWasThereWhenTheyWereRecorded)
{
    WorkQueue queue;
    ASSERT_TRUE(queue.createStream(side, false));
    const WorkId before = queue.enqueue(side, {});
    ASSERT_TRUE(queue.recordEvent(event, side));
    queue.enqueue(side, {});
    ASSERT_TRUE(queue.waitEvent(givenStream, event));
    EXPECT_EQ(joined(queue), Ids{before}) << "a wait joins even when nothing follows it";
}

TEST(WorkQueue, ForkAndJoinReachThroughTwoStreams)
{
    WorkQueue queue;
    queue.createStream(side, false);
    queue.createStream(other, false);
    const WorkId a = queue.enqueue(givenStream, {});
    queue.recordEvent(1, givenStream);
    queue.waitEvent(side, 1);
    const WorkId b = queue.enqueue(side, {});
    queue.recordEvent(2, side);
    queue.waitEvent(other, 2);
    const WorkId c = queue.enqueue(other, {});
    EXPECT_EQ(joined(queue), Ids{a});
    queue.recordEvent(3, other);
    queue.waitEvent(givenStream, 3);
    EXPECT_EQ(joined(queue), (Ids{a, b, c}));
}

TEST(WorkQueue, AnEventKeepsItsWorkWhenItsStreamIsDestroyed)
{
    WorkQueue queue;
    queue.createStream(side, false);
    const WorkId a = queue.enqueue(side, {});
    queue.recordEvent(event, side);
    EXPECT_TRUE(queue.destroyStream(side));
    EXPECT_FALSE(queue.hasStream(side));
    queue.waitEvent(givenStream, event);
    EXPECT_EQ(joined(queue), Ids{a});
}

TEST(WorkQueue, TheLegacyStreamWaitsForBlockingStreamsAndTheyForIt)
{
    WorkQueue queue;
    queue.createStream(side, true);
    const WorkId a = queue.enqueue(side, {});
    const WorkId b = queue.enqueue(legacyStream, {});
    EXPECT_EQ(queue.reachableFrom(Ids{b}), (Ids{a, b}));
    const WorkId c = queue.enqueue(side, {});
    EXPECT_EQ(queue.reachableFrom(Ids{c}), (Ids{a, b, c}));
    queue.createStream(other, true);
    const WorkId d = queue.enqueue(other, {});
    EXPECT_EQ(queue.reachableFrom(Ids{d}), (Ids{a, b, d}));
    EXPECT_EQ(joined(queue), Ids{}) << "the given stream is non-blocking";
}

TEST(WorkQueue, FinishedWorkIsForgotten)
{
    WorkQueue queue;
    const WorkId a = queue.enqueue(givenStream, {});
    const WorkId b = queue.enqueue(givenStream, {});
    queue.finished(a);
    EXPECT_EQ(joined(queue), Ids{b});
    queue.finished(b);
    EXPECT_EQ(joined(queue), Ids{});
    EXPECT_EQ(queue.size(), 0u);
}

TEST(WorkQueue, RefusesWhatCannotBe)
{
    WorkQueue queue;
    EXPECT_FALSE(queue.createStream(givenStream, false));
    EXPECT_FALSE(queue.createStream(allStreams, false));
    EXPECT_FALSE(queue.destroyStream(legacyStream));
    EXPECT_FALSE(queue.destroyStream(side));
    EXPECT_FALSE(queue.recordEvent(event, side));
    EXPECT_FALSE(queue.waitEvent(side, event));
    std::size_t made = 0;
    while (queue.createStream(static_cast<std::uint32_t>(100 + made), false)) {
        ++made;
    }
    EXPECT_LE(made, WorkQueue::maxStreams);
}

TEST(WorkQueue, ForgetsRecordsOfFinishedWorkBeforeItRefuses)
{
    WorkQueue queue;
    for (std::uint32_t i = 0; i < 3 * WorkQueue::maxEvents; ++i) {
        const WorkId id = queue.enqueue(givenStream, {});
        ASSERT_TRUE(queue.recordEvent(i, givenStream));
        queue.finished(id);
    }
}

} // namespace
} // namespace espalier::sim
