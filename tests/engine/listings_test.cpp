// SPDX-License-Identifier: Apache-2.0
// PTX and machine code of a candidate, on a thread of their own.
#include "core/engine/listing_desk.h"

#include "tests/engine/engine_harness.h"
#include "tests/support/fat_binary.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <poll.h>
#include <semaphore>

namespace espalier {
namespace {

constexpr const char* ptx =
    ".version 9.0\n.visible .entry k(\n)\n{\n.loc 1 3 1\nret;\n}\n.file 1 \"/b/candidate.cu\"\n";
constexpr const char* sass =
    "//---- .text.k ----\n\t//## File \"/b/candidate.cu\", line 3\n        /*0000*/   EXIT ;\n";

ListingSource fakeSource()
{
    ListingSource source;
    source.library = [](const std::string& key) -> std::optional<Library> {
        if (key == "gone") {
            return std::nullopt;
        }
        return Library{"hash", std::make_shared<const std::string>(fatLibrary({{1, 90, ptx},
                                                                               {2, 90,
                                                                                "\x7f"
                                                                                "ELF cubin"}}))};
    };
    source.disassemble = [](std::string_view cubin) -> Result<std::string> {
        return cubin.starts_with("\x7f"
                                 "ELF")
                   ? Result<std::string>(sass)
                   : fail(ErrorCode::Io, "that was no machine code");
    };
    return source;
}

/// The next listing, waited for as the engine's loop does.
std::shared_ptr<const CodeListings> next(ListingDesk& desk)
{
    pollfd polled{desk.descriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&polled, 1, 20000), 1);
    auto done = desk.take();
    EXPECT_EQ(done.size(), 1u);
    return done.empty() ? std::make_shared<const CodeListings>() : done.front();
}

TEST(Listings, DeskReadsBothTexts)
{
    ListingDesk desk(fakeSource());
    desk.ask(NodeId{7}, "key");
    const auto listings = next(desk);
    EXPECT_EQ(listings->node, NodeId{7});
    EXPECT_EQ(listings->ptx.missing, "");
    ASSERT_EQ(listings->ptx.lines.size(), 6u);
    EXPECT_EQ(listings->ptx.lines[4].chain, (std::vector<ListingPlace>{{"candidate.cu", 3}}));
    ASSERT_EQ(listings->sass.lines.size(), 2u);
    EXPECT_EQ(listings->sass.lines[1].offset, 0u);
    EXPECT_TRUE(desk.take().empty());
}

TEST(Listings, WhatIsMissingSaysWhyAndWhatToDo)
{
    ListingSource source = fakeSource();
    source.disassemble = [](std::string_view) -> Result<std::string> {
        return fail(ErrorCode::NotFound, "Machine code needs nvdisasm, which is not installed.");
    };
    ListingDesk desk(std::move(source));
    desk.ask(NodeId{1}, "key");
    auto listings = next(desk);
    EXPECT_FALSE(listings->ptx.lines.empty()); // PTX always
    EXPECT_EQ(listings->sass.missing, "Machine code needs nvdisasm, which is not installed.");
    desk.ask(NodeId{2}, "gone");
    listings = next(desk);
    EXPECT_NE(listings->ptx.missing.find("evaluate the candidate again"), std::string::npos);
    desk.ask(NodeId{3}, "");
    listings = next(desk);
    EXPECT_NE(listings->sass.missing.find("never built"), std::string::npos);
}

TEST(Listings, OfSeveralQuestionsAboutANodeTheLastCounts)
{
    ListingSource source = fakeSource();
    std::counting_semaphore<> go(0);
    std::atomic<int> read = 0;
    source.library = [&, inner = source.library](const std::string& key) {
        go.acquire();
        ++read;
        return inner(key);
    };
    ListingDesk desk(std::move(source));
    for (int i = 0; i < 5; ++i) {
        desk.ask(NodeId{1}, "key");
    }
    go.release(5);
    (void)next(desk);
    for (int i = 0; i < 100 && read < 2; ++i) {
        pollfd polled{desk.descriptor(), POLLIN, 0};
        (void)::poll(&polled, 1, 10);
    }
    EXPECT_LE(read, 2); // the first may have been under way
}

/// A program in nvdisasm's place: what it is given, how it may fail.
Result<std::string> disassembledBy(const std::string& script)
{
    auto folder = ScratchFolder::create("espalier-fake-nvdisasm-");
    EXPECT_TRUE(folder);
    const std::filesystem::path program = folder->path() / "nvdisasm";
    EXPECT_TRUE(writeFileAtomically(program, "#!/bin/sh\n" + script));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return realListingSource(program.string())
        .disassemble("\x7f"
                     "ELF cubin");
}

TEST(Listings, DisassemblerIsGivenTheCubinAndItsFailureIsASentence)
{
    const auto good =
        disassembledBy("test \"$1 $2\" = '-c -gi' || exit 3\ngrep -q 'ELF cubin' \"$3\" || exit 4\necho listing\n");
    ASSERT_TRUE(good) << good.error().message;
    EXPECT_EQ(*good, "listing\n");
    const auto bad = disassembledBy("echo nonsense; exit 5\n");
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().message, "nvdisasm could not print the machine code: exit code 5.");
    const auto none = realListingSource("/no/such/nvdisasm").disassemble("x");
    ASSERT_FALSE(none);
    EXPECT_FALSE(none.error().message.empty());
}

TEST(Listings, EngineAnswersWithoutHoldingTheSearch)
{
    EngineHarness world;
    world.listings = fakeSource();
    ASSERT_TRUE(world.open());
    world.run();
    const NodeId node = *world.status.best;
    world.post(command::FetchListings{node});
    for (int i = 0; i < 2000 && world.codeListings.empty(); ++i) {
        world.turn();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_EQ(world.codeListings.size(), 1u);
    EXPECT_EQ(world.codeListings[0]->node, node);
    EXPECT_FALSE(world.codeListings[0]->ptx.lines.empty());
    world.post(command::FetchListings{NodeId{4711}});
    ASSERT_FALSE(world.failures.empty());
    EXPECT_EQ(world.failures.back().what, "listings");
}

} // namespace
} // namespace espalier
