// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/diagnosis.h"

#include "core/model/metric.h"
#include "core/model/node_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {

namespace {

constexpr std::size_t linesShown = 3;
constexpr double hundred = 100;

std::vector<std::string> wordsOf(std::string_view text)
{
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        words.emplace_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return words;
}

const SourceLine* placeOf(const InstructionSamples& instruction)
{
    for (const SourceLine& step : instruction.chain) {
        if (step.file.ends_with(".cu")) {
            return &step;
        }
    }
    return instruction.chain.empty() ? nullptr : &instruction.chain.back();
}

std::vector<DiagnosisLine> linesFor(const ProfileFacts& facts, std::string_view reasons)
{
    std::vector<DiagnosisLine> lines;
    if (!facts.profile || reasons.empty()) {
        return lines;
    }
    const std::vector<LineSamples> samples = samplesByLine(*facts.profile, wordsOf(reasons));
    double all = 0;
    for (const LineSamples& line : samples) {
        all += static_cast<double>(line.samples);
    }
    for (std::size_t i = 0; i < std::min(samples.size(), linesShown) && all > 0; ++i) {
        lines.push_back({samples[i].file, samples[i].line, static_cast<double>(samples[i].samples) / all});
    }
    return lines;
}

Diagnosis found(std::string sentence, double gainPercent)
{
    Diagnosis diagnosis;
    diagnosis.sentence = std::move(sentence);
    diagnosis.gainPercent = std::clamp(gainPercent, 0.0, 95.0); // nothing ever gains all of it
    return diagnosis;
}

using Finding = std::optional<Diagnosis>;

/// Percent of the closest roof; 100 where none is known, so that nobody is promised a gain.
double closestRoof(const ProfileFacts& facts)
{
    return facts.roofline && facts.roofline->bound != Bound::Unknown ? hundred - facts.roofline->headroomPercent
                                                                     : hundred;
}

double highestMemory(const ProfileFacts& facts)
{
    return std::max({facts.percentOf("dram"), facts.percentOf("l2"), facts.percentOf("l1")});
}

/// A stall is worth at most its share, and no more than what the closest roof leaves.
double stallGain(const ProfileFacts& facts, double share)
{
    return std::min(hundred * share, hundred - closestRoof(facts));
}

Finding stallRule(const ProfileFacts& facts, std::string_view reason, double from, std::string_view words)
{
    const double share = facts.stall(reason);
    if (share < from) {
        return std::nullopt;
    }
    return found(fmt::format("{:.0f} % of stalled warps wait {}", hundred * share, words), stallGain(facts, share));
}

Finding dramAtRoof(const ProfileFacts& facts)
{
    const double percent = facts.percentOf("dram");
    if (percent < boundFromPercent || !facts.roofline || facts.roofline->limiter != "dram") {
        return std::nullopt;
    }
    return found(fmt::format("DRAM runs at {:.0f} % of its roof: only fewer bytes make it faster", percent),
                 hundred - percent);
}

Finding excessTraffic(const ProfileFacts& facts)
{
    const auto read = facts.metric("dram_read_bytes"), written = facts.metric("dram_write_bytes");
    const double least = facts.profile ? facts.profile->taskBytes : 0;
    constexpr double from = 1.15;
    if (!read || !written || least <= 0 || *read + *written < from * least) {
        return std::nullopt;
    }
    const double ratio = (*read + *written) / least;
    return found(fmt::format("{} went through DRAM, {:.2f} times the {} that the task must move",
                             metricText("dram_read_bytes", *read + *written), ratio,
                             metricText("dram_read_bytes", least)),
                 facts.percentOf("dram") * (1 - 1 / ratio));
}

Finding uncoalesced(const ProfileFacts& facts, const char* efficiencyId, const char* sectorsId, const char* what)
{
    const auto efficiency = facts.metric(efficiencyId), sectors = facts.metric(sectorsId);
    constexpr double from = 75;
    if (!efficiency || !sectors || *efficiency <= 0 || *efficiency >= from) {
        return std::nullopt;
    }
    const double ideal = std::max(1.0, *sectors * *efficiency / hundred);
    const double memory =
        std::max(highestMemory(facts), hundred * (facts.stall("long_scoreboard") + facts.stall("lg_throttle")));
    return found(
        fmt::format("global {} touch {:.3g} sectors a request where {:.3g} would do ({:.0f} % of the bytes moved are "
                    "asked for)",
                    what, *sectors, ideal, *efficiency),
        memory * (1 - *efficiency / hundred));
}

Finding uncoalescedLoads(const ProfileFacts& facts)
{
    return uncoalesced(facts, "load_efficiency_percent", "sectors_per_load", "loads");
}

Finding uncoalescedStores(const ProfileFacts& facts)
{
    return uncoalesced(facts, "store_efficiency_percent", "sectors_per_store", "stores");
}

Finding longScoreboard(const ProfileFacts& facts)
{
    const double dram = facts.percentOf("dram");
    constexpr double atRoof = 75; // then it waits for bandwidth, which dram_at_roof says
    Finding finding = dram < atRoof
                          ? stallRule(facts, "long_scoreboard", 0.4, "for global or local memory (long scoreboard)")
                          : std::nullopt;
    if (finding && dram > 0) {
        finding->sentence += fmt::format(", with DRAM at {:.0f} % of its roof", dram);
    }
    return finding;
}

Finding shortScoreboard(const ProfileFacts& facts)
{
    return stallRule(facts, "short_scoreboard", 0.2, "for shared memory or special functions (short scoreboard)");
}

Finding barrier(const ProfileFacts& facts)
{
    return stallRule(facts, "barrier", 0.15, "at barriers for the rest of their block");
}

Finding memoryQueue(const ProfileFacts& facts)
{
    return stallRule(facts, "lg_throttle", 0.15, "for a place in the queue of global accesses (LG throttle)");
}

Finding sharedQueue(const ProfileFacts& facts)
{
    return stallRule(facts, "mio_throttle", 0.15,
                     "for a place in the queue of shared memory and special functions (MIO throttle)");
}

Finding mathPipe(const ProfileFacts& facts)
{
    return stallRule(facts, "math_pipe_throttle", 0.3, "for a busy arithmetic unit");
}

Finding fixedLatency(const ProfileFacts& facts)
{
    return stallRule(facts, "wait", 0.4, "out an instruction's fixed latency");
}

Finding instructionCache(const ProfileFacts& facts)
{
    return stallRule(facts, "no_instruction", 0.15, "for instructions");
}

Finding matrixWait(const ProfileFacts& facts)
{
    return stallRule(facts, "gmma", 0.4, "for an asynchronous matrix product");
}

Finding bankConflicts(const ProfileFacts& facts)
{
    const auto conflicts = facts.metric("shared_conflicts"), passes = facts.metric("shared_wavefronts");
    constexpr double from = 0.2;
    if (!conflicts || !passes || *passes <= 0 || *conflicts < from * *passes) {
        return std::nullopt;
    }
    const double share = *conflicts / *passes;
    const double waiting = facts.stall("short_scoreboard") + facts.stall("mio_throttle") + facts.stall("barrier");
    const double weight = facts.stallShare.empty() ? 0 : hundred * std::min(1.0, waiting);
    return found(fmt::format("{:.0f} % of the passes over shared memory are bank conflicts ({} of {})", hundred * share,
                             metricText("shared_conflicts", *conflicts), metricText("shared_wavefronts", *passes)),
                 weight * share);
}

Finding spills(const ProfileFacts& facts)
{
    const auto local = facts.metric("local_bytes"), l2 = facts.metric("l2_bytes");
    constexpr double from = 0.05;
    if (!local || *local <= 0 || !l2 || *local < from * *l2) {
        return std::nullopt;
    }
    return found(fmt::format("{} go through local memory: spilled registers or arrays that are indexed at run time",
                             metricText("local_bytes", *local)),
                 std::min(hundred * *local / (*local + *l2), hundred - closestRoof(facts)));
}

const ProfiledKernel* heaviest(const ProfileFacts& facts)
{
    const ProfiledKernel* heavy = nullptr;
    for (const ProfiledKernel& kernel :
         facts.profile ? std::span(facts.profile->kernels) : std::span<const ProfiledKernel>()) {
        if (!heavy || kernel.timeUs > heavy->timeUs) {
            heavy = &kernel;
        }
    }
    return heavy;
}

Finding occupancyLimited(const ProfileFacts& facts)
{
    const ProfiledKernel* kernel = heaviest(facts);
    const auto issue = facts.metric("issue_percent");
    constexpr double from = 50, busy = 60;
    if (!kernel || kernel->occupancyLimit <= 0 || kernel->occupancyLimit >= from || !issue || *issue >= busy ||
        closestRoof(facts) >= boundFromPercent) {
        return std::nullopt;
    }
    return found(
        fmt::format("{} keep a multiprocessor at {:.0f} % of its warps ({} registers, {} B of shared memory a block), "
                    "and schedulers issue in {:.0f} % of their cycles",
                    kernel->limitedBy, kernel->occupancyLimit, kernel->registers,
                    kernel->staticSharedBytes + kernel->dynamicSharedBytes, *issue),
        std::min(hundred - kernel->occupancyLimit, hundred - closestRoof(facts)));
}

Finding occupancyLost(const ProfileFacts& facts)
{
    const auto reached = facts.metric("occupancy_percent"), possible = facts.metric("occupancy_limit_percent");
    constexpr double from = 0.7;
    if (!reached || !possible || *possible <= 0 || *reached >= from * *possible) {
        return std::nullopt;
    }
    return found(
        fmt::format(
            "{:.0f} % of the warps were resident where {:.0f} % could be: blocks differ in length, or there are "
            "too few of them",
            *reached, *possible),
        std::min(hundred * (1 - *reached / *possible), hundred - closestRoof(facts)));
}

Finding idleMultiprocessors(const ProfileFacts& facts)
{
    const auto active = facts.metric("sm_active_percent"), time = facts.metric("device_time_us");
    constexpr double from = 80, launchUs = 30; // counted cycles include some microseconds of start and end
    if (!active || *active >= from || !time || *time < launchUs) {
        return std::nullopt;
    }
    return found(
        fmt::format("multiprocessors have work in {:.0f} % of the cycles: a grid too small, or a long tail", *active),
        std::min(hundred - *active, hundred - closestRoof(facts)));
}

Finding divergence(const ProfileFacts& facts)
{
    const auto threads = facts.metric("threads_per_instruction");
    constexpr double from = 24, warp = 32;
    if (!threads || *threads <= 0 || *threads >= from) {
        return std::nullopt;
    }
    const double issue = facts.metric("issue_percent").value_or(0);
    return found(
        fmt::format("{:.1f} of 32 threads are active in an instruction: branches diverge or warps are not full",
                    *threads),
        issue * (1 - *threads / warp));
}

Finding gaps(const ProfileFacts& facts)
{
    const auto launches = facts.metric("launches"), span = facts.metric("device_time_us"),
               kernels = facts.metric("kernel_time_us");
    constexpr double from = 0.9;
    if (!launches || *launches < 2 || !span || !kernels || *span <= 0 || *kernels >= from * *span) {
        return std::nullopt;
    }
    return found(fmt::format("{:.0f} kernels take {:.4g} us of {:.4g} us: the rest lies between them", *launches,
                             *kernels, *span),
                 hundred * (1 - *kernels / *span));
}

Finding l2Bound(const ProfileFacts& facts)
{
    const double percent = facts.percentOf("l2");
    if (percent < boundFromPercent || !facts.roofline || facts.roofline->limiter != "l2") {
        return std::nullopt;
    }
    return found(fmt::format("the L2 cache runs at {:.0f} % of its roof", percent), hundred - percent);
}

Finding computeAtRoof(const ProfileFacts& facts)
{
    if (!facts.roofline || facts.roofline->bound != Bound::Compute || facts.roofline->units.empty()) {
        return std::nullopt;
    }
    const RooflineUnit& unit = facts.roofline->units.front();
    return found(
        fmt::format(
            "{} arithmetic runs at {:.0f} % of its roof: only fewer operations, or a faster unit, make it faster",
            unit.id, unit.percent),
        hundred - unit.percent);
}

constexpr DiagnosisRule ruleTable[] = {
    {"dram_at_roof", "DRAM bytes over the timed median, of the DRAM roof", "80 %, and no other roof closer",
     "100 % - share of the roof",
     "move fewer bytes: fuse with a neighbour, keep data in registers or shared memory, use a narrower type",
     "long_scoreboard", dramAtRoof},
    {"excess_traffic", "(dram_read_bytes + dram_write_bytes) / the task's least bytes", "1.15",
     "share of the DRAM roof x (1 - 1 / ratio)",
     "read each input once: keep it on chip between passes, tile for the L2 cache", "long_scoreboard,lg_throttle",
     excessTraffic},
    {"l2_at_roof", "L2 bytes over the timed median, of the L2 roof", "80 %, and no other roof closer",
     "100 % - share of the roof", "reuse from shared memory or registers; larger tiles", "long_scoreboard,lg_throttle",
     l2Bound},
    {"compute_at_roof", "operations over the timed median, of their unit's roof", "80 %, and no other roof closer",
     "100 % - share of the roof", "fewer operations, or a faster unit that the contract allows",
     "math_pipe_throttle,gmma", computeAtRoof},
    {"uncoalesced_loads", "load_efficiency_percent", "below 75 %",
     "max(memory's share of its roof, memory stalls) x (1 - efficiency)",
     "let neighbouring threads load neighbouring words; transpose through shared memory", "long_scoreboard,lg_throttle",
     uncoalescedLoads},
    {"uncoalesced_stores", "store_efficiency_percent", "below 75 %",
     "max(memory's share of its roof, memory stalls) x (1 - efficiency)",
     "let neighbouring threads store neighbouring words; transpose through shared memory", "lg_throttle,drain",
     uncoalescedStores},
    {"long_scoreboard", "stall_long_scoreboard / all stalls", "40 %, with DRAM below 75 % of its roof",
     "min(share, 100 % - closest roof)",
     "more loads in flight: unroll, load ahead (cp.async, TMA), vector loads, more warps", "long_scoreboard",
     longScoreboard},
    {"short_scoreboard", "stall_short_scoreboard / all stalls", "20 %", "min(share, 100 % - closest roof)",
     "wider shared memory accesses, fewer special functions, keep values in registers", "short_scoreboard",
     shortScoreboard},
    {"barrier", "stall_barrier / all stalls", "15 %", "min(share, 100 % - closest roof)",
     "fewer barriers, smaller blocks, warp shuffles, equal work for all warps of a block", "barrier", barrier},
    {"lg_throttle", "stall_lg_throttle / all stalls", "15 %", "min(share, 100 % - closest roof)",
     "fewer and wider global accesses: 16 bytes a thread", "lg_throttle", memoryQueue},
    {"mio_throttle", "stall_mio_throttle / all stalls", "15 %", "min(share, 100 % - closest roof)",
     "wider shared memory accesses; shuffles and special functions share the queue", "mio_throttle", sharedQueue},
    {"math_pipe", "stall_math_pipe_throttle / all stalls", "30 %", "min(share, 100 % - closest roof)",
     "spread work over other units: fewer integer or conversion instructions, tensor cores where allowed",
     "math_pipe_throttle", mathPipe},
    {"fixed_latency", "stall_wait / all stalls", "40 %", "min(share, 100 % - closest roof)",
     "more independent work a thread, or more warps", "wait", fixedLatency},
    {"instruction_cache", "stall_no_instruction / all stalls", "15 %", "min(share, 100 % - closest roof)",
     "a shorter loop body: less unrolling, less inlining", "no_instructions,no_instruction", instructionCache},
    {"matrix_wait", "stall_gmma / all stalls", "40 %", "min(share, 100 % - closest roof)",
     "deeper pipeline: load the next tiles while the product runs", "gmma", matrixWait},
    {"bank_conflicts", "shared_conflicts / shared_wavefronts", "20 %",
     "share x (short scoreboard + MIO throttle + barrier stalls)", "pad or swizzle the shared array",
     "short_scoreboard,mio_throttle", bankConflicts},
    {"spills", "local_bytes / l2_bytes", "5 %", "min(local share of the traffic, 100 % - closest roof)",
     "fewer live values: smaller tiles, __launch_bounds__, constant indices into local arrays",
     "long_scoreboard,lg_throttle", spills},
    {"occupancy_limited", "theoretical occupancy of the heaviest kernel, issue_percent",
     "below 50 % and 60 %, no roof near", "min(100 % - occupancy, 100 % - closest roof)",
     "fewer registers or less shared memory a block, or more work in flight a warp", "", occupancyLimited},
    {"occupancy_lost", "occupancy_percent / occupancy_limit_percent", "below 0.7",
     "min(1 - ratio, 100 % - closest roof)", "blocks of equal length, a persistent grid, more and smaller blocks", "",
     occupancyLost},
    {"idle_multiprocessors", "sm_active_percent", "below 80 %, for calls from 30 us",
     "min(100 % - active, 100 % - closest roof)",
     "more blocks: split the reduction or the rows, or use a grid of a multiple of the multiprocessors", "",
     idleMultiprocessors},
    {"divergence", "threads_per_instruction", "below 24", "issue_percent x (1 - threads / 32)",
     "branch by warp instead of by thread; fill the last warp", "branch_resolving", divergence},
    {"gaps", "kernel_time_us / device_time_us, from two kernels on", "below 0.9", "100 % - ratio",
     "fuse the kernels, or launch the next one early (programmatic dependent launch)", "", gaps},
};

} // namespace

