// SPDX-License-Identifier: Apache-2.0
#include "core/judge/work_area.h"

#include "core/base/hash.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>

namespace espalier::judge {

namespace {

constexpr std::size_t maxCounters = 512;
constexpr std::uint64_t scratchBytes = maxCounters * sizeof(std::uint64_t) + 128 * sizeof(ops::CompareResult);

/// Elements that one comparison takes at once: enough to fill the device, small beside its memory.
std::uint64_t largestChunk(const Device& device)
{
    constexpr std::uint64_t most = std::uint64_t{32} << 20;
    return std::clamp<std::uint64_t>(device.info().totalBytes / 256 / sizeof(double), std::uint64_t{1} << 20, most);
}

std::string bytesOfBand(std::uint64_t count, bool after, const std::string& what)
{
    return fmt::format("wrote {} byte{} {} {}", count, count == 1 ? "" : "s",
                       after ? "past the end of" : "before the start of", what);
}

} // namespace

template <typename Args>
Result<void> WorkArea::run(ops::Op op, const Args& args, std::uint64_t count)
{
    if (count == 0) {
        return {};
    }
    return m_device->run(op, std::as_bytes(std::span(&args, 1)), count);
}

Result<WorkArea> WorkArea::create(Device& device, BufferPool& pool, const CasePlan& plan, std::size_t sets,
                                  std::uint64_t workspaceBytes, std::uint64_t reserve, bool bands)
{
    using Purpose = BufferPool::Purpose;
    std::vector<BufferPool::Want> wants;
    std::uint64_t largestOutput = 1;
    for (std::size_t set = 0; set < sets; ++set) {
        for (const ArgumentPlan& argument : plan.arguments) {
            if (argument.isInput() || argument.isOutput()) {
                wants.push_back({argument.isInput() ? Purpose::Input : Purpose::Output, argument.bytes});
            }
            if (argument.isOutput()) {
                largestOutput = std::max(largestOutput, argument.elements);
            }
        }
    }
    WorkArea area;
    area.m_chunk = std::min(largestOutput, largestChunk(device));
    wants.push_back({Purpose::Reference, area.m_chunk * sizeof(double)});
    wants.push_back({Purpose::Reference, area.m_chunk * sizeof(double)});
    wants.push_back({Purpose::Reference, scratchBytes});
    if (workspaceBytes > 0) {
        wants.push_back({Purpose::Workspace, workspaceBytes});
    }
    ESPALIER_TRY(const std::vector<Region> regions, pool.take(wants, plan.alignment, reserve));
    area.m_device = &device;
    area.m_plan = &plan;
    area.m_bands = bands;
    area.m_bandSeed = randomSeed();
    area.m_sets.resize(sets);
    area.m_constSeeds.assign(plan.arguments.size(), randomSeed());
    std::size_t next = 0;
    for (CallSet& set : area.m_sets) {
        set.regions.resize(plan.arguments.size());
        set.seeds.resize(plan.arguments.size());
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
    return area;
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

Result<void> WorkArea::drawInputs(std::size_t index)
{
    CallSet& set = m_sets[index];
    for (std::size_t a = 0; a < m_plan->arguments.size(); ++a) {
        const ArgumentPlan& argument = m_plan->arguments[a];
        if (!argument.isInput()) {
            continue;
        }
        set.seeds[a] = argument.kind == ArgumentKind::Const ? m_constSeeds[a] : randomSeed();
        ops::FillArgs args = argument.fill;
        args.address = set.regions[a].address();
        args.seed = set.seeds[a];
        ESPALIER_CHECK(run(ops::Op::Fill, args, argument.elements));
        ESPALIER_CHECK(writeBands(set.regions[a]));
    }
    return {};
}

Result<void> WorkArea::poisonOutputs(std::size_t index, Before before)
{
    CallSet& set = m_sets[index];
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
    ESPALIER_CHECK(clearCounters(4 * m_plan->arguments.size()));
    for (std::size_t a = 0; a < m_plan->arguments.size(); ++a) {
        const ArgumentPlan& argument = m_plan->arguments[a];
        if (!argument.isInput() && !argument.isOutput()) {
            continue;
        }
        for (const Band& band : bandsOf(set.regions[a])) {
            ESPALIER_CHECK(runBand(band, false, counter(questions.size())));
            questions.push_back({a, true, band.after});
        }
        if (argument.isInput()) {
            ops::FillArgs args = argument.fill;
            args.address = set.regions[a].address();
            args.seed = set.seeds[a];
            args.mismatches = counter(questions.size());
            ESPALIER_CHECK(run(ops::Op::Verify, args, argument.elements));
            questions.push_back({a, false, false});
        }
    }
    ESPALIER_TRY(const std::vector<std::uint64_t> counts, readCounters(questions.size()));
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
