// SPDX-License-Identifier: Apache-2.0
#include "core/judge/block_clock.h"

#include "core/analysis/statistics.h"
#include "core/judge/defences.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>

namespace espalier::judge {

namespace {

constexpr double emptyEventPair = 1.3; ///< what two adjacent events read
constexpr double earliest = -150;      ///< residual of a block that counts: from here ...
constexpr double latest = 400;         ///< ... to here plus a share of what was claimed
constexpr double latestShare = 0.01;
constexpr double launchGap =
    12; ///< per call: what a launch and the copy of a snapshot cost that an empty call does not
constexpr double honestResidual =
    300; ///< median over the blocks of an honest runner, at most, where nothing tells better
constexpr double leastResidual = 100; ///< never asked to be smaller
constexpr double honestShare = 0.003;
constexpr double blatantShare = 0.5; ///< of the claim: more than this passed unclaimed in most blocks
constexpr std::array<std::uint32_t, 2> calibratedCalls = {1, 32};
constexpr int calibrations = 3;
constexpr std::size_t fewestForComplaint = 5;
constexpr std::size_t manyBlocks = 30;
constexpr double slackOfFew = 150; ///< between two honest runners on the same buffers, by the number of blocks
constexpr double slackOfMany = 60;

} // namespace

Result<void> calibrate(DeviceSession& session, RunnerProcess& runner, Interrupts& interrupts)
{
    if (session.simulated()) {
        return {};
    }
    Device& device = session.device();
    ESPALIER_TRY(const std::unique_ptr<DeviceBuffer> buffer, device.allocate(device.info().granularity));
    for (const bool displaceL2 : {true, false}) {
        for (const std::uint32_t calls : calibratedCalls) {
            std::vector<double> walls;
            for (int i = 0; i < calibrations + 1; ++i) {
                // The judge works on the device before every block, so the switch between the two contexts is in the
                // figure.
                ops::BandArgs work = {};
                work.address = buffer->address();
                work.write = 1;
                ESPALIER_CHECK(device.run(ops::Op::Band, std::as_bytes(std::span(&work, 1)), buffer->bytes()));
                auto block = runner.emptyBlock(calls, displaceL2, std::chrono::seconds(5), interrupts);
                if (!block) {
                    return std::unexpected(errorOf(block.error(), "calibrating a runner"));
                }
                if (i > 0) { // the first allocates the displacement buffer and wakes the device
                    walls.push_back(block->wallMicroseconds);
                }
            }
            runner.emptyWall(displaceL2)[calls] = statistics::median(walls);
        }
    }
    return {};
}

double emptyBlockMicroseconds(RunnerProcess& runner, std::size_t calls, bool displaceL2)
{
    const auto& wall = runner.emptyWall(displaceL2);
    if (wall.size() < 2) {
        return 0;
    }
    const auto& [few, fewTime] = *wall.begin();
    const auto& [many, manyTime] = *wall.rbegin();
    const double slope = (manyTime - fewTime) / static_cast<double>(many - few);
    return fewTime + slope * (static_cast<double>(calls) - static_cast<double>(few));
}

ClockedBlock clockBlock(RunnerProcess& runner, const RunnerProcess::Block& block, bool displaceL2)
{
    ClockedBlock clocked;
    std::vector<double> launches;
    for (const CallClock& call : block.clock.calls) {
        launches.push_back(call.hostMicroseconds);
        clocked.events.push_back(call.eventMicroseconds);
        clocked.claimed += std::max(0.0, call.eventMicroseconds - emptyEventPair);
    }
    const std::size_t calls = clocked.events.size();
    const double empty = emptyBlockMicroseconds(runner, calls, displaceL2);
    clocked.median = statistics::median(clocked.events);
    clocked.launch = statistics::median(launches);
    clocked.residual = block.wallMicroseconds - empty - clocked.claimed;
    clocked.endToEnd = calls > 0 ? (block.wallMicroseconds - empty) / static_cast<double>(calls) : 0;
    const double most = latest + launchGap * static_cast<double>(calls) + latestShare * clocked.claimed;
    clocked.agrees = (clocked.residual >= earliest && clocked.residual <= most) || !stands(Defence::ClockAgreement);
    return clocked;
}

bool BlockLedger::add(const ClockedBlock& block, const std::string& disturbed)
{
    ++m_blocks;
    if (!disturbed.empty()) {
        ++m_droppedBecause[disturbed];
        return false;
    }
    m_allResiduals.push_back(block.residual);
    m_allClaims.push_back(block.claimed);
    m_calls = static_cast<double>(block.events.size());
    if (!block.agrees) {
        ++m_droppedBecause["clocks disagree"];
        ++m_disagreeing;
        return false;
    }
    m_residuals.push_back(block.residual);
    m_claims.push_back(block.claimed);
    m_endToEnd.push_back(block.endToEnd);
    m_launches.push_back(block.launch);
    m_samples.insert(m_samples.end(), block.events.begin(), block.events.end());
    return true;
}

bool BlockLedger::unusable() const
{
    return 3 * dropped() > m_blocks;
}

double BlockLedger::medianEndToEnd() const
{
    return statistics::median(m_endToEnd);
}

double BlockLedger::medianLaunch() const
{
    return statistics::median(m_launches);
}

double BlockLedger::medianResidual() const
{
    return statistics::median(m_residuals);
}

std::optional<std::string> BlockLedger::complaint(std::optional<double> reference) const
{
    if (!stands(Defence::ClockAgreement)) {
        return std::nullopt;
    }
    // Dropped blocks are disturbed ones, unless all of them say the same: then the events lie.
    const bool all = 3 * m_disagreeing > static_cast<int>(m_allResiduals.size());
    if (!all && m_residuals.size() < fewestForComplaint) {
        return std::nullopt;
    }
    const double residual = statistics::median(all ? m_allResiduals : m_residuals);
    const double claimed = statistics::median(all ? m_allClaims : m_claims);
    const double slack = m_residuals.size() >= manyBlocks ? slackOfMany : slackOfFew;
    const double explained =
        reference ? std::max(leastResidual, *reference + slack) : honestResidual + launchGap * m_calls;
    const double allowed =
        all ? std::max(2 * (latest + launchGap * m_calls), blatantShare * claimed) : explained + honestShare * claimed;
    if (residual <= allowed) {
        return std::nullopt;
    }
    return fmt::format("its events claim {:.0f} us a block where {:.0f} us passed on the judge's clock; up to {:.0f} "
                       "us more would be explained",
                       claimed, claimed + residual, allowed);
}

} // namespace espalier::judge
