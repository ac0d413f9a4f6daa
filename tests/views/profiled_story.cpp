// SPDX-License-Identifier: GPL-3.0-only
#include "tests/views/profiled_story.h"

#include "core/analysis/listing_text.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <algorithm>

namespace espalier {

namespace {

constexpr double elements = 4096.0 * 65536, perElement = 5;

/// Roofs of an H200 as measured once; FP64 only from the data sheet.
std::vector<Roof> h200Roofs()
{
    return {{"dram", 4269, 4814},      {"dram_copy", 4125, 0},    {"dram_write", 4589, 0}, {"l2", 8250, 0},
            {"l1", 24100, 33500},      {"f32", 63600, 66900},     {"f64", 0, 33500},       {"f16", 129000, 133800},
            {"tensor_f16", 911000, 0}, {"tensor_tf32", 455000, 0}};
}

struct Sampler {
    ProfileRecord& profile;
    std::uint64_t offset = 0;

    void add(int line, std::uint64_t samples, const char* reason)
    {
        InstructionSamples one;
        one.function = "_Z11row_softmaxPKfPfiii";
        one.offset = offset;
        one.samples = samples;
        one.reasons = {
            {reason, samples * 7 / 10}, {"selected", samples / 10}, {"not_selected", samples - samples * 8 / 10}};
        one.chain = {{"candidate.cu", line}};
        profile.samples += samples;
        profile.instructions.push_back(std::move(one));
        offset += 16;
    }
};

/// Loads are hot, barriers and reductions warm, the rest is not.
void sampleSource(ProfileRecord& profile, const std::string& source)
{
    Sampler sampler{profile};
    int number = 0;
    for (const std::string_view line : splitLines(source)) {
        ++number;
        const auto has = [line](std::string_view word) { return line.find(word) != std::string_view::npos; };
        if (trimmed(line).starts_with("//") || trimmed(line).starts_with("#") || !has(";")) {
            continue;
        }
        if (has("float4") || has("__ldg") || has("x[") || has("row[") || has("in[")) {
            sampler.add(number, 9000 + std::uint64_t(number * 97 % 4000), "long_scoreboard");
        } else if (has("__syncthreads") || has("barrier")) {
            sampler.add(number, 2600, "barrier");
        } else if (has("__shfl") || has("expf")) {
            sampler.add(number, 900 + std::uint64_t(number * 31 % 900), "short_scoreboard");
        } else if (has("=")) {
            sampler.add(number, 120 + std::uint64_t(number * 13 % 200), "wait");
        }
    }
    std::stable_sort(profile.instructions.begin(), profile.instructions.end(),
                     [](const auto& a, const auto& b) { return a.samples > b.samples; });
}

void addMetrics(Evaluation& evaluation, double us, double reads, Provenance provenance, int registers)
{
    const auto add = [&](const char* id, double value, double peak = 0) {
        evaluation.metrics.push_back({id, value, provenance, peak});
    };
    const double bytes = elements * 4;
    add("dram_read_bytes", bytes * reads);
    add("dram_write_bytes", bytes);
    add("dram_gbs", bytes * (reads + 1) / us * 1e-3, 4814);
    add("l2_bytes", bytes * (reads + 1) * 1.04);
    add("l2_hit_percent", 12 + 8 * (3 - reads));
    add("l1_bytes", bytes * (reads + 1.3));
    add("sectors_per_load", reads > 2.5 ? 4 : 16);
    add("load_efficiency_percent", 100);
    add("shared_conflicts", reads > 2 ? 1.2e6 : 0);
    add("shared_wavefronts", 5e6);
    add("local_bytes", 0);
    add("flops_f32", elements * perElement);
    add("occupancy_percent", registers > 40 ? 47.1 : 83.4);
    add("occupancy_limit_percent", registers > 40 ? 50 : 100);
    add("issue_percent", 21 + 1e4 / us);
    add("sm_active_percent", 98.2);
    add("warp_instructions", 3.1e8 * (0.4 + reads / 5));
    add("threads_per_instruction", 31.7);
    add("stall_long_scoreboard", 18 * reads / 3);
    add("stall_barrier", 2.2);
    add("stall_short_scoreboard", 1.4);
    add("stall_wait", 1.1);
    add("stall_selected", 1);
}

} // namespace

void addProfiles(ScriptedLink& link, Provenance provenance, std::optional<NodeId> impossible)
{
    for (auto& [id, detail] : link.details) {
        const NodeSummary& node = detail.summary;
        if (node.kind == NodeKind::Idea || node.state != NodeState::Done || node.outcome != Outcome::Passed ||
            !node.timeUs) {
            continue;
        }
        Evaluation& evaluation = detail.evaluation;
        if (!evaluation.timing) {
            CaseTiming timing{"4096x65536", provenance, *node.timeUs};
            evaluation.timing = TimingRecord{{timing}, node.timeUs};
        }
        const double us = evaluation.timing->cases.front().timeUs.value;
        const int registers =
            evaluation.build && !evaluation.build->kernels.empty() ? evaluation.build->kernels.front().registers : 32;
        ProfileRecord profile;
        profile.caseId = "4096x65536";
        profile.level = "full";
        profile.provenance = provenance;
        profile.tool = provenance == Provenance::Measured ? "CUPTI 13.0.1" : "simulated device";
        profile.chip = provenance == Provenance::Measured ? "GH100" : "";
        profile.passes = 23;
        profile.taskBytes = elements * 8;
        profile.taskFlops = elements * perElement;
        profile.roofs = h200Roofs();
        profile.collectors = {{"ranges", true, 1.4, 0.5, ""}, {"sampling", true, 1.1, 0.4, ""}};
        ProfiledKernel kernel;
        kernel.name = evaluation.build && !evaluation.build->kernels.empty() ? evaluation.build->kernels.front().kernel
                                                                             : "row_softmax";
        kernel.timeUs = us - 5;
        kernel.grid = {4096};
        kernel.block = {512};
        kernel.registers = registers;
        kernel.staticSharedBytes = 4096;
        kernel.occupancyLimit = registers > 40 ? 50 : 100;
        kernel.limitedBy = registers > 40 ? "registers" : "nothing";
        profile.kernels = {kernel};
        sampleSource(profile, detail.source);
        // Slow ones read the row three times; no more than the DRAM can bring in that time.
        double reads = std::clamp(us / 700, 1.0, 3.0);
        reads = std::min(reads, us * 4.0e6 / (elements * 4) - 1);
        addMetrics(evaluation, us, impossible == id ? 3.4 * us / 600 + 4 : std::max(0.2, reads), provenance, registers);
        evaluation.profile = std::move(profile);
    }
}

NodeId scriptNorm(ScriptedLink& link)
{
    const std::string folder = ESPALIER_SOURCE_DIR "/tests/analysis/listings/";
    const auto text = [&](const char* name) { return readFile(folder + name).value_or(""); };
    link.info.file = "/tmp/norm.espalier";
    link.info.taskId = "norm";
    NodeSummary root;
    root.id = NodeId{1};
    root.state = NodeState::Done;
    root.outcome = Outcome::Passed;
    root.title = "norm.cu";
    root.timeUs = Interval{10, 9.9, 10.1};
    root.provenance = Provenance::Measured;
    NodeDetail detail;
    detail.source = text("norm.cu");
    CodeListings listings{root.id, {readPtxText(text("norm.ptx")), {}}, {readSassText(text("norm.sass")), {}}};
    detail.evaluation.timing = TimingRecord{{CaseTiming{"n", Provenance::Measured, *root.timeUs}}, root.timeUs};
    detail.evaluation.build = BuildRecord{.key = "norm", .architecture = "sm_90a", .kernels = {{"_Z4normPKfPfi", 10}}};
    ProfileRecord profile;
    profile.caseId = "n";
    profile.provenance = Provenance::Measured;
    for (const ListingLine& line : listings.sass.lines) {
        if (!line.instruction) {
            continue;
        }
        InstructionSamples one;
        one.function = line.function;
        one.offset = *line.offset;
        one.samples = line.text.find("LDG") != std::string::npos    ? 400
                      : line.text.find("SHFL") != std::string::npos ? 90
                                                                    : 3;
        one.reasons = {{one.samples > 100 ? "long_scoreboard" : "short_scoreboard", one.samples}};
        for (const ListingPlace& place : line.chain) {
            one.chain.push_back({place.file, place.line});
        }
        profile.samples += one.samples;
        profile.instructions.push_back(std::move(one));
    }
    ProfiledKernel kernel;
    kernel.name = "_Z4normPKfPfi";
    kernel.grid = {64};
    kernel.block = {32};
    profile.kernels = {kernel};
    detail.evaluation.profile = std::move(profile);
    link.add(root, std::move(detail));
    link.listings[root.id] = std::make_shared<const CodeListings>(std::move(listings));
    link.status.best = root.id;
    return root.id;
}

} // namespace espalier
