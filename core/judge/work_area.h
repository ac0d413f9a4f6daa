// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/device.h"
#include "core/judge/buffer_pool.h"
#include "core/judge/case_plan.h"
#include "core/model/call_recipe.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace espalier::judge {

/// What was put into an output before a call, so that an element that was not written can be named.
enum class Before { Noise, NaN, Inverted, PreviousAnswer };

/// What of the inputs is new in a call on buffers that were used before.
enum class Fresh {
    All,          ///< every element
    OneElement,   ///< one element of one input: what samples its inputs to recognise them does not see it
    AllButWindow, ///< everything except one range: what looks at a range only does not see it
    Nothing,      ///< the inputs of the call before, as they were drawn or changed
};

/// A range of an input and the secret seed that its values come from.
struct Drawn {
    std::uint64_t first = 0, count = 0, seed = 0;
    std::uint64_t index = first; ///< of its first element in the draw; another than `first` in a rotated input
};

/// What a second call's input differs in from the same draw: its values times `scale` plus `shift`, then rotated by
/// `rotation` elements (element i holds what element i + rotation held).
struct InputChange {
    double scale = 1, shift = 0;
    std::uint64_t rotation = 0;
};
/// Whether every value of a draw can be scaled or shifted by changing the distribution's own numbers.
bool scalesExactly(ops::Distribution distribution);
bool shifts(ops::Distribution distribution);

/// A range of an output that is copied on the stream right behind the call. Bytes; multiples of 4.
struct Probe {
    std::size_t argument = 0;
    std::uint64_t first = 0; ///< within the output
    std::uint64_t bytes = 0;
    std::uint64_t at = 0; ///< within the area's snapshots
};

/// How much of the outputs is copied behind each call.
enum class Probing { None, Timed, Gate };

/// The buffers of one call: a region per argument (none for scalars) and what they hold.
struct CallSet {
    std::vector<Region> regions;           ///< by argument
    std::vector<std::vector<Drawn>> drawn; ///< of inputs: ranges in order, together the whole argument
    std::vector<InputChange> changes;      ///< of inputs: of all values of the draw; rotations stand in `drawn`
    std::vector<ops::PoisonArgs> poisons;  ///< of outputs
    std::vector<Probe> probes;
    Before before = Before::Noise;
};

/// All device memory of one case in the judge: `sets` call sets, one workspace, reference and scale for the comparison.
/// Prepares contents, checks what must not have changed. Thread: the judge's.
class WorkArea
{
public:
    /// Errors: OutOfMemory "needs X, has Y" before anything is allocated.
    static Result<WorkArea> create(Device& device, BufferPool& pool, const CasePlan& plan, std::size_t sets,
                                   std::uint64_t workspaceBytes, std::uint64_t reserve, bool bands,
                                   Probing probing = Probing::None);
    WorkArea(WorkArea&&) = default;
    WorkArea& operator=(WorkArea&&) = default;

    const CasePlan& plan() const { return *m_plan; }
    std::size_t sets() const { return m_sets.size(); }
    const CallSet& set(std::size_t index) const { return m_sets[index]; }
    const Region& workspace() const { return m_workspace; }
    bool hasWorkspace() const { return m_workspace.bytes > 0; }
    const Region& snapshots() const { return m_snapshots; } ///< of all sets; 0 bytes without probes
    const Region& reference() const { return m_reference; }
    const Region& scale() const { return m_scale; }
    std::uint64_t chunkElements() const { return m_chunk; } ///< that reference and scale hold

    /// Fresh secret inputs (const arguments keep theirs), bands written. Anything but Fresh::All needs an earlier draw.
    Result<void> drawInputs(std::size_t set, Fresh fresh = Fresh::All);
    /// The next draw of Fresh::Nothing gives the last whole draw, changed; by argument.
    void changeInputs(std::size_t set, const std::vector<InputChange>& changes);
    /// The two sets change their outputs' places; the inputs stay where they are. What an output held is to be thought
    /// unknown afterwards: poison it before the next call.
    void exchangeOutputs(std::size_t one, std::size_t other);
    void forgetProbes(std::size_t set) { m_sets[set].probes.clear(); } ///< after a call without snapshots
    /// Other places of the outputs to copy behind the next call.
    void drawProbes(std::size_t set);
    /// Outputs and the slack around them as `before` says.
    Result<void> poisonOutputs(std::size_t set, Before before);
    Result<void> poisonWorkspace();
    /// What makes the contents of a set again; `where`: "call 2 of case 8x4096". Nothing before it was drawn.
    std::optional<CallRecipe> recipeOf(std::size_t set, std::string where) const;

    /// What changed that must not have: sentences, empty when nothing did. Errors: the device's.
    struct Damage {
        std::vector<std::string> inputs;
        std::vector<std::string> guards;
        std::vector<std::string> late; ///< outputs that changed after the stream had passed the call's end
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
    void redraw(CallSet& set, Fresh fresh);
    Result<void> checkProbe(const CallSet& set, const Probe& probe, std::uint64_t counters);
    template <typename Args>
    Result<void> run(ops::Op op, const Args& args, std::uint64_t count);

    Device* m_device = nullptr;
    const CasePlan* m_plan = nullptr;
    std::vector<CallSet> m_sets;
    std::vector<std::uint64_t> m_constSeeds;
    Region m_workspace, m_reference, m_scale, m_scratch, m_snapshots;
    Probing m_probing = Probing::None;
    std::uint64_t m_snapshotBytes = 0; ///< of one set
    std::uint64_t m_chunk = 0;
    std::uint64_t m_bandSeed = 0;
    bool m_bands = true;

    friend class OracleComparison;
};

} // namespace espalier::judge
