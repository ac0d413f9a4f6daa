// SPDX-License-Identifier: Apache-2.0
// Any bytes are a source: candidates come from models and strangers. Deterministic mutations of sources with marks.
#include "core/propose/source_text.h"
#include "core/propose/tunables.h"

#include <gtest/gtest.h>
#include <random>

namespace espalier {
namespace {

const std::vector<std::string> pieces = {
    "// espalier: tune A = 1 2 4\n",
    "#define A 2\n",
    "// espalier: lock\n",
    "// espalier: unlock\n",
    "espalier:",
    "#",
    "=",
    "-",
    "9223372036854775807",
    "9223372036854775808",
    "\n",
    "\r\n",
    "\0x",
    "//",
    "/*",
    "*/",
    "\"",
    "'",
    "R\"(",
    ")\"",
    "\\",
    "// espalier: tune C = 7 -9 8\n#define C 8 // c\n",
    "tune B = 3 5",
    "#define B 3",
    "\xff\xfe",
    " ",
    "\t",
    "int a;\n",
};

std::string mutated(std::mt19937& random)
{
    std::string text;
    for (std::size_t n = random() % 24; n > 0; --n) {
        text += pieces[random() % pieces.size()];
    }
    for (std::size_t n = random() % 4; n > 0 && !text.empty(); --n) {
        const std::size_t at = random() % text.size();
        switch (random() % 3) {
        case 0:
            text[at] = static_cast<char>(random());
            break;
        case 1:
            text.erase(at, 1 + random() % 5);
            break;
        default:
            text.insert(at, 1, static_cast<char>(random()));
            break;
        }
    }
    return text;
}

TEST(TunablesFuzz, ReadingAndRewritingHoldTheirPromises)
{
    std::mt19937 random(7);
    int withTunable = 0;
    for (int round = 0; round < 30000; ++round) {
        const std::string source = mutated(random);
        const SourceMarks marks = readMarks(source);
        for (const Tunable& tunable : marks.tunables) {
            ++withTunable;
            ASSERT_LE(tunable.end, source.size());
            ASSERT_EQ(std::stoll(source.substr(tunable.begin, tunable.end - tunable.begin)), tunable.current);
            for (const std::int64_t value : tunable.values) {
                const auto changed = withTunables(source, {{tunable.name, value}});
                ASSERT_TRUE(changed) << source;
                const SourceMarks again = readMarks(*changed);
                ASSERT_TRUE(checkLocks(source, *changed)) << source;
                ASSERT_EQ(again.locked.size(), marks.locked.size()) << source;
                ASSERT_EQ(changed->substr(0, tunable.begin), source.substr(0, tunable.begin));
                ASSERT_TRUE(changed->ends_with(source.substr(tunable.end)));
            }
        }
        ASSERT_TRUE(checkLocks(source, source)) << source;
        const std::string normal = normalisedSource(source);
        ASSERT_LE(normal.size(), source.size() + 1);
        (void)sourceIdentity(source);
    }
    EXPECT_GT(withTunable, 1000);
}

} // namespace
} // namespace espalier
