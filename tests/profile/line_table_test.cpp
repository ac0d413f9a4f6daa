// SPDX-License-Identifier: Apache-2.0
#include "core/profile/line_table.h"

#include "core/base/file.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace espalier::profile {
namespace {

constexpr std::uint64_t instructionBytes = 16, functionBytes = 4096;

std::string cubin()
{
    return readFile(LINE_CUBIN).value_or("");
}

/// 1-based line of the source with the comment "// mark".
int lineOf(const std::string& mark)
{
    const std::string text = readFile(LINE_SOURCE).value_or("");
    const std::size_t at = text.find("// " + mark + "\n");
    return at == std::string::npos
               ? 0
               : 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

TEST(LineTableOf, FollowsInlinedCallsOutwards)
{
    const LineTable table = LineTable::read(cubin());
    ASSERT_FALSE(table.empty());
    const SourceChain expected = {{"line_kernels.cu", lineOf("inner")},
                                  {"line_kernels.cu", lineOf("outer")},
                                  {"line_kernels.cu", lineOf("first")}};
    bool seen = false;
    for (std::uint64_t offset = 0; offset < functionBytes; offset += instructionBytes) {
        seen = seen || table.find("first", offset) == expected;
    }
    EXPECT_TRUE(seen) << "no instruction of inner(), inlined into outer(), inlined into first()";
}

TEST(LineTableOf, KeepsFunctionsApart)
{
    const LineTable table = LineTable::read(cubin());
    bool seen = false;
    for (std::uint64_t offset = 0; offset < functionBytes; offset += instructionBytes) {
        const SourceChain chain = table.find("second", offset);
        for (const SourcePlace& place : chain) {
            EXPECT_GT(place.line, lineOf("first")) << "offset " << offset;
            seen = seen || place.line == lineOf("second");
        }
    }
    EXPECT_TRUE(seen);
    EXPECT_TRUE(table.find("third", 0).empty());
}

/// Whatever a damaged file says, nothing is read outside of it.
TEST(LineTableOf, AnyBytesAreAccepted)
{
    const std::string whole = cubin();
    ASSERT_FALSE(whole.empty());
    EXPECT_TRUE(LineTable::read("").empty());
    EXPECT_TRUE(LineTable::read("no cubin").empty());
    for (std::size_t size = 0; size < whole.size(); size += 37) {
        LineTable::read(std::string_view(whole).substr(0, size));
    }
    std::string damaged = whole;
    for (std::size_t i = 64; i < damaged.size(); i += 101) {
        damaged[i] = static_cast<char>(~damaged[i]);
        (void)LineTable::read(damaged).find("first", 32);
    }
}

} // namespace
} // namespace espalier::profile
