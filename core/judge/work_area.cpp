// SPDX-License-Identifier: Apache-2.0
#include "core/judge/work_area.h"

#include "core/base/hash.h"
#include "core/judge/defences.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <utility>

namespace espalier::judge {

namespace {

constexpr std::size_t maxCounters = 512;

/// The poison that comes in place of `wanted` where its defence does not stand; without any the outputs stay as they
/// are.
Before standing(Before wanted)
{
    constexpr std::array kinds = {std::pair(Before::Noise, Defence::NoisePoison),
                                  std::pair(Before::NaN, Defence::NaNPoison),
                                  std::pair(Before::Inverted, Defence::InvertedPoison),
                                  std::pair(Before::PreviousAnswer, Defence::ForeignAnswer)};
    std::optional<Before> another;
    for (const auto& [kind, defence] : kinds) {
        if (stands(defence)) {
            if (kind == wanted) {
                return wanted;
            }
            another = another.value_or(kind);
        }
    }
    return another.value_or(Before::PreviousAnswer);
}

/// Secret, or the same for every call where inputs are not fresh.
std::uint64_t seedOfInput(std::size_t argument)
{
    constexpr std::uint64_t publicSeed = 42;
    return stands(Defence::FreshInputs) ? randomSeed() : publicSeed + argument;
}

constexpr std::uint64_t scratchBytes = maxCounters * sizeof(std::uint64_t) + 128 * sizeof(ops::CompareResult);

/// Elements that one comparison takes at once: enough to fill the device, small beside its memory.
std::uint64_t largestChunk(const Device& device)
{
    constexpr std::uint64_t most = std::uint64_t{32} << 20;
    return std::clamp<std::uint64_t>(device.info().totalBytes / 256 / sizeof(double), std::uint64_t{1} << 20, most);
}

constexpr std::uint64_t probedWhole = std::uint64_t{4} << 20; ///< outputs up to here are copied whole
constexpr std::uint64_t probeBytes = std::uint64_t{64} << 10; ///< of a window of larger ones
constexpr std::size_t gateProbes = 4;                         ///< windows of an output in the gate; one when timed

/// How often and how long an output is probed.
std::pair<std::size_t, std::uint64_t> probesOf(const CasePlan& plan, const ArgumentPlan& argument, Probing probing)
{
    std::uint64_t outputs = 0;
    for (const ArgumentPlan& each : plan.arguments) {
        outputs += each.isOutput() ? each.bytes : 0;
    }
    if (outputs <= probedWhole) {
        return {1, argument.bytes / 4 * 4};
    }
    return {probing == Probing::Gate ? gateProbes : 1, std::min(argument.bytes / 4 * 4, probeBytes)};
}

/// Whether b is a spread or a bound of the values, not a count or a share.
bool scalesSecond(ops::Distribution distribution)
{
    return shifts(distribution) && distribution != ops::Distribution::Constant;
}

ops::FillArgs changedFill(ops::FillArgs fill, const InputChange& change)
{
    fill.a = fill.a * change.scale + change.shift;
    if (scalesSecond(fill.distribution)) { // a negative standard deviation is drawn as it stands: a + b z
        fill.b *= change.scale;
    }
    if (fill.distribution == ops::Distribution::Uniform) {
        fill.b += change.shift;
    }
    return fill;
}

ops::FillArgs fillOf(const ArgumentPlan& argument, const Region& region, const Drawn& drawn, const InputChange& change)
{
    ops::FillArgs args = changedFill(argument.fill, change);
    args.address = region.address() + drawn.first * ops::sizeOf(argument.type);
    args.first = drawn.index;
    args.seed = drawn.seed;
    return args;
}

/// The task's name of a draw: both lists have the same order.
DistributionKind kindOf(ops::Distribution distribution)
{
    static_assert(static_cast<int>(DistributionKind::Normal) == static_cast<int>(ops::Distribution::Normal) &&
                  static_cast<int>(DistributionKind::Sparse) == static_cast<int>(ops::Distribution::Sparse) &&
                  static_cast<int>(DistributionKind::Mixed) == static_cast<int>(ops::Distribution::Mixed));
    return static_cast<DistributionKind>(distribution);
}

/// Where data start: no better aligned than the contract says, somewhere else every time when `churn` is asked for.
/// Less than a guard's reach, so that what lies past the end is still the band.
std::uint64_t retreatOf(const ArgumentPlan& argument, bool churn)
{
    constexpr std::uint64_t places = 8;
    const std::uint64_t aligned = churn ? randomSeed() % places * CasePlan::largestAlignment : 0;
    const std::uint64_t within = randomSeed() % (CasePlan::largestAlignment / argument.alignment) * argument.alignment;
    return aligned + within;
}

std::string bytesOfBand(std::uint64_t count, bool after, const std::string& what)
{
    return fmt::format("wrote {} byte{} {} {}", count, count == 1 ? "" : "s",
                       after ? "past the end of" : "before the start of", what);
}

} // namespace

bool scalesExactly(ops::Distribution distribution)
{
    return distribution != ops::Distribution::Subnormal && distribution != ops::Distribution::Integers;
}

bool shifts(ops::Distribution distribution)
{
    switch (distribution) {
    case ops::Distribution::Normal:
    case ops::Distribution::Uniform:
    case ops::Distribution::Constant:
    case ops::Distribution::ConstantRows:
    case ops::Distribution::Sorted:
        return true;
    default:
        return false;
    }
}

template <typename Args>
Result<void> WorkArea::run(ops::Op op, const Args& args, std::uint64_t count)
{
    if (count == 0) {
        return {};
    }
    return m_device->run(op, std::as_bytes(std::span(&args, 1)), count);
}

Result<WorkArea> WorkArea::create(Device& device, BufferPool& pool, const CasePlan& plan, std::size_t sets,
                                  std::uint64_t workspaceBytes, std::uint64_t reserve, bool bands, Probing probing)
{
    using Purpose = BufferPool::Purpose;
    std::vector<BufferPool::Want> wants;
    std::uint64_t largestOutput = 1;
    // Without bands a runner maps each place by itself, and these places never come again.
    const bool temporary = plan.churn && !bands;
    for (std::size_t set = 0; set < sets; ++set) {
        for (const ArgumentPlan& argument : plan.arguments) {
            if (argument.isInput() || argument.isOutput()) {
                wants.push_back({argument.isInput() ? Purpose::Input : Purpose::Output, argument.bytes,
                                 argument.alignment, retreatOf(argument, plan.churn), temporary});
            }
            if (argument.isOutput()) {
                largestOutput = std::max(largestOutput, argument.elements);
            }
        }
    }
    WorkArea area;
    probing = stands(Defence::StreamSnapshot) ? probing : Probing::None;
    area.m_probing = probing;
    for (const ArgumentPlan& argument : plan.arguments) {
        if (argument.isOutput() && probing != Probing::None) {
            const auto [count, bytes] = probesOf(plan, argument, probing);
            area.m_snapshotBytes += count * bytes;
        }
    }
    area.m_chunk = std::min(largestOutput, largestChunk(device));
    wants.push_back({Purpose::Reference, area.m_chunk * sizeof(double)});
    wants.push_back({Purpose::Reference, area.m_chunk * sizeof(double)});
    wants.push_back({Purpose::Reference, scratchBytes});
    if (workspaceBytes > 0) {
        wants.push_back({Purpose::Workspace, workspaceBytes});
    }
    if (area.m_snapshotBytes > 0) {
        wants.push_back({Purpose::Snapshot, sets * area.m_snapshotBytes});
    }
    ESPALIER_TRY(const std::vector<Region> regions, pool.take(wants, reserve));
    area.m_device = &device;
    area.m_plan = &plan;
    area.m_bands = bands && stands(Defence::GuardBands);
    area.m_bandSeed = randomSeed();
    area.m_sets.resize(sets);
    area.m_constSeeds.assign(plan.arguments.size(), randomSeed());
    std::size_t next = 0;
    for (CallSet& set : area.m_sets) {
        set.regions.resize(plan.arguments.size());
        set.drawn.resize(plan.arguments.size());
        set.changes.resize(plan.arguments.size());
        set.poisons.resize(plan.arguments.size());
        for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
            if (plan.arguments[a].isInput() || plan.arguments[a].isOutput()) {
                set.regions[a] = regions[next++];
            }
        }
    }
    area.m_reference = regions[next++];
    area.m_scale = regions[next++];
    area.m_scratch = regions[next++];
    if (workspaceBytes > 0) {
        area.m_workspace = regions[next++];
    }
    if (area.m_snapshotBytes > 0) {
        area.m_snapshots = regions[next++];
    }
    return area;
}

