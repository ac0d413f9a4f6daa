// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/context.h"

#include <cstdint>
#include <string>
#include <vector>

namespace espalier::judge {

/// A range of one output of one call set.
struct Window {
    std::size_t set = 0;
    std::size_t argument = 0;
    std::uint64_t first = 0, count = 0;
};

/// What comparing one output found, windows added up.
struct OutputTally {
    std::uint64_t compared = 0, failed = 0, nonFinite = 0, stillPoison = 0;
    std::uint64_t firstFailed = ~std::uint64_t{0};
    double squaredError = 0, squaredReference = 0, squaredScale = 0;
    double worstRatio = 0, worstOut = 0, worstRef = 0;
    std::uint64_t worstIndex = 0;
    /// norm(out - ref) over norm(ref), or over what sums of `reductionLength` products of these magnitudes with random
    /// signs come to, where that is more: outputs that cancel, or of which a relu leaves little, say nothing of the
    /// precision.
    double normError(double reductionLength) const;
};

/// Compares outputs with the oracle, which runs in a trusted runner of its own on the judge's inputs. Thread: the
/// judge's.
class OracleComparison
{
public:
    /// A norm over fewer elements than this says more about the draw than about the kernel: it is not judged.
    static constexpr std::uint64_t fewestForNorm = 64;

    OracleComparison(const Context& context, LoadedRunner& oracle, std::string entry)
        : m_context(context), m_oracle(oracle), m_entry(std::move(entry))
    {
    }

    /// Names an oracle's runner must look up: one function, or one per output.
    static std::vector<std::string> names(const std::string& entry, const std::vector<std::string>& outputs);

    /// One tally per window. The elements compared are exactly those asked for, or it is an error of ours.
    Judged<std::vector<OutputTally>> compare(const WorkArea& area, const std::vector<Window>& windows);

    /// Every element of every output of one call set; a tally per output argument (in the entry's order, others empty).
    Judged<std::vector<OutputTally>> compareWhole(const WorkArea& area, std::size_t set);
    /// `perOutput` random ranges of about a row in each output of each listed set; tallies per set and argument, added
    /// up.
    std::vector<Window> sample(const WorkArea& area, const std::vector<std::size_t>& sets, std::size_t perOutput);

    /// The verdict on one output of call `call`; nothing when it is right. `normBound` 0: not asked.
    static std::optional<Verdict> judge(const CasePlan& plan, std::size_t argument, const OutputTally& tally,
                                        Before before, const std::string& where);
    static void add(OutputTally& into, const OutputTally& more);

private:
    std::vector<Window> everything(const WorkArea& area, std::size_t set) const;
    Judged<void> runOracle(const WorkArea& area, const std::vector<Window>& batch);
    Judged<std::vector<OutputTally>> compareBatch(const WorkArea& area, const std::vector<Window>& batch);
    std::uint32_t functionOf(const CasePlan& plan, std::size_t argument) const;

    const Context& m_context;
    LoadedRunner& m_oracle;
    std::string m_entry;
};

} // namespace espalier::judge
