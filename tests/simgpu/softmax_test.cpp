// SPDX-License-Identifier: Apache-2.0
// The whole way of a real task's root kernel: nvcc, shim, simgpu, interpreter, compared with the same in double.
#include "tests/simgpu/sim_fixture.h"

#include <algorithm>
#include <cmath>

namespace espalier::sim::test {
namespace {

constexpr std::int64_t rows = 5, columns = 333;

int callSoftmax(RunnerView& view, void* entry)
{
    using Entry = int (*)(std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, void*, std::size_t, void*);
    return reinterpret_cast<Entry>(entry)(view.addresses[0], view.addresses[1], rows, columns, nullptr, 0,
                                          view.device.stream());
}

using SoftmaxOnSim = SimFixture;

TEST_F(SoftmaxOnSim, TheRootKernelIsRight)
{
    const Array x = array(rows * columns, 0), y = array(rows * columns, -1);
    for (std::uint64_t i = 0; i < x.count; ++i) {
        x.values()[i] = 8.0f * std::sin(0.37f * static_cast<float>(i * i % 1009));
    }
    auto client = m_gpu->createClient();
    ASSERT_TRUE(client);
    grantTo(client->id, x, Grant::ReadOnly, "input x");
    grantTo(client->id, y, Grant::ReadWrite, "output y");
    ForkedRunner runner(std::move(client->runnerEnd), SOFTMAX_PATH,
                        {mapping(x, Grant::ReadOnly), mapping(y, Grant::ReadWrite)}, callSoftmax);
    ASSERT_TRUE(runner.ready());
    ASSERT_TRUE(m_gpu->beginBlock(client->id, {100'000'000}));
    ASSERT_EQ(runner.block("softmax_f32"), std::optional(0));
    const auto report = m_gpu->finishBlock(client->id, std::chrono::seconds(30));
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->calls.size(), 1u);
    const CallReport& call = report->calls[0];
    ASSERT_FALSE(call.fault) << call.fault->sentence;
    ASSERT_TRUE(call.unsupported.empty()) << call.unsupported[0];
    EXPECT_EQ(call.counters.blocks, static_cast<std::uint64_t>(rows));
    EXPECT_GT(call.counters.specialF32, 0u);
    EXPECT_GT(call.modelledSeconds, 0);
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::span<float> in = x.values().subspan(row * columns, columns);
        const double largest = *std::ranges::max_element(in);
        double sum = 0;
        for (const float value : in) {
            sum += std::exp(value - largest);
        }
        for (std::int64_t column = 0; column < columns; ++column) {
            const double expected = std::exp(in[column] - largest) / sum;
            ASSERT_NEAR(y.values()[row * columns + column], expected, 4e-6 * expected + 1e-30) << row << ' ' << column;
        }
    }
}

} // namespace
} // namespace espalier::sim::test