std::optional<CallRecipe> WorkArea::recipeOf(std::size_t index, std::string where) const
{
    const CallSet& set = m_sets[index];
    CallRecipe recipe;
    recipe.parameters = m_plan->parameters;
    recipe.elementFactor = m_plan->elementFactor;
    recipe.absoluteFactor = m_plan->absoluteFactor;
    recipe.where = std::move(where);
    for (std::size_t a = 0; a < m_plan->arguments.size(); ++a) {
        const ArgumentPlan& argument = m_plan->arguments[a];
        if (!argument.isInput() && !argument.isOutput()) {
            continue;
        }
        CallRecipe::Buffer& buffer = recipe.buffers.emplace_back();
        buffer.argument = argument.name;
        buffer.place = set.regions[a].address() % CasePlan::largestAlignment;
        if (argument.isOutput()) {
            buffer.normBound = m_plan->normBounds[a];
            continue;
        }
        if (set.drawn[a].empty()) {
            return std::nullopt;
        }
        const ops::FillArgs fill = changedFill(argument.fill, set.changes[a]);
        buffer.kind = kindOf(fill.distribution);
        buffer.a = fill.a;
        buffer.b = fill.b;
        buffer.row = fill.row;
        for (const Drawn& drawn : set.drawn[a]) {
            if (drawn.count > 0) {
                buffer.ranges.push_back({drawn.first, drawn.count, drawn.index, drawn.seed});
            }
        }
    }
    return recipe;
}

