// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/context.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace espalier::judge {

/// The clock of record, with the rules and figures of core/README.md ("Clock and border"): the judge's own time of a
/// block must agree with what the runner's events claim. Microseconds throughout.

/// Measures what empty blocks cost in a fresh runner, with and without displacing the L2 cache (its library is not
/// loaded yet, so it is still trusted).
Result<void> calibrate(DeviceSession& session, RunnerProcess& runner, Interrupts& interrupts);

/// The judge's time of an empty block of `calls` calls in this runner, from the calibration.
double emptyBlockMicroseconds(RunnerProcess& runner, std::size_t calls, bool displaceL2 = true);

/// One block, judged.
struct ClockedBlock {
    std::vector<double> events; ///< one per call, claimed; server mode: latencies by the judge's clock
    double median = 0;          ///< of the events
    double launch = 0;          ///< host time inside a call, claimed; median
    double endToEnd = 0;        ///< the judge's time per call, an empty block's cost taken off
    double claimed = 0;         ///< their sum, without what an empty pair of events reads
    double residual = 0;        ///< the judge's time, less an empty block, less what was claimed
    bool agrees = false;        ///< both clocks agree for this block
};
ClockedBlock clockBlock(RunnerProcess& runner, const RunnerProcess::Block& block, bool displaceL2 = true);

/// All blocks of one contender in one case, of all its runners.
class BlockLedger
{
public:
    /// `disturbed`: why the block does not count whatever its clocks say; empty: they decide. Returns whether it
    /// counts.
    bool add(const ClockedBlock& block, const std::string& disturbed = {});
    const std::vector<double>& samples() const { return m_samples; } ///< of the kept blocks
    int dropped() const { return m_blocks - kept(); }
    const std::map<std::string, int>& droppedBecause() const { return m_droppedBecause; }
    int kept() const { return static_cast<int>(m_residuals.size()); }
    /// True when more than a third of the blocks were dropped: nothing can be said from them.
    bool unusable() const;
    /// Of the kept blocks; 0 without any.
    double medianResidual() const;
    double medianEndToEnd() const;
    double medianLaunch() const;
    /// A sentence when the events claim less time than passed; nothing when they are honest or there are too few
    /// blocks. `reference`: the median residual of an honest rival on the same buffers, which tells what this machine
    /// explains.
    std::optional<std::string> complaint(std::optional<double> reference) const;

private:
    std::vector<double> m_samples;
    std::vector<double> m_residuals, m_claims, m_endToEnd, m_launches; ///< of the kept blocks
    std::vector<double> m_allResiduals, m_allClaims;                   ///< of those that nothing else disturbed
    std::map<std::string, int> m_droppedBecause;
    double m_calls = 0; ///< of a block
    int m_blocks = 0;
    int m_disagreeing = 0;
};

} // namespace espalier::judge
