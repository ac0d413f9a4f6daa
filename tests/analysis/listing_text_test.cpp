// SPDX-License-Identifier: Apache-2.0
// Reads listings of norm.cu as nvcc 13.0 and nvdisasm 13.0 wrote them for sm_90a.
#include "core/analysis/listing_text.h"

#include "core/base/file.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace espalier {
namespace {

std::string recorded(const char* name)
{
    const auto text = readFile(std::string(ESPALIER_LISTINGS "/") + name);
    EXPECT_TRUE(text) << (text ? "" : text.error().message);
    return text.value_or("");
}

std::string chainOf(const ListingLine& line)
{
    std::string text;
    for (const ListingPlace& place : line.chain) {
        text += fmt::format("{}{}:{}", text.empty() ? "" : " < ", place.file, place.line);
    }
    return text;
}

const ListingLine* lineWith(const std::vector<ListingLine>& lines, std::string_view words)
{
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const ListingLine& line) {
        return line.text.find(words) != std::string::npos;
    });
    return found == lines.end() ? nullptr : &*found;
}

TEST(ListingText, PtxLinesKnowTheirPlaces)
{
    const auto lines = readPtxText(recorded("norm.ptx"));
    ASSERT_GT(lines.size(), 80u);
    for (const ListingLine& line : lines) {
        EXPECT_EQ(line.text.find(".loc"), std::string::npos) << line.text;
        EXPECT_EQ(line.text.find(".b8"), std::string::npos) << line.text;
        EXPECT_TRUE(!line.instruction || !line.chain.empty()) << line.text;
    }
    const ListingLine* load = lineWith(lines, "ld.global.nc.f32");
    ASSERT_TRUE(load && load->instruction);
    EXPECT_EQ(chainOf(*load), "candidate.cu:16");
    EXPECT_EQ(load->function, "_Z4normPKfPfi");
    const ListingLine* shuffle = lineWith(lines, "shfl.sync");
    ASSERT_TRUE(shuffle);
    EXPECT_EQ(chainOf(*shuffle), "sm_30_intrinsics.hpp:449 < candidate.cu:5 < candidate.cu:17");
    const ListingLine* label = lineWith(lines, "$L__BB0_3:");
    ASSERT_TRUE(label);
    EXPECT_FALSE(label->instruction);
    const ListingLine* target = lineWith(lines, ".target sm_90a");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->function, "");
}

TEST(ListingText, SassLinesKnowOffsetAndInlineChain)
{
    const auto lines = readSassText(recorded("norm.sass"));
    ASSERT_GT(lines.size(), 150u);
    EXPECT_EQ(lines.front().text, "_Z4normPKfPfi:");
    std::uint64_t next = 0;
    for (const ListingLine& line : lines) {
        if (line.instruction) {
            EXPECT_EQ(line.offset, next) << line.text;
            EXPECT_EQ(line.function, "_Z4normPKfPfi");
            next += 16;
        }
    }
    EXPECT_GT(next, 0x800u);
    const ListingLine* first = lineWith(lines, "LDC R1");
    ASSERT_TRUE(first);
    EXPECT_EQ(chainOf(*first), "candidate.cu:12");
    const ListingLine* shuffle = lineWith(lines, "SHFL.BFLY");
    ASSERT_TRUE(shuffle);
    EXPECT_EQ(chainOf(*shuffle), "sm_30_intrinsics.hpp:449 < candidate.cu:5 < candidate.cu:17");
    const ListingLine* after = lineWith(lines, "@P0   EXIT");
    ASSERT_TRUE(after); // a shorter chain takes the longer one's place
    EXPECT_EQ(chainOf(*after), "candidate.cu:18");
    EXPECT_EQ(after->text, "  /*0820*/ @P0   EXIT ;");
    EXPECT_EQ(first->text, "  /*0000*/       LDC R1, c[0x0][0x28] ;");
    EXPECT_EQ(lineWith(lines, " NOP"), nullptr);
    EXPECT_EQ(lineWith(lines, "SYMBOLS"), nullptr);
}

TEST(ListingText, TakesAnyText)
{
    EXPECT_TRUE(readPtxText("").empty());
    EXPECT_TRUE(readSassText("").empty());
    EXPECT_TRUE(readSassText("no listing at all\n").empty());
    // Places that inline themselves must end; a broken .loc has none.
    const auto lines =
        readPtxText(".visible .entry k(\n)\n{\n.loc 1 5 9, inlined_at 1 6 1\n.loc 1 6 1, inlined_at 1 5 9\n"
                    "add.s32 a, b, c;\n.loc x\nret;\n}\n");
    ASSERT_GE(lines.size(), 5u);
    const ListingLine* add = lineWith(lines, "add.s32");
    ASSERT_TRUE(add);
    EXPECT_LE(add->chain.size(), 33u);
    EXPECT_TRUE(lineWith(lines, "ret;")->chain.empty());
    const auto cut = readSassText("//---- .text.k ----\n\t//## File \"a.cu\", line\n/*00zz*/ X\n/*0010*/ MOV ;\n");
    ASSERT_EQ(cut.size(), 2u);
    EXPECT_EQ(cut[1].offset, 16u);
}

} // namespace
} // namespace espalier