std::vector<WorkArea::Band> WorkArea::bandsOf(const Region& region) const
{
    if (!m_bands) {
        return {};
    }
    std::vector<Band> bands;
    if (region.offset > 0) {
        bands.push_back({region.buffer->address(), region.offset, false});
    }
    const std::uint64_t end = region.offset + region.bytes;
    if (end < region.buffer->bytes()) {
        bands.push_back({region.buffer->address() + end, region.buffer->bytes() - end, true});
    }
    return bands;
}

Result<void> WorkArea::runBand(const Band& band, bool write, std::uint64_t counterAddress)
{
    ops::BandArgs args = {};
    args.address = band.address;
    args.seed = m_bandSeed;
    args.mismatches = counterAddress;
    args.write = write ? 1 : 0;
    return run(ops::Op::Band, args, band.bytes);
}

Result<void> WorkArea::writeBands(const Region& region)
{
    for (const Band& band : bandsOf(region)) {
        ESPALIER_CHECK(runBand(band, true, counter(0)));
    }
    return {};
}

std::uint64_t WorkArea::counter(std::size_t index) const
{
    return m_scratch.address() + index * sizeof(std::uint64_t);
}

Result<void> WorkArea::clearCounters(std::size_t count)
{
    const std::vector<std::uint64_t> zeros(count, 0);
    return m_device->write(counter(0), std::as_bytes(std::span(zeros)));
}

Result<std::vector<std::uint64_t>> WorkArea::readCounters(std::size_t count)
{
    std::vector<std::uint64_t> values(count);
    ESPALIER_CHECK(m_device->read(std::as_writable_bytes(std::span(values)), counter(0)));
    return values;
}

/// Which ranges of the inputs get a new seed.
void WorkArea::redraw(CallSet& set, Fresh fresh)
{
    if (fresh == Fresh::Nothing) {
        return;
    }
    set.changes.assign(m_plan->arguments.size(), InputChange());
    std::vector<std::size_t> inputs;
    for (std::size_t a = 0; a < m_plan->arguments.size(); ++a) {
        if (m_plan->arguments[a].kind == ArgumentKind::Input && m_plan->arguments[a].elements > 0) {
            inputs.push_back(a);
        }
    }
    const std::size_t chosen = inputs.empty() ? 0 : inputs[randomSeed() % inputs.size()];
    for (std::size_t a = 0; a < m_plan->arguments.size(); ++a) {
        const ArgumentPlan& argument = m_plan->arguments[a];
        if (!argument.isInput()) {
            continue;
        }
        const std::uint64_t elements = argument.elements;
        if (argument.kind == ArgumentKind::Const) {
            set.drawn[a] = {{0, elements, m_constSeeds[a]}};
            continue;
        }
        if (fresh == Fresh::All || set.drawn[a].empty()) {
            set.drawn[a] = {{0, elements, seedOfInput(a)}};
            continue;
        }
        const std::uint64_t old = set.drawn[a][0].seed; // the draw before was a whole one
        if (fresh == Fresh::OneElement) {
            if (a == chosen) {
                const std::uint64_t at = randomSeed() % elements;
                set.drawn[a] = {{0, at, old}, {at, 1, seedOfInput(a)}, {at + 1, elements - at - 1, old}};
            }
            continue;
        }
        // Most samplers look at the beginning; the others at a range that nobody knows.
        constexpr std::uint64_t leastWindow = 4096;
        const std::uint64_t length = std::min(std::max(leastWindow, elements / 8), elements / 2);
        const std::uint64_t first = randomSeed() % 2 == 0 ? 0 : randomSeed() % (elements - length + 1);
        set.drawn[a] = {{0, first, seedOfInput(a)}, {first, length, old}, {0, 0, seedOfInput(a)}};
        set.drawn[a][2] = {first + length, elements - first - length, set.drawn[a][2].seed};
    }
}