ProfileFacts ProfileFacts::of(const Evaluation& evaluation)
{
    ProfileFacts facts;
    facts.profile = evaluation.profile ? &*evaluation.profile : nullptr;
    facts.roofline = rooflineOf(evaluation);
    constexpr std::string_view prefix = "stall_";
    double all = 0;
    for (const MetricValue& metric : evaluation.metrics) {
        facts.metrics[metric.id] = metric.value;
        if (metric.id.starts_with(prefix) && metric.id != "stall_selected") {
            all += metric.value;
        }
    }
    for (const auto& [id, value] : facts.metrics) {
        if (all > 0 && id.starts_with(prefix) && id != "stall_selected") {
            facts.stallShare[id.substr(prefix.size())] = value / all;
        }
    }
    return facts;
}

std::optional<double> ProfileFacts::metric(std::string_view id) const
{
    const auto known = metrics.find(id);
    return known == metrics.end() ? std::nullopt : std::optional(known->second);
}

double ProfileFacts::stall(std::string_view reason) const
{
    const auto known = stallShare.find(reason);
    return known == stallShare.end() ? 0 : known->second;
}

double ProfileFacts::percentOf(std::string_view roof) const
{
    if (roofline) {
        for (const RooflineLevel& level : roofline->levels) {
            if (level.id == roof) {
                return level.percent;
            }
        }
        for (const RooflineUnit& unit : roofline->units) {
            if (unit.id == roof) {
                return unit.percent;
            }
        }
    }
    return 0;
}

