// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/context.h"

#include <optional>
#include <string>
#include <vector>

namespace espalier::judge {

/// The clock of record, with the rules and figures of core/README.md ("Clock and border"): the judge's own time of a
/// block must agree with what the runner's events claim. Microseconds throughout.

/// Measures what empty blocks cost in a fresh runner (its library is not loaded yet, so it is still trusted).
Result<void> calibrate(DeviceSession& session, RunnerProcess& runner, Interrupts& interrupts);

/// The judge's time of an empty block of `calls` calls in this runner, from the calibration.
double emptyBlockMicroseconds(RunnerProcess& runner, std::size_t calls);

/// One block, judged.
struct ClockedBlock {
    std::vector<double> events; ///< one per call, claimed
    double median = 0;          ///< of the events
    double claimed = 0;         ///< their sum, without what an empty pair of events reads
    double residual = 0;        ///< the judge's time, less an empty block, less what was claimed
    bool agrees = false;        ///< both clocks agree for this block
};
ClockedBlock clockBlock(RunnerProcess& runner, const RunnerProcess::Block& block);

/// All blocks of one runner in one case.
class BlockLedger
{
public:
    void add(const ClockedBlock& block);
    /// Median per block by position; nullopt where the block was dropped.
    const std::vector<std::optional<double>>& times() const { return m_times; }
    const std::vector<double>& samples() const { return m_samples; } ///< of the kept blocks
    int dropped() const { return m_dropped; }
    int kept() const { return static_cast<int>(m_residuals.size()); }
    /// True when more than a third of the blocks were dropped: nothing can be said from them.
    bool unusable() const;
    /// Of the kept blocks; 0 without any.
    double medianResidual() const;
    /// A sentence when the events claim less time than passed; nothing when they are honest or there are too few
    /// blocks. `reference`: the median residual of an honest rival on the same buffers, which tells what this machine
    /// explains.
    std::optional<std::string> complaint(std::optional<double> reference) const;

private:
    std::vector<std::optional<double>> m_times;
    std::vector<double> m_samples;
    std::vector<double> m_residuals, m_claims; ///< of the kept blocks
    std::vector<double> m_allResiduals, m_allClaims;
    double m_calls = 0; ///< of a block
    int m_dropped = 0;
};

} // namespace espalier::judge