void WorkArea::changeInputs(std::size_t index, const std::vector<InputChange>& changes)
{
    CallSet& set = m_sets[index];
    set.changes = changes;
    for (std::size_t a = 0; a < m_plan->arguments.size(); ++a) {
        const std::uint64_t rotation = changes[a].rotation;
        if (m_plan->arguments[a].isInput() && rotation > 0) {
            const std::uint64_t kept = m_plan->arguments[a].elements - rotation;
            const std::uint64_t seed = set.drawn[a][0].seed;
            set.drawn[a] = {{0, kept, seed, rotation}, {kept, rotation, seed, 0}};
        }
    }
}

Result<void> WorkArea::drawInputs(std::size_t index, Fresh fresh)
{
    CallSet& set = m_sets[index];
    const bool near = fresh == Fresh::OneElement || fresh == Fresh::AllButWindow;
    redraw(set, near && !stands(Defence::NearInputs) ? Fresh::All : fresh);
    for (std::size_t a = 0; a < m_plan->arguments.size(); ++a) {
        const ArgumentPlan& argument = m_plan->arguments[a];
        if (!argument.isInput()) {
            continue;
        }
        for (const Drawn& drawn : set.drawn[a]) {
            ESPALIER_CHECK(run(ops::Op::Fill, fillOf(argument, set.regions[a], drawn, set.changes[a]), drawn.count));
        }
        ESPALIER_CHECK(writeBands(set.regions[a]));
    }
    drawProbes(index);
    return {};
}

void WorkArea::drawProbes(std::size_t index)
{
    CallSet& set = m_sets[index];
    set.probes.clear();
    if (m_probing == Probing::None) {
        return;
    }
    std::uint64_t at = index * m_snapshotBytes;
    for (std::size_t a = 0; a < m_plan->arguments.size(); ++a) {
        const ArgumentPlan& argument = m_plan->arguments[a];
        if (!argument.isOutput()) {
            continue;
        }
        const auto [count, bytes] = probesOf(*m_plan, argument, m_probing);
        for (std::size_t n = 0; n < count && bytes > 0; ++n) {
            const std::uint64_t first = randomSeed() % ((argument.bytes - bytes) / 4 + 1) * 4;
            set.probes.push_back({a, first, bytes, at});
            at += bytes;
        }
    }
}

/// Two fingerprints: of the output now, and of what stood there when the stream had passed the call.
Result<void> WorkArea::checkProbe(const CallSet& set, const Probe& probe, std::uint64_t counters)
{
    ops::HashArgs args = {};
    args.stride = 1;
    args.address = set.regions[probe.argument].address() + probe.first;
    args.result = counters;
    ESPALIER_CHECK(run(ops::Op::Hash, args, probe.bytes / 4));
    args.address = m_snapshots.address() + probe.at;
    args.result = counters + sizeof(std::uint64_t);
    return run(ops::Op::Hash, args, probe.bytes / 4);
}

void WorkArea::exchangeOutputs(std::size_t one, std::size_t other)
{
    for (std::size_t a = 0; a < m_plan->arguments.size(); ++a) {
        if (m_plan->arguments[a].isOutput()) {
            std::swap(m_sets[one].regions[a], m_sets[other].regions[a]);
        }
    }
}

Result<void> WorkArea::poisonOutputs(std::size_t index, Before before)
{
    CallSet& set = m_sets[index];
    before = standing(before);
    set.before = before;
    for (std::size_t a = 0; a < m_plan->arguments.size(); ++a) {
        const ArgumentPlan& argument = m_plan->arguments[a];
        if (!argument.isOutput()) {
            continue;
        }
        ops::PoisonArgs args = {};
        args.address = set.regions[a].address();
        args.seed = randomSeed();
        args.dtype = argument.type;
        args.kind = before == Before::NaN ? ops::PoisonKind::NaN : ops::PoisonKind::Noise;
        if (before == Before::Inverted || before == Before::PreviousAnswer) {
            args.kind = ops::PoisonKind::Invert;
        }
        set.poisons[a] = args;
        if (before != Before::PreviousAnswer) {
            ESPALIER_CHECK(run(ops::Op::Poison, args, argument.elements));
        }
        ESPALIER_CHECK(writeBands(set.regions[a]));
    }
    return {};
}