std::span<const DiagnosisRule> diagnosisRules()
{
    return ruleTable;
}

std::vector<Diagnosis> diagnose(const Evaluation& evaluation)
{
    std::vector<Diagnosis> all;
    if (!evaluation.profile) {
        return all;
    }
    const ProfileFacts facts = ProfileFacts::of(evaluation);
    for (const DiagnosisRule& rule : ruleTable) {
        if (Finding finding = rule.look(facts)) {
            finding->rule = rule.id;
            finding->advice = rule.advice;
            finding->lines = linesFor(facts, rule.reasons);
            finding->provenance = evaluation.profile->provenance;
            finding->sentence = marked(finding->sentence, finding->provenance);
            if (facts.roofline && facts.roofline->tooSmall()) {
                finding->gainPercent = 0; // whatever it is, the launch hides it
            }
            all.push_back(std::move(*finding));
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Diagnosis& a, const Diagnosis& b) { return a.gainPercent > b.gainPercent; });
    return all;
}

std::vector<std::string> diagnosisLines(const Evaluation& evaluation)
{
    std::vector<std::string> lines;
    if (const auto roofline = rooflineOf(evaluation)) {
        lines.push_back(roofline->sentence);
        lines.insert(lines.end(), roofline->checks.begin(), roofline->checks.end());
    }
    for (const Diagnosis& one : diagnose(evaluation)) {
        std::string places;
        for (const DiagnosisLine& line : one.lines) {
            places +=
                fmt::format("{}{}:{} {:.0f} %", places.empty() ? "" : ", ", line.file, line.line, hundred * line.share);
        }
        const std::string gain = one.gainPercent >= 1 ? fmt::format("; at most {}{:.0f} % of the time to gain",
                                                                    signOf(one.provenance), one.gainPercent)
                                                      : std::string();
        lines.push_back(fmt::format("{}{}{}: {}", one.sentence, places.empty() ? "" : fmt::format(" ({})", places),
                                    gain, one.advice));
    }
    return lines;
}

std::vector<LineSamples> samplesByLine(const ProfileRecord& profile, const std::vector<std::string>& reasons)
{
    std::map<std::pair<std::string, int>, LineSamples> byLine;
    for (const InstructionSamples& instruction : profile.instructions) {
        const SourceLine* place = placeOf(instruction);
        if (!place) {
            continue;
        }
        LineSamples& line = byLine[{place->file, place->line}];
        line.file = place->file;
        line.line = place->line;
        for (const auto& [reason, count] : instruction.reasons) {
            const bool wanted = reasons.empty() || std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
            if (wanted) {
                line.reasons[reason] += count;
                line.samples += count;
            }
        }
    }
    std::vector<LineSamples> lines;
    for (auto& [key, line] : byLine) {
        if (line.samples > 0) {
            lines.push_back(std::move(line));
        }
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const LineSamples& a, const LineSamples& b) { return a.samples > b.samples; });
    return lines;
}

} // namespace espalier
