// SPDX-License-Identifier: Apache-2.0
// The table of counters against CUPTI's Host API, for one chip of each family. No GPU is needed, but the libraries are.
#include "core/profile/counter_host.h"

#include "core/profile/counter_table.h"
#include "core/profile/cupti_search.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace espalier::profile {
namespace {

struct Chip {
    const char* name;
    const char* capability;
    std::size_t fullPasses; ///< at most: core, flops and full together
};
constexpr Chip chips[] = {{"GA100", "8.0", 14}, {"GA102", "8.6", 14},  {"AD102", "8.9", 15},
                          {"GH100", "9.0", 17}, {"GB100", "10.0", 15}, {"GB202", "12.0", 15}};

class HostApi : public ::testing::Test
{
protected:
    void SetUp() override
    {
        const auto place = findCupti();
        if (!place) {
            GTEST_SKIP() << place.error().message;
        }
        static const Result<CuptiApi> loaded = loadCupti(place->library);
        ASSERT_TRUE(loaded) << loaded.error().message;
        m_api = &*loaded;
        const auto known = knownChips(*m_api);
        ASSERT_TRUE(known) << known.error().message;
        m_known = *known;
    }

    const CuptiApi* m_api = nullptr;
    std::vector<std::string> m_known;
};

TEST_F(HostApi, KnowsEveryCounterOfTheTable)
{
    const std::vector<CounterSet> everything =
        counterSetsNamed("core,flops,full,tensor_f16,tensor_bf16,tensor_tf32,tensor_f64,tensor_fp8,tensor_int8");
    ASSERT_EQ(everything.size(), 9U);
    for (const Chip& chip : chips) {
        ASSERT_NE(std::find(m_known.begin(), m_known.end(), chip.name), m_known.end()) << chip.name;
        const auto unknown = unknownCounters(*m_api, chip.name, countersFor(familyOf(chip.name), everything));
        ASSERT_TRUE(unknown) << unknown.error().message;
        EXPECT_TRUE(unknown->empty()) << chip.name << " (" << chip.capability << ") has no "
                                      << fmt::format("{}", fmt::join(*unknown, ", "));
    }
}

TEST_F(HostApi, CoreIsOnePassAndOperationsAreOneMore)
{
    for (const Chip& chip : chips) {
        const auto passes = [&](const char* sets) -> std::size_t {
            auto host = CounterHost::create(*m_api, chip.name, {});
            const bool added = host && host->add(countersFor(familyOf(chip.name), counterSetsNamed(sets)));
            const auto counted = added ? host->passes() : Result<std::size_t>(fail(ErrorCode::Internal, "not added"));
            return counted.value_or(0);
        };
        EXPECT_EQ(passes("core"), 1U) << chip.name;
        EXPECT_EQ(passes("core,flops"), 2U) << chip.name;
        EXPECT_LE(passes("core,flops,full"), chip.fullPasses) << chip.name;
        EXPECT_GE(passes("core,flops,full"), 2U) << chip.name;
    }
}

TEST_F(HostApi, ANameThatDoesNotExistIsFound)
{
    const auto unknown = unknownCounters(*m_api, "GH100", {"dram__bytes_read.sum", "dram__bytes_nonsense.sum"});
    ASSERT_TRUE(unknown);
    EXPECT_EQ(*unknown, std::vector<std::string>{"dram__bytes_nonsense.sum"});
    const auto chip = CounterHost::create(*m_api, "GX999", {});
    ASSERT_FALSE(chip);
    EXPECT_EQ(chip.error().code, ErrorCode::NotSupported) << chip.error().message;
}

} // namespace
} // namespace espalier::profile