Result<void> WorkArea::poisonWorkspace()
{
    if (!hasWorkspace()) {
        return {};
    }
    if (!stands(Defence::WorkspacePoison)) {
        return writeBands(m_workspace);
    }
    ops::PoisonArgs args = {};
    args.address = m_workspace.address();
    args.seed = randomSeed();
    args.dtype = ops::DType::F32;
    args.kind = args.seed % 2 == 0 ? ops::PoisonKind::Noise : ops::PoisonKind::NaN;
    ESPALIER_CHECK(run(ops::Op::Poison, args, m_workspace.bytes / 4));
    return writeBands(m_workspace);
}

Result<WorkArea::Damage> WorkArea::inspect(std::size_t index)
{
    const CallSet& set = m_sets[index];
    struct Question {
        std::size_t argument;
        bool band, after;
    };
    std::vector<Question> questions;
    ESPALIER_CHECK(clearCounters(4 * m_plan->arguments.size() + 2 * set.probes.size()));
    for (std::size_t a = 0; a < m_plan->arguments.size(); ++a) {
        const ArgumentPlan& argument = m_plan->arguments[a];
        if (!argument.isInput() && !argument.isOutput()) {
            continue;
        }
        for (const Band& band : bandsOf(set.regions[a])) {
            ESPALIER_CHECK(runBand(band, false, counter(questions.size())));
            questions.push_back({a, true, band.after});
        }
        if (argument.isInput() && stands(Defence::InputCheck)) {
            for (const Drawn& drawn : set.drawn[a]) {
                ops::FillArgs args = fillOf(argument, set.regions[a], drawn, set.changes[a]);
                args.mismatches = counter(questions.size());
                ESPALIER_CHECK(run(ops::Op::Verify, args, drawn.count));
            }
            questions.push_back({a, false, false});
        }
    }
    for (std::size_t p = 0; p < set.probes.size(); ++p) {
        ESPALIER_CHECK(checkProbe(set, set.probes[p], counter(questions.size() + 2 * p)));
    }
    ESPALIER_TRY(const std::vector<std::uint64_t> counts, readCounters(questions.size() + 2 * set.probes.size()));
    Damage damage;
    for (std::size_t q = 0; q < questions.size(); ++q) {
        if (counts[q] == 0) {
            continue;
        }
        const ArgumentPlan& argument = m_plan->arguments[questions[q].argument];
        const std::string what = fmt::format("{} {}", argument.isInput() ? "input" : "output", argument.name);
        if (questions[q].band) {
            damage.guards.push_back(bytesOfBand(counts[q], questions[q].after, what));
        } else {
            damage.inputs.push_back(fmt::format("changed {} of {} elements of {}", counts[q], argument.elements, what));
        }
    }
    for (std::size_t p = 0; p < set.probes.size(); ++p) {
        const Probe& probe = set.probes[p];
        const std::size_t at = questions.size() + 2 * p;
        if (counts[at] != counts[at + 1]) {
            const ArgumentPlan& argument = m_plan->arguments[probe.argument];
            damage.late.push_back(
                fmt::format("output {} (from {} on) changed after the given stream had ended the call", argument.name,
                            elementName(argument, probe.first / ops::sizeOf(argument.type))));
        }
    }
    return damage;
}

Result<std::vector<std::string>> WorkArea::inspectWorkspace()
{
    std::vector<std::string> damage;
    if (!hasWorkspace()) {
        return damage;
    }
    const std::vector<Band> bands = bandsOf(m_workspace);
    ESPALIER_CHECK(clearCounters(bands.size() + 1));
    for (std::size_t b = 0; b < bands.size(); ++b) {
        ESPALIER_CHECK(runBand(bands[b], false, counter(b)));
    }
    ESPALIER_TRY(const std::vector<std::uint64_t> counts, readCounters(bands.size() + 1));
    for (std::size_t b = 0; b < bands.size(); ++b) {
        if (counts[b] > 0) {
            damage.push_back(bytesOfBand(counts[b], bands[b].after, "the workspace"));
        }
    }
    return damage;
}

} // namespace espalier::judge
