// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/device.h"
#include "core/judge/buffer_pool.h"
#include "core/judge/case_plan.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace espalier::judge {

/// What was put into an output before a call, so that an element that was not written can be named.
enum class Before { Noise, NaN, Inverted, PreviousAnswer };

/// The buffers of one call: a region per argument (none for scalars) and what they hold.
struct CallSet {
    std::vector<Region> regions;          ///< by argument
    std::vector<std::uint64_t> seeds;     ///< secret; of inputs
    std::vector<ops::PoisonArgs> poisons; ///< of outputs
    Before before = Before::Noise;
};

/// All device memory of one case in the judge: `sets` call sets, one workspace, reference and scale for the comparison.
/// Prepares contents, checks what must not have changed. Thread: the judge's.
class WorkArea
{
public:
    /// Errors: OutOfMemory "needs X, has Y" before anything is allocated.
    static Result<WorkArea> create(Device& device, BufferPool& pool, const CasePlan& plan, std::size_t sets,
                                   std::uint64_t workspaceBytes, std::uint64_t reserve, bool bands);
    WorkArea(WorkArea&&) = default;
    WorkArea& operator=(WorkArea&&) = default;

    const CasePlan& plan() const { return *m_plan; }
    std::size_t sets() const { return m_sets.size(); }
    const CallSet& set(std::size_t index) const { return m_sets[index]; }
    const Region& workspace() const { return m_workspace; }
    bool hasWorkspace() const { return m_workspace.bytes > 0; }
    const Region& reference() const { return m_reference; }
    const Region& scale() const { return m_scale; }
    std::uint64_t chunkElements() const { return m_chunk; } ///< that reference and scale hold

    /// Fresh secret inputs (const arguments keep theirs), bands written.
    Result<void> drawInputs(std::size_t set);
    /// Outputs and the slack around them as `before` says.
    Result<void> poisonOutputs(std::size_t set, Before before);
    Result<void> poisonWorkspace();

    /// What changed that must not have: sentences, empty when nothing did. Errors: the device's.
    struct Damage {
        std::vector<std::string> inputs;
        std::vector<std::string> guards;
    };
    Result<Damage> inspect(std::size_t set);
    /// Bands around the workspace.
    Result<std::vector<std::string>> inspectWorkspace();

private:
    WorkArea() = default;
    struct Band {
        std::uint64_t address = 0, bytes = 0;
        bool after = false;
    };
    std::vector<Band> bandsOf(const Region& region) const;
    Result<void> writeBands(const Region& region);
    Result<void> runBand(const Band& band, bool write, std::uint64_t counter);
    Result<void> clearCounters(std::size_t count);
    Result<std::vector<std::uint64_t>> readCounters(std::size_t count);
    std::uint64_t counter(std::size_t index) const;
    template <typename Args>
    Result<void> run(ops::Op op, const Args& args, std::uint64_t count);

    Device* m_device = nullptr;
    const CasePlan* m_plan = nullptr;
    std::vector<CallSet> m_sets;
    std::vector<std::uint64_t> m_constSeeds;
    Region m_workspace, m_reference, m_scale, m_scratch;
    std::uint64_t m_chunk = 0;
    std::uint64_t m_bandSeed = 0;
    bool m_bands = true;

    friend class OracleComparison;
};

} // namespace espalier::judge
