// SPDX-License-Identifier: GPL-3.0-only
#include "views/format.h"
#include "views/stages_model.h"

#include <QCoreApplication>
#include <algorithm>

namespace espalier {

namespace {

QString tr(const char* source)
{
    return QCoreApplication::translate("stages", source);
}

QString shortHash(const std::string& hash)
{
    return format::text(hash).left(12);
}

StageRow rowFor(Stage stage, const NodeDetail& detail, bool recorded)
{
    const Evaluation& evaluation = detail.evaluation;
    StageRow row;
    row.name = format::stage(stage);
    const bool running = detail.summary.state == NodeState::Running && detail.summary.runningStage == stage;
    const bool done = detail.summary.state == NodeState::Done;
    const bool endedHere = done && evaluation.outcome != Outcome::Passed && evaluation.stage == stage;
    row.reached = recorded || endedHere || running;
    row.outcome = endedHere ? evaluation.outcome : Outcome::Passed;
    row.state = running     ? tr("running")
                : endedHere ? format::outcome(evaluation.outcome)
                : recorded  ? tr("done")
                : done      ? tr("not reached")
                            : tr("waiting");
    if (endedHere) {
        row.facts.push_back({tr("Reason"), format::text(evaluation.reason), true});
        for (const Evidence& evidence : evaluation.evidence) {
            row.facts.push_back(
                {tr("Evidence · %1").arg(format::text(evidence.check)), format::text(evidence.sentence), true});
        }
    }
    return row;
}

StageRow generateRow(const NodeDetail& detail)
{
    StageRow row = rowFor(Stage::Generate, detail, !detail.source.empty());
    row.facts.insert(row.facts.begin(), {tr("Written by"), format::text(detail.summary.proposer)});
    if (!detail.source.empty()) {
        const auto lines = std::count(detail.source.begin(), detail.source.end(), '\n');
        row.facts.push_back({tr("Source"), tr("%1 lines, %2 bytes").arg(lines).arg(detail.source.size())});
    }
    if (!detail.createdAt.empty()) {
        row.facts.push_back({tr("Created"), format::text(detail.createdAt)});
    }
    return row;
}

void addKernel(StageRow& row, const KernelResources& kernel, bool named)
{
    const QString suffix = named ? QStringLiteral(" · ") + format::text(kernel.kernel) : QString();
    const int spills = kernel.spillStoreBytes + kernel.spillLoadBytes;
    row.facts.push_back({tr("Registers") + suffix, QString::number(kernel.registers)});
    row.facts.push_back({tr("Shared memory") + suffix, tr("%1 B").arg(kernel.sharedBytes)});
    row.facts.push_back({tr("Spills") + suffix,
                         spills == 0
                             ? tr("none")
                             : tr("%1 B stored, %2 B loaded").arg(kernel.spillStoreBytes).arg(kernel.spillLoadBytes),
                         spills > 0});
    QStringList classes;
    for (const auto& [name, count] : kernel.instructions) {
        classes += QStringLiteral("%1 %2").arg(count).arg(format::text(name));
    }
    if (!classes.isEmpty()) {
        row.facts.push_back({tr("Instructions") + suffix, classes.join(QStringLiteral(", "))});
    }
}

StageRow buildRow(const NodeDetail& detail)
{
    const auto& build = detail.evaluation.build;
    StageRow row = rowFor(Stage::Build, detail, build.has_value());
    if (!build) {
        return row;
    }
    row.seconds = build->cached ? tr("cached") : format::seconds(build->seconds);
    for (const KernelResources& kernel : build->kernels) {
        addKernel(row, kernel, build->kernels.size() > 1);
    }
    for (const CompileMessage& message : build->messages) {
        row.facts.push_back({message.error ? tr("Error") : tr("Warning"),
                             tr("line %1: %2").arg(message.line).arg(format::text(message.text)), message.error});
    }
    row.facts.push_back(
        {tr("Compiled for"), tr("%1, CUDA %2").arg(format::text(build->architecture), format::text(build->toolkit))});
    if (!build->libraryHash.empty()) {
        row.facts.push_back({tr("Library"), shortHash(build->libraryHash)});
    }
    return row;
}

StageRow verifyRow(const NodeDetail& detail)
{
    const auto& verify = detail.evaluation.verify;
    StageRow row = rowFor(Stage::Verify, detail, verify.has_value());
    if (!verify) {
        return row;
    }
    row.seconds = format::seconds(verify->seconds);
    row.facts.push_back({tr("Calls compared"), QString::number(verify->calls)});
    for (const OutputError& error : verify->errors) {
        const QString name = QStringLiteral("%1 · %2").arg(format::text(error.output), format::text(error.caseId));
        row.facts.push_back({name,
                             tr("worst element at %1 of its tolerance").arg(format::number(error.worstElementRatio)),
                             error.worstElementRatio > 1});
        if (error.normBound > 0) {
            row.facts.push_back(
                {tr("%1, norm").arg(name),
                 tr("%1, bound %2").arg(format::number(error.normError), format::number(error.normBound)),
                 error.normError > error.normBound});
        }
    }
    if (const auto& repeat = verify->repeat) {
        const QString calls = tr("%1 calls of case %2").arg(repeat->calls).arg(format::text(repeat->caseId));
        row.facts.push_back({tr("Same inputs again"), repeat->differing == 0
                                                          ? tr("same bits in %1").arg(calls)
                                                          : tr("%1 of %2 elements differ in %3, by %4 u at most")
                                                                .arg(repeat->differing)
                                                                .arg(repeat->elements)
                                                                .arg(calls, format::number(repeat->spread))});
    }
    if (!verify->sandbox.empty()) {
        row.facts.push_back({tr("Sandbox"), format::text(verify->sandbox), verify->sandbox != "bubblewrap"});
    }
    return row;
}

void addCase(StageRow& row, const CaseTiming& timing)
{
    const QString suffix = QStringLiteral(" · ") + format::text(timing.caseId);
    const bool modelled = timing.provenance == Provenance::Model;
    const auto add = [&](const QString& name, const QString& value, bool figure) {
        row.facts.push_back({name + suffix, value, false, figure && modelled});
    };
    add(tr("Time"), format::withBounds(format::time(timing.timeUs.value, timing.provenance), timing.timeUs), true);
    if (timing.speedupParent) {
        add(tr("vs parent"),
            format::withBounds(format::speedup(*timing.speedupParent, timing.provenance), *timing.speedupParent), true);
    }
    if (timing.speedupRoot) {
        add(tr("vs root"),
            format::withBounds(format::speedup(*timing.speedupRoot, timing.provenance), *timing.speedupRoot), true);
    }
    for (const auto& [id, interval] : timing.speedupBaselines) {
        add(tr("vs %1").arg(format::text(id)),
            format::withBounds(format::speedup(interval, timing.provenance), interval), true);
    }
    if (timing.goalFloorUs > 0) {
        add(tr("Goal floor"),
            tr("%1, %2 % reached")
                .arg(format::time(timing.goalFloorUs, timing.provenance),
                     format::number(100 * timing.goalFloorUs / timing.timeUs.value)),
            true);
    }
    if (timing.blocks > 0) { // a model has no samples
        add(tr("Samples"),
            tr("%1 in %2 blocks, %3 dropped, stopped by %4")
                .arg(timing.samples)
                .arg(timing.blocks)
                .arg(timing.dropped)
                .arg(format::text(timing.stoppedBy)),
            false);
        add(tr("Processes"), tr("%1 a side").arg(timing.runners), false);
    }
    for (const auto& [reason, count] : timing.droppedBecause) {
        add(tr("Dropped"), QStringLiteral("%1 · %2").arg(count).arg(format::text(reason)), false);
    }
    if (timing.latency) {
        add(tr("Latency"),
            tr("p50 %1, p95 %2, p99 %3 of %4 calls")
                .arg(format::time(timing.latency->p50Us, timing.provenance),
                     format::time(timing.latency->p95Us, timing.provenance),
                     format::time(timing.latency->p99Us, timing.provenance))
                .arg(timing.latency->calls),
            true);
    }
    if (timing.launchUs > 0 && timing.endToEndUs > 0) {
        add(tr("Host"),
            tr("%1 to launch, %2 end to end")
                .arg(format::time(timing.launchUs, timing.provenance),
                     format::time(timing.endToEndUs, timing.provenance)),
            true);
    }
}

StageRow timeRow(const NodeDetail& detail)
{
    const auto& timing = detail.evaluation.timing;
    StageRow row = rowFor(Stage::Time, detail, timing.has_value());
    if (!timing) {
        return row;
    }
    row.seconds = format::seconds(timing->seconds);
    for (const CaseTiming& one : timing->cases) {
        addCase(row, one);
    }
    row.facts.push_back(
        {tr("Regime"), tr("%1, %2 tier").arg(format::text(timing->regime), format::text(timing->tier))});
    if (timing->mode != "offline") {
        row.facts.push_back(
            {tr("Mode"), tr("%1, %2 calls a second").arg(format::text(timing->mode), format::number(timing->rate))});
    }
    if (timing->again) {
        row.facts.push_back({tr("Measured again"), tr("as a winner, on new inputs")});
    }
    const bool measured = !timing->cases.empty() && timing->cases.front().provenance == Provenance::Measured;
    if (measured && !timing->monitor.empty()) {
        row.facts.push_back({tr("Watched by"), format::text(timing->monitor), timing->monitor.starts_with("none:")});
    }
    if (!timing->guardBroken.empty()) {
        row.facts.push_back({tr("Guard"), format::text(timing->guardBroken), true});
    }
    row.facts.push_back({tr("Checked while timing"), tr("%1 of %2 calls, %3 in full")
                                                         .arg(timing->checkedCalls)
                                                         .arg(timing->timedCalls)
                                                         .arg(timing->fullyCompared)});
    if (detail.evaluation.outcome == Outcome::Passed) {
        for (const Evidence& evidence : detail.evaluation.evidence) {
            row.facts.push_back(
                {tr("Evidence · %1").arg(format::text(evidence.check)), format::text(evidence.sentence)});
        }
    }
    return row;
}

} // namespace

std::vector<StageRow> stageRows(const NodeDetail& detail)
{
    return {generateRow(detail), buildRow(detail), verifyRow(detail), timeRow(detail)};
}

} // namespace espalier
